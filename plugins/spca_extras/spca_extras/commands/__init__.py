"""The commands of these plugins, one a module."""
