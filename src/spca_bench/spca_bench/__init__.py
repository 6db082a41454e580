"""One engine for every benchmark."""
