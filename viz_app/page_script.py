"""Script that Streamlit runs for a visitor after each action."""

from __future__ import annotations

from viz_app.shell import main

main()
