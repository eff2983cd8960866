"""python -m viz_app: figures and handouts without the app, and the app for a class."""

import logging
import sys

from transformer_core.cli import Program, main

_HELP = """usage: python -m viz_app COMMAND ...

Figures of real attention as files, handouts of the lessons, and the app for a class.

{commands}

Each has its own help with an example: python -m viz_app export --help

Try it:

  python -m viz_app export --checkpoint checkpoints/en-de --text "A man rides a bicycle." \\
      --view head --kind cross --layer 4 --head 6 --out bicycle.pdf

The app itself: python -m streamlit run viz_app/main.py
"""
PROGRAM = Program(
    "viz_app.cli",
    {
        "export": "Write figures of one sentence, or of many sentences and heads.",
        "paper-figures": "Write figures like those in the paper's appendix, for your model.",
        "lesson": "Write the picture of a lesson's scene, or the lesson's handout.",
        "growth": "Write a head as it stood at a moment of its model's training, or its film.",
        "class": "Start the app for everybody in the local network.",
    },
    _HELP,
)

if __name__ == "__main__":
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells every step of embedding a font
    sys.exit(main(program=PROGRAM))
