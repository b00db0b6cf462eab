"""`python -m gregor`: the same as the command `gregor`."""

import sys

from gregor.start import main

if __name__ == "__main__":
    sys.exit(main())
