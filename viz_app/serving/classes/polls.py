"""Polls: questions to a class, and what came of them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

MAX_OPTIONS = 4_096  # of a question: a map of 64 tokens by 64

State = Literal["open", "closed", "revealed"]

Name = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_]{0,31}\Z")]
_Token = Annotated[str, Meta(max_length=64)]
_Tokens = Annotated[tuple[_Token, ...], Meta(min_length=1, max_length=256)]
_Weight = Annotated[float, Meta(ge=0.0, le=1.0001)]
OptionNumber = Annotated[int, Meta(ge=0, le=MAX_OPTIONS)]


class LessonQuestion(Struct, frozen=True, kw_only=True, tag="lesson"):
    """Question of a scene. Each student reads it in their own language.

    Args:
        lesson: Name of the lesson.
        scene: Name of the scene.
        options: Number of choices.
        right: Number of the right choice, from 0.
    """

    lesson: Name
    scene: Name
    options: Annotated[int, Meta(ge=2, le=12)]
    right: OptionNumber


class AttentionQuestion(Struct, frozen=True, kw_only=True, tag="attention"):
    """Question where a head looks: the class taps a token of one row, or a cell of a map.

    Args:
        head: Its name, such as encoder.5.3.
        queries: Tokens that attend; one for a row.
        keys: Tokens that are attended to.
        weights: The head's own weights, row by row.
    """

    head: Annotated[str, Meta(pattern=r"\A(encoder|decoder|cross)\.[1-9][0-9]?\.[1-9][0-9]?\Z")]
    queries: _Tokens
    keys: _Tokens
    weights: Annotated[tuple[_Weight, ...], Meta(max_length=MAX_OPTIONS)]

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.queries) * len(self.keys):
            expected = f"{len(self.queries)} by {len(self.keys)}"
            raise ValueError(f"weights has {len(self.weights)} values, but the map is {expected}")

    @property
    def options(self) -> int:
        """Number of cells to tap."""
        return len(self.weights)

    @property
    def right(self) -> int:
        """Cell with the largest weight."""
        return self.weights.index(max(self.weights))


class OwnQuestion(Struct, frozen=True, kw_only=True, tag="own"):
    """Question that the teacher typed.

    Args:
        text: The question.
        choices: The answers to choose from.
        right: Number of the right one, from 0; None where none is.
    """

    text: Annotated[str, Meta(min_length=1, max_length=300)]
    choices: Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=120)], ...], Meta(min_length=2, max_length=8)]
    right: OptionNumber | None = None

    def __post_init__(self) -> None:
        if self.right is not None and self.right >= len(self.choices):
            raise ValueError(f"right is {self.right}, but must be less than {len(self.choices)}")

    @property
    def options(self) -> int:
        """Number of choices."""
        return len(self.choices)


Question = LessonQuestion | AttentionQuestion | OwnQuestion


class PollResult(Struct, frozen=True, kw_only=True):
    """Answers of a class to one poll.

    Args:
        question: The question.
        counts: Answers by option; options without an answer are left out.
    """

    question: Question
    counts: Annotated[dict[OptionNumber, Annotated[int, Meta(ge=1)]], Meta(max_length=MAX_OPTIONS)]
