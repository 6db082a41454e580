"""A kind of thing, in a file beside this one; its shape is made by `make.py`."""

from pathlib import Path

FILES = Path(__file__).parent
