"""Short way in: load a model, let it read sentences, and keep what is asked for, labelled.

Stands on `Translator`, `capture` and `edit`.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, overload

import numpy as np
import torch
from torch import Tensor

from transformer_core.attention_maps import Axis, FloatArray
from transformer_core.extras import extra
from transformer_core.hooks.hook_sites import site_of
from transformer_core.hooks.points import Captured, Edit, batch_context, capture, edit, hook_points
from transformer_core.hooks.short_addresses import find_places
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.translator import TeacherForcedInput, Translator

if TYPE_CHECKING:
    import pandas

_TRANSLATED_TOGETHER = 32  # sentences


def load(name: str | Path, device: torch.device | str = "cpu", *, half: bool | None = None) -> Translator:
    """Load a shipped model by its name, such as `en-de`, or a checkpoint folder.

    Args:
        name: Of the model, or its folder.
        device: Where the model computes, such as "cuda".
        half: As for `Translator.load`.

    Raises:
        CheckpointError: There is no such model, or its folder is damaged.
    """
    return Translator.load(find_checkpoint(str(name)), device, half=half)


@dataclass(frozen=True, eq=False, repr=False)
class Labelled:
    """Values of one sentence, or of several, with names and tokens for their axes.

    Args:
        name: Of the values, such as `cross.6.8.weights`.
        tensors: For each sentence, without padding.
        axes: Name of each dimension, such as `queries`.
        labels: For each sentence the tokens along each dimension; None where positions are only numbers.
        several: Whether the run was given a list of sentences.
    """

    name: str
    tensors: tuple[Tensor, ...]
    axes: tuple[str, ...]
    labels: tuple[tuple[Axis | None, ...], ...]
    several: bool

    @property
    def tensor(self) -> Tensor:
        """The values of the only sentence, a dimension for each of `axes`. Raises ValueError for several sentences."""
        if len(self.tensors) != 1:
            raise ValueError(f"{self.name} has {len(self.tensors)} sentences: take one, run[0][...], or `tensors`")
        return self.tensors[0]

    def numpy(self) -> FloatArray:
        """Return float32 values; of several sentences (sentences, ...), with NaN where a shorter one has no token."""
        arrays = [tensor.detach().float().cpu().numpy() for tensor in self.tensors]
        if not self.several:
            return np.asarray(arrays[0])
        stacked = np.full((len(arrays), *np.max([array.shape for array in arrays], axis=0)), np.nan, np.float32)
        for row, array in zip(stacked, arrays, strict=True):
            row[tuple(map(slice, array.shape))] = array
        return stacked

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each value: sentence and position on each axis, counted from 0; tokens; the value.

        Raises:
            MissingPackage: pandas is not installed.
        """
        with extra("frames"):
            import pandas
        frames = []
        for number, (tensor, labels) in enumerate(zip(self.tensors, self.labels, strict=True)):
            positions = np.indices(tensor.shape).reshape(len(self.axes), -1)
            columns: dict[str, Any] = {"sentence": np.full(tensor.numel(), number)}
            for name, label, places in zip(self.axes, labels, positions, strict=True):
                columns[name] = places
                if label is not None:
                    columns[f"{name}_token"] = [label.tokens[place] for place in places]
            frames.append(pandas.DataFrame({**columns, "value": tensor.detach().float().cpu().numpy().ravel()}))
        return pandas.concat(frames, ignore_index=True)

    def __repr__(self) -> str:
        sizes = f"{len(self.tensors)} sentences" if self.several else " x ".join(map(str, self.tensor.shape))
        return f"<{self.name}: {sizes} ({', '.join(self.axes)})>"


