"""`python -m spca`, and the command `spca` of an installation."""

import os
import sys


def main() -> None:
    """Run the command line."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller: the next file would get its descriptor
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    try:
        from spca.interrupt import interrupt_between_imports

        interrupt_between_imports()
        from spca.cli import main as command_line

        command_line()
    except KeyboardInterrupt:  # Ctrl-C before the command line has loaded
        sys.exit(130)
    except SystemExit as ended:
        from spca_core.processes.child import leave

        leave(int(ended.code or 0))


if __name__ == "__main__":
    main()
