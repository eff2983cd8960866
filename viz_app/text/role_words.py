"""Roles of heads in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from viz_app.text import Texts, fill

if TYPE_CHECKING:
    from transformer_core.atlas.naming import Role
    from transformer_core.attention_maps import Kind

TABLE = "roles"  # of the labels
_OFTEN = ((0.9, "always"), (0.5, "usually"), (0.3, "often"), (-math.inf, "sometimes"))
_KEYS = str.maketrans({"-": "_", "+": "_plus"})  # what may not stand in the name of a label


def role_words(t: Texts, kind: Kind, role: Role) -> str:
    """Return the words for a role, such as "looks at the previous token" or "links an object to its verb".

    Args:
        t: The labels of a language.
        kind: Kind of attention, which decides the sentence that a head looks at.
        role: A relation that is not common is called by its own name.
    """
    labels = t.table(TABLE)
    if role.name == "link":
        relation, direction = role.detail.split()
        return labels.get(f"link_{relation}_{direction}") or fill(labels[f"link_{direction}"], relation=relation)
    if role.name == "aligner":
        return labels[f"aligner_{role.detail}"]
    rule = role.name.translate(_KEYS)
    return labels.get(f"rule_{kind}_{rule}") or labels[f"rule_{rule}"]


def task_words(t: Texts, task: str) -> str:
    """Return the words for a task of circuits, such as "number of the subject"; its own name if there are none."""
    return t.table(TABLE).get(f"task_{task.partition('.')[0]}", task)


def head_words(t: Texts, kind: Kind, roles: Sequence[Role], often: str = "") -> str:
    """Return the words for the first of a head's roles, all that cannot be told apart, or for no clear role."""
    from transformer_core.atlas.naming import first_roles

    words = [role_words(t, kind, role) for role in first_roles(roles)] or [t("roles.none")]
    if often:  # "often looks at the next token"; Korean has the verb at the end, and the adverb before it
        parts = [each.rpartition(" ") for each in words]
        words = [t(f"roles.fits_{often}", aim=aim, verb=verb) for aim, _, verb in parts]
    return words[0] if len(words) == 1 else t("roles.tied", roles=" / ".join(words))


def plain_words(t: Texts, kind: Kind, roles: Sequence[Role]) -> str:
    """Return the words for a head's role, with how often it fits at least: by the lower end of its interval."""
    often = next(name for least, name in _OFTEN if roles[0].low >= least) if roles else ""
    return head_words(t, kind, roles, often)
