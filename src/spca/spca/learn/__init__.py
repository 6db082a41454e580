"""`spca learn`."""
