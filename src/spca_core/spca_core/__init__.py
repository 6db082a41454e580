"""The vocabulary of spca: typed records and the ports between stages.

The package depends on neither ROS nor a simulator.
"""
