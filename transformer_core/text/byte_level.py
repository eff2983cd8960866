"""Byte-pair encoding of bytes, as GPT-2 and BART have it: no character is unknown (Radford et al. 2019, Section 2.2).

A text is cut into words with the blank before them, each word into the bytes of its UTF-8, and these are merged pair by
pair, the earliest learned merge first. Each byte is written as one printable character, a blank as `Ġ`.
"""

from __future__ import annotations

import heapq
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

from transformer_core.axis import WORD_BOUNDARY
from transformer_core.text.segmenters import Segmentation, SegmenterError

_MAX_MERGES = 500_000  # BART has 50,000
_CONTRACTION = re.compile("'(?:s|t|re|ve|m|ll|d)")
# Over the classes of characters: L letters, N numbers, O others, S blanks; a plain blank belongs to the word after it.
_WORD = re.compile(r" ?L+| ?N+| ?O+|[S ]+(?![^S ])|[S ]+")
_BLANKS = frozenset("\t\n\x0b\x0c\r\x85\u2028\u2029")


@cache
def _characters() -> tuple[str, ...]:
    """Return the character of each byte: itself if it is printable, else one from U+0100 on, in order."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return tuple(chr(byte) if byte in printable else chr(next(others)) for byte in range(256))


@cache
def _bytes() -> dict[str, int]:
    return {character: byte for byte, character in enumerate(_characters())}


class ByteLevelSegmenter:
    """Merges of bytes.

    Args:
        model: The bytes of a `merges.txt`: a line with two tokens for each merge, in the order learned.

    Raises:
        SegmenterError: They are not such a list.
    """

    def __init__(self, model: bytes) -> None:
        self.model = model
        try:
            lines = model.decode("utf-8").split("\n")
        except UnicodeDecodeError as error:
            raise SegmenterError("not a list of merges: not UTF-8") from error
        if len(lines) > _MAX_MERGES:
            raise SegmenterError(f"more than {_MAX_MERGES:,} merges")
        self._ranks: dict[tuple[str, str], int] = {}
        for number, line in enumerate(lines, start=1):
            if not line.strip() or (number == 1 and line.startswith("#version")):
                continue
            pair = line.strip("\r").split(" ")
            if len(pair) != 2 or not all(part and set(part) <= _bytes().keys() for part in pair):
                raise SegmenterError(f"not a list of merges: line {number}")
            self._ranks.setdefault((pair[0], pair[1]), len(self._ranks))

    def cut(self, text: str) -> Segmentation:
        """Text -> tokens; a character of several bytes may be in several tokens."""
        tokens: list[str] = []
        spans: list[tuple[int, int]] = []
        for begin, word in _words(text):
            at = [begin + number for number, character in enumerate(word) for _ in character.encode("utf-8")]
            start = 0
            for token in self._merged([_characters()[byte] for byte in word.encode("utf-8")]):
                tokens.append(token)
                spans.append((at[start], at[start + len(token) - 1] + 1))
                start += len(token)
        return Segmentation(tuple(tokens), tuple(spans))

    def _merged(self, symbols: list[str]) -> list[str]:
        """Merge pairs, the earliest learned first and the leftmost of these; n log n, however long the word is."""
        after = list(range(1, len(symbols) + 1))
        before = list(range(-1, len(symbols) - 1))
        queue: list[tuple[int, int, str, str]] = []

        def consider(left: int) -> None:
            right = after[left] if left >= 0 else len(symbols)
            if right < len(symbols) and (rank := self._ranks.get((symbols[left], symbols[right]))) is not None:
                heapq.heappush(queue, (rank, left, symbols[left], symbols[right]))

        for left in range(len(symbols)):
            consider(left)
        while queue:
            _, left, first, second = heapq.heappop(queue)
            right = after[left]
            if symbols[left] != first or right >= len(symbols) or symbols[right] != second:
                continue  # one of them has been merged with another since
            symbols[left], symbols[right] = first + second, ""
            after[left] = after[right]
            if after[left] < len(symbols):
                before[after[left]] = left
            consider(before[left])
            consider(left)
        return [symbol for symbol in symbols if symbol]

    def join(self, tokens: Sequence[str]) -> str:
        """Tokens -> text; bytes that make no character become U+FFFD."""
        return _raw("".join(tokens)).decode("utf-8", "replace")

    def shown(self, token: str) -> str:
        """Return the token with a word-boundary mark for a blank, and bytes that make no character as `<0xEA>`."""
        return shown(token)


def shown(token: str) -> str:
    """Return a token as `ByteLevelSegmenter.shown`; one that is not made of bytes as it is."""
    if not set(token) <= _bytes().keys():
        return token
    try:
        return _raw(token).decode("utf-8").replace(" ", WORD_BOUNDARY)
    except UnicodeDecodeError:
        return "".join(f"<0x{byte:02X}>" for byte in _raw(token))


def _raw(token: str) -> bytes:
    return bytes(_bytes().get(character, ord("?")) for character in token)


def _words(text: str) -> Iterator[tuple[int, str]]:
    """Yield the words of a text, each with its place."""
    classes = "".join(map(_class, text))
    at = 0
    while at < len(text):
        piece = _CONTRACTION.match(text, at) or _WORD.match(classes, at)
        assert piece is not None
        yield at, text[at : piece.end()]
        at = piece.end()


def _class(character: str) -> str:
    category = unicodedata.category(character)
    if character == " ":
        return " "
    if character in _BLANKS or category == "Zs":
        return "S"
    return category[0] if category[0] in "LN" else "O"