class ReadSentence(NamedTuple):
    """A sentence and its translation, as the model has read them.

    Args:
        text: The sentence.
        translation: Its translation: the given text, or what the model wrote.
        source: The S tokens of the sentence, `</s>` included.
        inputs: The T tokens that the decoder reads.
        outputs: The T tokens that it generates.
        log_p: (T,) log-probability of each output in nats.
    """

    text: str
    translation: str
    source: Axis
    inputs: Axis
    outputs: Axis
    log_p: Tensor

    def tokens_along(self, name: str, address: str) -> Axis | None:
        """Return the tokens along a dimension of the values at a hook point; None where they are only numbers."""
        crosses = "cross_attention" in address
        if name not in ("queries", "keys", "positions"):
            return None
        if address.startswith("encoder") or (crosses and name == "keys"):
            return self.source
        return self.outputs if crosses or address == "decoder.logits" else self.inputs


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """One sentence or several, read by the model: an address, long or short, gives the values kept there.

    `run[address]` is `Labelled`, `run[0]` the first sentence of several, `run[:5]` a run of the first five. Raises
    AddressError where nothing was kept. `keys()` lists what was kept; `address in run` says whether it was.

    Args:
        sentences: What was read.
        captured: Values of each sentence, without padding, as a batch of one: for `patch` and `mean_of`.
        several: Whether the run was given a list; a number then gives the run of one sentence.
    """

    sentences: tuple[ReadSentence, ...]
    captured: Captured
    several: bool

    @overload
    def __getitem__(self, which: SupportsIndex | slice) -> Run: ...
    @overload
    def __getitem__(self, which: str) -> Labelled: ...
    def __getitem__(self, which: SupportsIndex | slice | str) -> Run | Labelled:
        if not isinstance(which, str):
            several = isinstance(which, slice)
            numbers = range(len(self))[which] if isinstance(which, slice) else [operator.index(which)]
            kept = {address: [values[n] for n in numbers] for address, values in self.captured.calls.items()}
            return Run(tuple(self.sentences[n] for n in numbers), Captured(kept), several=several)
        place = self.captured.place(which)
        axes = tuple(name for name in site_of(place.address).shape[1:] if name != "heads" or place.head is None)
        labels = tuple(tuple(each.tokens_along(name, place.address) for name in axes) for each in self.sentences)
        values = self.captured.calls[place.address]
        tensors = tuple(value[0] if place.head is None else value[0, place.head] for value in values)
        return Labelled(place.name, tensors, axes, labels, self.several)

    def __len__(self) -> int:
        return len(self.sentences)

    def keys(self) -> list[str]:
        """Return the long addresses of the kept values."""
        return list(self.captured)

    def __contains__(self, address: object) -> bool:
        return isinstance(address, str) and address in self.captured

    def __iter__(self) -> Iterator[Run]:
        return (self[number] for number in range(len(self)))

    @property
    def log_p(self) -> Labelled:
        """(T,) log-probability of each output in nats."""
        labels = tuple((each.outputs,) for each in self.sentences)
        return Labelled("log_p", tuple(each.log_p for each in self.sentences), ("outputs",), labels, self.several)

    @property
    def grad(self) -> Run:
        """Gradients that `backward` has left at the kept values, in their place and shape; 0 where it left none.

        Several `backward` add up, as in PyTorch; `torch.autograd.grad` gives one alone.
        """
        grads = {
            address: [torch.zeros_like(value) if value.grad is None else value.grad for value in values]
            for address, values in self.captured.calls.items()
        }
        return replace(self, captured=Captured(grads))

    def __repr__(self) -> str:
        texts = [f"{each.text[:50]} -> {each.translation[:50]}" for each in self.sentences[:2]]
        count = f"{len(self)} sentences, {len(self.captured)} kept values each"
        return "\n  ".join([f"<Run: {count}", *texts, *list(self.captured)[:3]]) + ">"


