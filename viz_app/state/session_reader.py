"""Read and write a session file. An untrusted file is read whole or refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from transformer_core.storage.format_1 import current_names
from viz_app.serving.checked_json import READ_ERRORS
from viz_app.state.session_file import FORMAT, MAX_BYTES, VERSION, SessionFile

Problem = Literal["size", "full", "json", "format", "invalid", "newer"]
_MAX_DEPTH = 16  # of lists and objects; the format has nine
_MAX_PLACE = 120  # characters

# From a version to the next one: the values of a file of the one as a file of the other has them.


def _tokens_for_pieces(values: Any) -> Any:
    """Rename "pieces" to "tokens", for version 2: the unit of a map, and a setting of the Lab."""
    if isinstance(values, list):
        return [_tokens_for_pieces(each) for each in values]
    if not isinstance(values, dict):
        return values
    renamed = {name: _tokens_for_pieces(each) for name, each in values.items()}
    if renamed.get("unit") == "pieces":
        renamed["unit"] = "tokens"
    if isinstance(settings := renamed.get("settings"), dict):
        renamed["settings"] = current_names(settings)
    return renamed


MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _tokens_for_pieces}


class SessionFileError(ValueError):
    """File that is no session file, or an invalid one.

    Args:
        problem: What is wrong: `session.problem_...` of the labels says it to the visitor.
        place: Where in the file, as "$.explorer.selection.layer"; "" for the whole.
    """

    def __init__(self, problem: Problem, place: str = "") -> None:
        self.problem, self.place = problem, place
        super().__init__(f"{problem} {place}".strip())


@dataclass(frozen=True)
class ReadSession:
    """Content of a session file.

    Args:
        session: What this version knows of it.
        is_newer: Whether a newer version wrote it.
        left_out: Whether it holds something that this version does not know.
    """

    session: SessionFile
    is_newer: bool = False
    left_out: bool = False


def write_session(session: SessionFile) -> bytes:
    """Write the file; equal sessions give equal bytes. Raises SessionFileError for a session that is too large."""
    values = _encodable({"format": FORMAT, "version": VERSION, **msgspec.to_builtins(session)})
    data = msgspec.json.format(msgspec.json.encode(values), indent=1) + b"\n"
    if len(data) > MAX_BYTES:
        raise SessionFileError("full")
    read_session(data)  # a file that would be refused is not written
    return data


def read_session(text: str | bytes) -> ReadSession:
    """Read a session file.

    Raises:
        SessionFileError: It is no session file, or an invalid one. Nothing else is raised, whatever the text.
    """
    values = _values(text)
    if values.get("format") != FORMAT:
        raise SessionFileError("format")
    version = values.get("version")
    if type(version) is not int or version < 1:
        raise SessionFileError("invalid", "$.version")
    for old in range(version, VERSION):
        values = MIGRATIONS[old](values)
    try:
        session = msgspec.convert(values, SessionFile, str_keys=True)
    except (msgspec.ValidationError, UnicodeError, RecursionError) as error:
        raise SessionFileError("newer" if version > VERSION else "invalid", _place(error)) from error
    known = {"format": "", "version": 0, **_all_fields(session)}
    return ReadSession(session, version > VERSION, _has_more(values, known))


def _values(text: str | bytes) -> dict[str, Any]:
    """Return the values of a JSON object, in bounds."""
    try:
        data = text if isinstance(text, bytes) else text.encode()
        if len(data) > MAX_BYTES:
            raise SessionFileError("size")
        values = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))  # some editors put a mark at the start
    except READ_ERRORS as error:
        raise SessionFileError("json") from error
    if not isinstance(values, dict):
        raise SessionFileError("format")
    if _is_deep(values):
        raise SessionFileError("json")
    return values


def _encodable(values: Any) -> Any:
    """Return the values; a browser may have told half of a surrogate pair, which no file can hold."""
    if isinstance(values, str):
        return values.encode(errors="replace").decode()
    if isinstance(values, list):
        return [_encodable(each) for each in values]
    if isinstance(values, dict):
        return {name: _encodable(each) for name, each in values.items()}
    return values


def _is_deep(values: Any) -> bool:
    level = [values]
    for _ in range(_MAX_DEPTH):
        nested = [value for value in level if isinstance(value, (dict, list))]
        level = [each for value in nested for each in (value.values() if isinstance(value, dict) else value)]
    return bool(level)


def _place(error: Exception) -> str:
    """Return the place of an error; msgspec names fields of the format only, never a text of the file."""
    _, found, place = str(error).rpartition(" - at `")
    return place.rstrip("`")[:_MAX_PLACE] if found else ""


def _all_fields(value: Any) -> Any:
    """Return a Struct or a dataclass as plain values, with the fields that are as at the start."""
    if isinstance(value, msgspec.Struct):
        fields = {name: _all_fields(getattr(value, name)) for name in value.__struct_fields__}
        config = value.__struct_config__
        return fields if config.tag_field is None else {config.tag_field: config.tag, **fields}
    if isinstance(value, tuple | list):
        return [_all_fields(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _all_fields(each) for name, each in value.items()}
    return msgspec.to_builtins(value)


def _has_more(values: Any, known: Any) -> bool:
    """Return whether values hold a name that the known ones lack."""
    if isinstance(values, Mapping) and isinstance(known, Mapping):
        return any(name not in known or _has_more(each, known[name]) for name, each in values.items())
    if isinstance(values, list) and isinstance(known, list):
        return any(_has_more(*pair) for pair in zip(values, known, strict=False))
    return False
