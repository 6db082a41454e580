"""Shared vocabulary of spca: typed data and the ports between stages. Knows no ROS and no simulator."""
