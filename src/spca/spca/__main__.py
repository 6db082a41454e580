"""`python -m spca`."""

import sys

try:
    from spca.interrupt import interrupt_between_imports

    interrupt_between_imports()
    from spca.cli import main

    main()
except KeyboardInterrupt:  # Ctrl-C before the command line has loaded
    sys.exit(130)
