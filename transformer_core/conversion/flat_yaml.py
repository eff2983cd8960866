"""Reader for Marian's YAML: one level of keys, each with a scalar or a list of scalars.

All values stay text. Vocabularies hold tokens such as `null` and `~`.
"""

from __future__ import annotations

import yaml

Value = str | list[str]

_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # libyaml, where PyYAML has it


class YamlError(ValueError):
    """YAML of another form; the message names the line."""


def read_flat(text: str) -> dict[str, Value]:
    """Return keys and values in order. Raises YamlError for invalid or nested YAML, and for a repeated key.

    Aliases are never expanded: an alias for a list in a list is nested YAML.
    """
    try:
        root = yaml.compose(text, Loader=_LOADER)
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise YamlError(_one_line(error)) from error
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        raise YamlError(f"line {root.start_mark.line + 1}: expected keys with values")
    found: dict[str, Value] = {}
    for key, node in root.value:
        line = key.start_mark.line + 1
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if not all(isinstance(each, yaml.ScalarNode) for each in (key, *items)):
            raise YamlError(f"line {line}: only scalars and lists of scalars are supported")
        if key.value in found:
            raise YamlError(f"line {line}: {key.value[:40]!r} is a repeated key")
        values = [each.value for each in items]
        found[key.value] = values if isinstance(node, yaml.SequenceNode) else values[0]
    return found


def _one_line(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error).splitlines()[0]
    return f"line {mark.line + 1 if mark else '?'}: {problem}"
