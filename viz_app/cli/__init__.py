r"""Export attention figures, pages and handouts, or run the app for a class.

{commands}

Each command has its own help with an example: python -m viz_app export --help

Try it:

  python -m viz_app export --checkpoint checkpoints/en-de --text "A man rides a bicycle." \
      --view head --head cross.4.6 --out bicycle.pdf

The app itself: python -m streamlit run viz_app/main.py
"""

from __future__ import annotations

import logging

from transformer_core import cli as core
from transformer_core.cli import Command, Program

COMMANDS = {
    "app": Command("app", "Start the app and open it in the browser."),
    "class": Command("class_", "Start the app for everyone on the local network."),
    "serve": Command("serve", "Serve the model to the front ends of several machines."),
    "export": Command("export", "Write a figure of one sentence, or a set of figures of one or many."),
    "reproduce": Command("reproduce", "Make the figure of a file again, and compare both byte for byte."),
    "page": Command("page", "Write the explorer of some sentences, a lesson, or handouts, as one HTML file."),
    "site": Command("site", "Write models, lessons and questions as a site for any web host."),
    "docs": Command("docs", "Build the documentation as a site that needs no network."),
}

PROGRAM = Program("python -m viz_app", {__name__: COMMANDS}, __doc__)


def main(program: Program = PROGRAM) -> int:
    """Run one command of a program; returns the exit status."""
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it logs every step of embedding a font
    logging.getLogger("viz_app.serving.scheduling.monitoring").setLevel(logging.WARNING)  # and this every request
    return core.main(program=program)


def headlight() -> int:
    r"""See every head of the Transformer: the app, figures as files, and the model behind them.

    {commands}

    The shipped models translate English into German (checkpoints/en-de) or French (checkpoints/en-fr), or parse it
    (checkpoints/en-tree). They are small: good for short everyday sentences, poor for news.

    Each command has its own help with an example: headlight translate --help

    Try it:

      headlight app
      echo "A man rides a bicycle." | headlight translate --checkpoint checkpoints/en-de
      headlight export --checkpoint checkpoints/en-de --text "A man rides a bicycle." \
          --view head --head cross.4.6 --out bicycle.pdf

    Completion of commands and options with the Tab key, here for bash: eval "$(headlight completion bash)"
    """
    return main(HEADLIGHT)


_OWN = {**COMMANDS, "completion": Command("completion", "Print the script that completes headlight in your shell.")}
HEADLIGHT = Program("headlight", {__name__: _OWN, core.__name__: core.COMMANDS}, headlight.__doc__)
