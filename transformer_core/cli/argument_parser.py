"""Parse options with argparse: help from the docstrings of configurations, errors of one line."""

from __future__ import annotations

import argparse
import difflib
import glob
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn

from transformer_core.cli import called_as
from transformer_core.cli.argument_types import (
    UsageError,
    boolean,
    bounded_number,
    check_new_file,
    check_place,
    choice_type,
    field_help,
    field_type,
    number,
    output_path,
    path_type,
    whole_number,
)
from transformer_core.config import DecodingConfig, ModelConfig, TrainingConfig
from transformer_core.paper.presets import preset
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.storage.files import CheckpointError, recover_interrupted_writes
from transformer_core.storage.manifest import manifested_files

# The fields of DecodingConfig that are options of their own.
SEARCH = ("beam", "alpha", "length_penalty", "min_length", "constrained")

Options = argparse.Namespace  # every option by its name, and `explicit`: those on the command line, nested by dots

_NOT_GIVEN: list[Any] = []  # a list, since an option that may be given again appends to it


class Parser(argparse.ArgumentParser):
    """Parser of one command; raises UsageError instead of printing and exiting.

    Args:
        command: Its name.
        text: The docstring of the command's module: a description, and `Example:` for the end of the help.
        package: The package that is run with `python -m`, unless another program runs the command; the help names
            that one then.
    """

    def __init__(self, command: str, text: str = "", package: str = "transformer_core") -> None:
        module = f"python -m {package} "
        program = f"{called_as.get()} " if called_as.get() else module
        about, _, example = text.strip().replace(module, program).partition("\n\nExample:\n")
        super().__init__(
            prog=program + command,
            description=about,
            epilog=f"Example:\n\n{example}",
            formatter_class=_Formatter,
            allow_abbrev=False,
        )
        for kind, read in ((int, whole_number), (float, number), (bool, boolean)):
            self.register("type", kind, read)
        # Whether an argument begins the arguments of another program, which become `rest`.
        self.foreign: Callable[[str], bool] = lambda argument: False
        self._preset = ""
        self._checks: list[Callable[[Mapping[str, Any]], object]] = []  # of all values
        self.add_argument("--debug", action="store_true", help="Show the full stack trace when a command fails.")

    # --- help --------------------------------------------------------------------------------------------------------

    def set_usage(self, arguments: str) -> None:
        """Set the arguments of the usage line; without, it has all but device and threads."""
        self.usage = f"{self.prog} {arguments}"

    def add_list(self, lines: Mapping[str, str]) -> None:
        """Add names and what they are to the end of the description, one a line."""
        width = max(map(len, lines))
        named = (f"  {name:<{width}}  {about}" for name, about in lines.items())
        self.description = "\n".join([f"{self.description}\n", *named])

    # --- options -----------------------------------------------------------------------------------------------------

    def add_config(self, config: type, key: str, skip: Iterable[str] = ()) -> None:
        """Add an option `--key.field` for every field of a configuration class, with its docstring as the help."""
        group = self.add_argument_group((inspect.getdoc(config) or "").partition("\n")[0].removesuffix("."))
        for name, about in field_help(config).items():
            if name not in skip:
                group.add_argument(f"--{key}.{name}", help=about, **field_type(config, name))

    def add_field(self, config: type, name: str, note: str) -> None:
        """Add an option `--name` for one field of a configuration class; None unless it is given."""
        self.add_argument(f"--{name}", help=f"{field_help(config)[name]} {note}", **field_type(config, name))

    def add_number(self, flag: str, default: int, about: str, *, least: int = 1, most: int | None = None) -> None:
        """Add an option for a whole number within bounds."""
        self.add_argument(flag, type=bounded_number(least, most), default=default, metavar="N", help=about)

    def add_choice(
        self,
        flag: str,
        allowed: Iterable[str],
        about: str,
        *,
        default: str | None = None,
        form: str = "",
        required: bool = False,
        many: bool = False,
    ) -> None:
        """Add an option for one word of several, or for some of them.

        Args:
            flag: Its name; without -- an argument that has to be given.
            allowed: The words.
            about: Its help.
            default: The word when none is given.
            form: Shown in the usage; the words themselves unless given.
            required: Whether it has to be given.
            many: Whether it takes several words.
        """
        typed = choice_type(tuple(allowed), "some of" if many else "one of")
        if form:
            typed["metavar"], about = form, f"{about.rstrip('.')}: {', '.join(allowed)}."
        several: dict[str, Any] = {"nargs": "+", "default": []} if many else {"default": default}
        named: dict[str, Any] = {"required": required} if flag.startswith("-") else {}
        self.add_argument(flag, help=about, **named, **typed, **several)

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
        hint: str = "",
    ) -> None:
        """Add an option for what must exist, which is checked when it is read.

        Args:
            flag: Its name; without -- an argument that has to be given.
            about: Its help.
            form: Shown in the help: FILE, FILE.md, or DIR for a folder.
            required: Whether it has to be given.
            many: Whether it takes several.
            parallel: Whether it may be two files with a comma between, as for parallel text.
            read: From what is given to a path.
            hint: What to do when it is missing; the end of the error.
        """
        several: dict[str, Any] = {"nargs": "+", "default": []} if many else {}
        named: dict[str, Any] = {"required": required} if flag.startswith("-") else {}

        kind = path_type(read, folder=form == "DIR", parallel=parallel, hint=hint)
        self.add_argument(flag, type=kind, metavar=form, help=about, **several, **named)

    def add_output(self, about: str, suffix: str = "", *, flag: str = "--out", required: bool = True) -> None:
        """Add an option for a file to write, with this ending, and `--force`, without which no file is replaced."""

        def check(values: Mapping[str, Any]) -> None:
            out: Path | None = values[action.dest]
            if out is not None and not out.name.endswith(suffix):
                raise UsageError(f"{flag} is {str(out)!r}, but must end with {suffix}")
            if out is not None:
                check_new_file(flag, out, values["force"])

        action = self.add_argument(flag, type=output_path, required=required, metavar="FILE", help=about)
        self.add_argument("--force", action="store_true", help="Replace an existing file.")
        self._checks.append(check)

    def add_output_folder(self, about: str, kind: str, files: Callable[[Path], set[str]]) -> None:
        """Add `--out DIR` and `--force`.

        Args:
            about: Help of --out.
            kind: What the folder is, in words.
            files: Returns the files that such a folder lists, and raises CheckpointError for any other. A folder is
                replaced, with --force, only if it has no others.
        """

        def check(values: Mapping[str, Any]) -> None:
            out: Path = values["out"]
            check_place("--out", out)
            recover_interrupted_writes(out.parent, glob.escape(out.name))
            if not out.exists() or (out.is_dir() and not any(out.iterdir())):
                return
            try:
                listed = files(out)
            except CheckpointError as error:
                raise UsageError(f"--out: {out} is not a {kind}; choose another folder") from error
            paths = (each for each in out.rglob("*") if each.is_symlink() or not each.is_dir())
            if others := sorted({each.relative_to(out).as_posix() for each in paths} - listed):
                raise UsageError(f"--out: {out} has {others[0]}, which is not of this {kind}; choose another folder")
            if not values["force"]:
                raise UsageError(f"--out: {out} exists; add --force to replace it, or choose another folder")

        self.add_argument("--out", type=output_path, required=True, metavar="DIR", help=about)
        self.add_argument("--force", action="store_true", help=f"Replace an existing {kind}.")
        self._checks.append(check)

    def add_new_checkpoint(self) -> None:
        """Add `--out DIR` for a new checkpoint, and `--force`."""
        self.add_output_folder("Folder of the new checkpoint.", "checkpoint", manifested_files)

    def add_machine(self) -> None:
        """Add the options for device and threads."""
        about = "auto (a GPU if there is one), cpu, cuda, cuda:1, mps, ..."
        self.add_argument("--device", default="auto", metavar="NAME", help=about)
        about = "CPU threads; 0 leaves the choice to torch and OMP_NUM_THREADS."
        self.add_number("--threads", 0, about, least=0)

    def add_checkpoint(self, default: str | None = None, hint: str = "") -> None:
        """Add the option for a trained model; it is required where there is no default. `hint`: as for `add_path`."""
        about = "Folder of a trained model, or a shipped one: checkpoints/en-de, en-fr, en-fr-small or en-tree."
        self.add_path("--checkpoint", about, form="DIR", required=default is None, read=find_checkpoint, hint=hint)
        if default is not None:
            self.set_defaults(checkpoint=default)

    def add_languages(self) -> None:
        """Add the options for the languages of a model that has several."""
        for side, about in (("source", "Language of the input"), ("target", "Language to translate into")):
            self.add_argument(f"--{side}-language", metavar="CODE", help=f"{about}, in models that have a choice.")

    def add_run(self) -> None:
        """Add the argument for a training run."""
        self.add_path("run", "Folder of a training run, written by `train --out`.", form="DIR")

    def add_batch(self, default: int = 32) -> None:
        """Add the option for the size of a batch."""
        self.add_number("--batch", default, "Lines translated together at most.")

    def add_sets(self) -> None:
        """Add the options for sets to score."""
        for part in ("valid", "test"):
            self.add_path(f"--{part}", "Parallel text, as for `evaluate`.", many=True, parallel=True)

    def add_task(self) -> None:
        """Add the option for the task of the model."""
        about = "translation (parallel text), or parsing (trees: .trees or .mrg, .xz or .gz after it)."
        self.add_choice("--task", ("translation", "parsing"), about, default="translation")

    def add_search(self, fields: Sequence[str] = SEARCH) -> None:
        """Add the options of beam search."""
        for name in fields:
            self.add_field(DecodingConfig, name, "Default: the checkpoint's own.")

    def add_preset(self, about: str, default: str) -> None:
        """Add a preset, and all fields of model and training, whose defaults follow the preset that is given."""
        self.add_argument("--preset", metavar="NAME", help=about)
        for group, config in (("model", ModelConfig), ("training", TrainingConfig)):
            self.add_config(config, group)
        self._preset = default

    def _show_preset(self, arguments: Sequence[str]) -> None:
        """Set the defaults of the fields; the help shows them."""
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        parser.add_argument("--preset", nargs="?")
        values = preset(parser.parse_known_args(arguments)[0].preset or self._preset)
        for group, config in (("model", values.model), ("training", values.training)):
            self.set_defaults(**{f"{group}.{name}": value for name, value in config.to_dict().items()})

    # --- values ------------------------------------------------------------------------------------------------------

    def options(self, arguments: Sequence[str]) -> Options:
        """Return all options, checked, with None for what was not given and has no default."""
        if self._preset:
            self._show_preset(arguments)
        leading = list(takewhile(lambda argument: not self.foreign(argument), arguments))
        defaults = {action.dest: action.default for action in self._actions if action.default != argparse.SUPPRESS}
        parsed, unknown = self.parse_known_args(
            self._known_names(leading), Options(**dict.fromkeys(defaults, _NOT_GIVEN))
        )
        if unknown:
            self.error(f"unknown option {unknown[0]}")
        explicit = {name: value for name, value in vars(parsed).items() if value is not _NOT_GIVEN}
        for check in self._checks:
            check(defaults | explicit)
        return Options(**_nested(defaults | explicit), explicit=_nested(explicit), rest=arguments[len(leading) :])

    def as_arguments(self, values: Mapping[str, Any], group: str = "") -> list[str]:
        """Return the arguments for the values of a file, nested by groups."""
        arguments: list[str] = []
        for name, value in values.items():
            flag = f"--{group}{name}"
            action = self._option_string_actions.get(flag)
            if isinstance(value, dict):
                arguments += self.as_arguments(value, f"{name}.")
            elif isinstance(value, list):
                arguments += [flag, *map(str, value)] if value else []
            elif action is not None and action.nargs == 0:  # --resume
                arguments += [flag] if value else []
            else:
                arguments.append(f"{flag}={str(value).lower() if isinstance(value, bool) else value}")
        return arguments

    def _known_names(self, arguments: Sequence[str]) -> list[str]:
        """Return the arguments with the names of their options: --init_from and --init-from mean the same."""
        known = {option.replace("-", "_"): option for option in self._option_string_actions}
        current: list[str] = []
        for argument in arguments:
            name, equals, value = argument.partition("=")
            if name.startswith("--") and name != "--":
                if name.replace("-", "_") not in known:
                    close = difflib.get_close_matches(name, known.values(), n=1)
                    self.error(f"unknown option {name}" + (f"; did you mean {close[0]}?" if close else ""))
                name = known[name.replace("-", "_")]
            current.append(f"{name}{equals}{value}")
        return current

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with one line."""
        text = message.replace("the following arguments are required:", "missing:").removeprefix("argument ")
        raise UsageError(f"{text.replace(': is ', ' is ', 1)} (more: {self.prog} --help)")


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with `group.name` in a dictionary of the group."""
    nested: dict[str, Any] = {}
    for name, value in values.items():
        group, _, field = name.rpartition(".")
        (nested.setdefault(group, {}) if group else nested)[field] = value
    return nested


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of descriptions and examples; shows defaults where there are any."""

    def add_usage(self, usage: str | None, actions: Iterable[argparse.Action], *rest: Any, **named: Any) -> None:
        """Leave out what every command has."""
        listed = [action for action in actions if action.dest not in ("help", "debug", "device", "threads")]
        super().add_usage(usage, listed, *rest, **named)

    def _get_help_string(self, action: argparse.Action) -> str:
        text = (action.help or "").rstrip()
        if action.default in (None, False, argparse.SUPPRESS) or action.default == [] or not action.option_strings:
            return text
        return f"{text} (default: %(default)s)"
