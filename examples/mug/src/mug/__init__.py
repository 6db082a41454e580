"""Two kinds of things, each in a file beside this one; their shapes are made by `make.py`."""

from pathlib import Path

FILES = Path(__file__).parent
