"""What Streamlit runs for a visitor, from top to bottom, after each of the visitor's actions."""

from __future__ import annotations

from viz_app.shell import main

main()
