"""python -m transformer_core: see `cli`."""

import sys

from transformer_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
