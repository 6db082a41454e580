"""`python -m spca`."""

from spca.cli import main

main()
