"""Print the script that completes commands, options and files of headlight with the Tab key.

bash  eval "$(headlight completion bash)" in ~/.bashrc
zsh   eval "$(headlight completion zsh)" in ~/.zshrc, after compinit
fish  headlight completion fish | source in ~/.config/fish/config.fish
tcsh  headlight completion tcsh > ~/.headlight.csh, then source it in ~/.tcshrc

Example:
  eval "$(headlight completion bash)"
"""

from __future__ import annotations

import argparse
import sys

from transformer_core.cli.arguments import Options, Parser
from transformer_core.extras import extra
from viz_app.cli import HEADLIGHT

with extra("cli"):
    import shtab

_PATHS = {"FILE": shtab.FILE, "DIR": shtab.DIRECTORY, "FOLDER": shtab.DIRECTORY}  # by what the help calls the value


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_choice("shell", shtab.SUPPORTED_SHELLS, "The shell.", form="SHELL")


def run(options: Options) -> int:
    """Print the script."""
    every = argparse.ArgumentParser(prog=HEADLIGHT.prog)
    groups = {"": every.add_subparsers()}
    for name, about in HEADLIGHT.commands.items():
        command = HEADLIGHT.parser(name)
        for action in command._actions:
            if action.type is bool:
                action.choices = ("true", "false")
            if action.metavar in _PATHS:
                action.complete = _PATHS[action.metavar]  # type: ignore[attr-defined]  # read by shtab
        group, _, last = name.rpartition(" ")
        if group not in groups:
            groups[group] = groups[""].add_parser(group, help=group).add_subparsers()
        groups[group].add_parser(last, help=about, description=about, parents=[command], add_help=False)
    sys.stdout.write(shtab.complete(every, options.shell) + "\n")
    return 0
