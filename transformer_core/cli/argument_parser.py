"""Reading options: jsonargparse, with help that teaches and errors of one line."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, get_args, get_type_hints

import jsonargparse

from transformer_core.cli import called_as
from transformer_core.config import ConfigError, DecodingConfig
from transformer_core.paper.presets import preset
from transformer_core.storage.bundled_models import find_checkpoint

# The fields of DecodingConfig that are options of their own.
SEARCH = ("beam", "alpha", "length_penalty", "min_length", "constrained")

_TYPE_NAMES = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}


class UsageError(ConfigError):
    """Arguments that cannot be used; the message says why and what is allowed."""


def check_at_least(option: str, value: int, least: int) -> None:
    """Raise UsageError for a number that is too small."""
    if value < least:
        raise UsageError(f"{option} is {value}, but must be {least} or more")


def existing(option: str, path: str, *, folder: bool = False) -> Path:
    """The path that an option names. Raises UsageError when it does not exist, or is of another kind."""
    found = Path(path)
    if not (found.is_dir() if folder else found.is_file()):
        raise UsageError(f"{option}: {'folder' if folder else 'file'} not found: {path}")
    return found


def existing_text(option: str, spec: str) -> str:
    """A parallel text: one file, or two with a comma between. Raises UsageError when one is missing."""
    for path in [spec] if Path(spec).exists() or "," not in spec else spec.split(",", 1):
        existing(option, path)
    return spec


class _Formatter(jsonargparse.DefaultHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of descriptions and examples; shows defaults where there are any."""

    def _get_help_string(self, action: argparse.Action) -> str:
        text = (action.help or "").rstrip()
        if action.default in (None, False, argparse.SUPPRESS) or not action.option_strings:
            return text
        return f"{text} (default: %(default)s)"


