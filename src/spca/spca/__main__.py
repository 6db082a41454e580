"""`python -m spca`, and the command `spca` of an installation."""

import sys


def main() -> None:
    """Run the command line."""
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
