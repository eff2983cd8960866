"""The entry point of the app; start it with `python -m streamlit run viz_app/main.py`."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # Streamlit puts only this file's own folder there
    sys.path.insert(0, str(ROOT))

from viz_app.shell import main  # noqa: E402

if __name__ == "__main__":
    main()