class Parser(jsonargparse.ArgumentParser):
    """Parser of one command; raises UsageError instead of printing and leaving.

    Args:
        command: Its name.
        usage: The arguments as the usage line shows them.
        description: What the command does.
        example: Shown at the end of the help.
        package: The package that is run with `python -m`, unless another program runs the command; the help names
            that one then.
    """

    def __init__(
        self, command: str, *, usage: str, description: str, example: str, package: str = "transformer_core"
    ) -> None:
        module = f"python -m {package} "
        program = f"{called_as.get()} " if called_as.get() else module
        prog = program + command
        super().__init__(
            prog=prog,
            usage=f"{prog} {usage}",
            description=description.replace(module, program),
            epilog=f"Example:\n\n{example}".replace(module, program),
            formatter_class=_Formatter,
            allow_abbrev=False,
        )
        self._renamed: dict[str, str] = {}  # former name of an option -> its name
        self._renamed_values: dict[str, Mapping[str, str]] = {}  # option -> former name of a choice -> its name
        self._checks: list[tuple[str, Callable[[Any], object]]] = []  # name of an option, what it must pass
        self.add_argument("--debug", action="store_true", help="Show the full stack trace when a command fails.")

    def add_config(self, config: type, key: str, skip: set[str] | None = None) -> None:
        """An option `--key.field` for every field of a configuration class, with its docstring as the help."""
        self.add_class_arguments(config, key, skip=set(skip or ()))
        renamed: Mapping[str, str] = config.RENAMED  # type: ignore[attr-defined]
        self._renamed |= {f"--{key}.{old}": f"--{key}.{new}" for old, new in renamed.items()}
        values: Mapping[str, Mapping[str, str]] = config.RENAMED_VALUES  # type: ignore[attr-defined]
        self._renamed_values |= {f"--{key}.{name}": choices for name, choices in values.items()}
        for action in self._actions:
            if action.dest == key:  # jsonargparse's own way to read a whole group; ours is the recipe
                action.help = argparse.SUPPRESS

    def add_field(self, config: type, name: str, note: str = "") -> None:
        """An option `--name` for one field of a configuration class; None unless it is given."""
        others = {field for field in config.__dataclass_fields__ if field != name}  # type: ignore[attr-defined]
        self.add_class_arguments(config, as_group=False, skip=set(others))
        action = next(action for action in self._actions if action.dest == name)
        action.default = None
        action.metavar = "|".join(_choices(config, name)) or "N"
        action.help = f"{action.help} {note}".strip()

    def add_number(self, flag: str, default: int, about: str, *, least: int = 1) -> None:
        """An option for a whole number, which is checked when it is read: not too small."""
        action = self.add_argument(flag, type=int, default=default, metavar="N", help=about)
        self._checks.append((action.dest, lambda value: check_at_least(flag, value, least)))

    def add_path(
        self,
        flag: str,
        about: str,
        *,
        form: str = "FILE",
        required: bool = False,
        many: bool = False,
        parallel: bool = False,
        read: Callable[[str], str] = str,
    ) -> None:
        """An option for what must exist, which is checked when it is read.

        Args:
            flag: Its name; without -- an argument that has to be given.
            about: Its help.
            form: Shown in the help: FILE, FILE.md, or DIR for a folder.
            required: Whether it has to be given.
            many: Whether it takes several.
            parallel: Whether it may be two files with a comma between, as for parallel text.
            read: From what is given to a path.
        """
        several: dict[str, Any] = {"nargs": "+", "default": []} if many else {}
        named: dict[str, Any] = {"required": required} if flag.startswith("-") else {}
        action = self.add_argument(flag, type=read, metavar=form, help=about, **several, **named)
        name = flag if named else form

        def check(value: list[str] | str | None) -> None:
            for path in value if isinstance(value, list) else [] if value is None else [value]:
                existing_text(name, path) if parallel else existing(name, path, folder=form == "DIR")

        self._checks.append((action.dest, check))

    def add_machine(self) -> None:
        """Options for device and threads."""
        about = "auto (a GPU if there is one), cpu, cuda, cuda:1, ..."
        self.add_argument("--device", type=str, default="auto", metavar="NAME", help=about)
        about = "CPU threads; 0 leaves the choice to torch and OMP_NUM_THREADS."
        self.add_argument("--threads", type=int, default=0, metavar="N", help=about)

    def add_checkpoint(self, default: str | None = None) -> None:
        """The option that names a trained model; it has to be given where there is no default."""
        about = "Folder of a trained model, or a shipped one: checkpoints/en-de, en-fr or en-tree."
        self.add_path("--checkpoint", about, form="DIR", required=default is None, read=find_checkpoint)
        if default is not None:
            self.set_defaults(checkpoint=default)

    def add_languages(self) -> None:
        """Options for models of many languages."""
        for side, about in (("source", "Language of the input"), ("target", "Language to translate into")):
            self.add_argument(
                f"--{side}-language", type=str, metavar="CODE", help=f"{about}, in models that have a choice."
            )

    def add_run(self) -> None:
        """The argument that names a training."""
        self.add_path("run", "Folder of a training run, written by `train --out`.", form="DIR")

    def add_batch(self, default: int = 32) -> None:
        """The option for the size of a batch."""
        self.add_number("--batch", default, "Lines translated together at most.")

    def add_sets(self) -> None:
        """Options for sets to score."""
        for part in ("valid", "test"):
            self.add_path(f"--{part}", "Parallel text, as for `evaluate`.", many=True, parallel=True)

    def add_task(self) -> None:
        """The option that tells what the model does."""
        about = "translation (parallel text), or parsing (trees: .trees or .mrg, .xz or .gz after it)."
        self.add_argument("--task", choices=["translation", "parsing"], default="translation", help=about)

    def add_search(self, fields: Sequence[str] = SEARCH) -> None:
        """Options of beam search."""
        for name in fields:
            self.add_field(DecodingConfig, name, "Default: the checkpoint's own.")

    def add_preset(self, about: str, shown: str) -> None:
        """Options for a preset and for all fields of model and training, whose defaults are those of one preset."""
        self.add_argument("--preset", type=str, metavar="NAME", help=about)
        values = preset(shown)
        for group, config in (("model", values.model), ("training", values.training)):
            self.add_config(type(config), group)
            self.set_defaults({f"{group}.{name}": value for name, value in config.to_dict().items()})

    def given(self, arguments: Sequence[str]) -> dict[str, Any]:
        """Only the options that were given, checked, nested by their dots."""
        return self._checked(self.parse_args(self._with_current_names(arguments), defaults=False).as_dict())

    def options(self, arguments: Sequence[str]) -> argparse.Namespace:
        """All options, checked, with None for what was not given and has no default."""
        return argparse.Namespace(**self._checked(self.parse_args(self._with_current_names(arguments)).as_dict()))

    def _checked(self, values: dict[str, Any]) -> dict[str, Any]:
        for name, check in self._checks:
            if name in values:
                check(values[name])
        return values

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        """Raise UsageError with one line."""
        raise UsageError(f"{self._rewritten(str(message))} (more: {self.prog} --help)")

    def _with_current_names(self, arguments: Sequence[str]) -> list[str]:
        """The arguments by their current names, with --init_from and --init-from meaning the same."""
        known = {option.replace("-", "_"): option for action in self._actions for option in action.option_strings}
        spelt: list[str] = []
        for argument in arguments:
            name, equals, value = argument.partition("=")
            if name.startswith("--"):
                name = known.get(name.replace("-", "_"), name)
                name = self._renamed.get(name, name)
                value = self._renamed_values.get(name, {}).get(value, value)
            elif spelt:
                name = self._renamed_values.get(spelt[-1], {}).get(name, name)
            spelt.append(f"{name}{equals}{value}")
        return spelt

    def _rewritten(self, message: str) -> str:
        """A message of jsonargparse, rewritten in one plain line."""
        text = " ".join(message.split())
        if found := re.match(r'Parser key "(.+?)": Expected an? (.+?)\. Got value: (.*)', text):
            key, expected, value = found.groups()
            return f"{self._flag(key)} is {value!r}, but must be {_allowed(expected)}"
        if found := re.match(r"the following arguments are required: (.*)", text):
            return f"missing: {', '.join(self._flag(key) for key in found[1].split(', '))}"
        if found := re.match(r"unrecognized arguments: (\S+)", text):
            return f"unknown option {found[1]}{self._closest(found[1])}"
        if found := re.match(r"Group '(.+?)' does not accept option '(.+?)'", text):
            return f"unknown option {found[1]}.{found[2]}{self._closest(f'--{found[1]}.{found[2]}')}"
        if found := re.match(r"Option '(.+?)' is not accepted", text):
            return f"unknown option {found[1]}{self._closest(f'--{found[1]}')}"
        if found := re.match(r"argument (\S+?): invalid choice: (.+?) \(choose from (.*)\)", text):
            return f"{found[1]} is {found[2]}, but must be one of {found[3]}"
        return text

    def _flag(self, key: str) -> str:
        """The way an option is written."""
        for action in self._actions:
            if action.dest == key or key in action.option_strings:
                return action.option_strings[0] if action.option_strings else str(action.metavar or key)
        return key

    def _closest(self, option: str) -> str:
        """A hint at the option that was probably meant."""
        known = [name for action in self._actions for name in action.option_strings if name.startswith("--")]
        close = difflib.get_close_matches(option, known, n=1)
        return f"; did you mean {close[0]}?" if close else ""


def _choices(config: type, name: str) -> tuple[str, ...]:
    """The allowed values of a field that is one of some words."""
    kind = get_type_hints(config)[name]
    return ("true", "false") if kind is bool else tuple(str(choice) for choice in get_args(kind))


def _allowed(expected: str) -> str:
    if choices := re.findall(r"'([^']*)'", expected.partition("Literal")[2]):
        return f"one of {', '.join(choices)}"
    name = re.sub(r"<class '(.+?)'>", r"\1", expected)
    return _TYPE_NAMES.get(name, name)