def run(
    model: Translator,
    what: str | tuple[str, str] | Sequence[str | tuple[str, str]],
    *,
    keep: str | Collection[str] = (),
    edits: Mapping[str, Edit] | None = None,
    grad: bool = False,
) -> Run:
    """Let a model read sentences with their translations, as many in one pass as memory allows.

    Args:
        model: The translator. Active edits stay active.
        what: A text, which is translated first; a pair (source, target); or a list of these.
        keep: Addresses of values to keep, long or short; points such as `weights`; or `all`. One that names a head
            keeps its whole layer. Log-probabilities are always kept.
        edits: Address -> change, as for `edit`, while the model translates and reads. Numbers of sentences in `only`
            are those in `what`.
        grad: Whether values and log-probabilities keep their graph, for `backward`; sentences then go one by one.

    Returns:
        The values of each sentence, as if it were alone.

    Raises:
        AddressError: The model has no such hook point.
        SourceTooLong: See `Translator.encode`.
        ValueError: There is no sentence, an empty one, or a tuple that is no pair.
    """
    edits, one = edits or {}, isinstance(what, str | tuple)
    many = [what] if isinstance(what, str | tuple) else what
    pairs = [(each, None) if isinstance(each, str) else each for each in many]
    if wrong := next((each for each in pairs if len(each) != 2), None):
        raise ValueError(f"a pair is (source, target), not {len(wrong)} texts; several sentences are a list")
    places = find_places(keep, hook_points(model), model.config.num_heads, "weights")  # before any work
    inputs = _inputs(model, pairs, edits)
    order = sorted(range(len(pairs)), key=lambda number: (len(inputs[number].source), inputs[number].rows))
    addresses = {place.address for place in places}
    by_number: dict[int, tuple[ReadSentence, dict[str, Tensor]]] = {}
    ordered = [inputs[number] for number in order]
    for group in [[each] for each in ordered] if grad else model.passes(ordered):
        numbers = order[len(by_number) : len(by_number) + len(group)]
        changed, recorder = edit(model, edits), capture(model, addresses, grad=grad)
        with torch.set_grad_enabled(grad), batch_context(numbers, len(pairs)), changed, recorder as seen:
            log_p = model.read(group)
        for row, (number, each) in enumerate(zip(numbers, group, strict=True)):
            text, target = pairs[number]
            translation = model.tokenizer.decode(each.target) if target is None else target
            sentence = ReadSentence(text, translation, *model.axes(each), log_p[row, : each.rows])
            activations = {at: value if grad else _cut(value, at, row, sentence) for at, value in seen.items()}
            by_number[number] = sentence, activations
    sentences, values = zip(*(by_number[number] for number in range(len(pairs))), strict=True)
    calls = {address: [each[address] for each in values] for address in values[0]}
    return Run(sentences, Captured(calls), several=not one)


def stream(
    model: Translator,
    what: Iterable[str | tuple[str, str]],
    *,
    keep: str | Collection[str],
    edits: Mapping[str, Edit] | None = None,
    together: int = 256,
) -> Iterator[Run]:
    """Yield the runs of any number of sentences, some at a time, so that memory holds no others.

    Args:
        model: As for `run`, like `keep` and `edits`.
        what: Texts and pairs, read as they are needed; `(text, "")` for the encoder alone.
        keep: Addresses of values to keep.
        edits: Numbers of sentences in `only` are those in the run.
        together: Sentences of a run.
    """
    sentences = iter(what)
    while some := list(islice(sentences, together)):
        yield run(model, some, keep=keep, edits=edits)


def _inputs(
    model: Translator, pairs: Sequence[tuple[str, str | None]], edits: Mapping[str, Edit]
) -> list[TeacherForcedInput]:
    """Return what to read, once sources without a target have been translated under the edits."""
    sources = [model.encode(source) for source, _ in pairs]
    if not sources or not all(source.ids for source in sources):
        raise ValueError("there is no sentence, or an empty one")
    encoded = {n: model.encode_target(target) for n, (_, target) in enumerate(pairs) if target is not None}
    targets = {number: (each.ids, True, each.spans) for number, each in encoded.items()}
    texts = [number for number in range(len(pairs)) if number not in targets]
    for start in range(0, len(texts), _TRANSLATED_TOGETHER):
        numbers = texts[start : start + _TRANSLATED_TOGETHER]
        with edit(model, edits), batch_context(numbers, len(pairs)):
            results = model.search([sources[number].ids for number in numbers])
        for number, result in zip(numbers, results, strict=True):
            targets[number] = result.hypotheses[0].ids, result.hypotheses[0].finished, ()
    return [TeacherForcedInput(source, *targets[number]) for number, source in enumerate(sources)]


def _cut(value: Tensor, address: str, row: int, sentence: ReadSentence) -> Tensor:
    """Return (1, ...), a copy of one row without its padding."""
    axes = [sentence.tokens_along(name, address) for name in site_of(address).shape[1:]]
    return value[(slice(row, row + 1), *(slice(None if each is None else len(each)) for each in axes))].clone()
