"""python -m viz_app: see `cli`."""

import sys

from viz_app.cli import main

if __name__ == "__main__":
    sys.exit(main())
