"""completion: what completes commands and options of `headlight` in a shell."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import jsonargparse
import shtab

from transformer_core.cli.arguments import Parser
from viz_app.cli import HEADLIGHT

_PATHS = {"FILE": shtab.FILE, "DIR": shtab.DIRECTORY, "FOLDER": shtab.DIRECTORY}  # by what the help calls the value


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "completion",
        package="viz_app",
        usage="SHELL",
        description=(
            "Print the script that completes commands, options and files of headlight with the Tab key.\n\n"
            '  bash  eval "$(headlight completion bash)" in ~/.bashrc\n'
            '  zsh   eval "$(headlight completion zsh)" in ~/.zshrc, after compinit\n'
            "  fish  headlight completion fish | source in ~/.config/fish/config.fish\n"
            "  tcsh  headlight completion tcsh > ~/.headlight.csh, then source it in ~/.tcshrc"
        ),
        example='  eval "$(headlight completion bash)"',
    )
    result.add_argument("shell", choices=shtab.SUPPORTED_SHELLS, metavar="SHELL", help="bash, zsh, fish or tcsh.")
    return result


def run(arguments: Sequence[str]) -> int:
    """Print the script."""
    shell = parser().options(arguments).shell
    every = jsonargparse.ArgumentParser(prog=HEADLIGHT.prog)
    commands = every.add_subcommands()
    for name, about in HEADLIGHT.commands.items():
        command: Parser = HEADLIGHT.module(name).parser()
        command.description = about
        every.formatter_class = command.formatter_class
        for action in command._actions:
            if action.metavar in _PATHS:
                action.complete = _PATHS[action.metavar]  # type: ignore[attr-defined]  # read by shtab
        commands.add_subcommand(name, command, help=about)
    sys.stdout.write(every.get_completion_script(f"shtab-{shell}") + "\n")
    return 0
