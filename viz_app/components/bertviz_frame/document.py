"""BertViz' head view and model view of a translation, as one self-contained HTML document.

BertViz (Vig, 2019, "A Multiscale Visualization of Attention in the Transformer Model") computes and draws the view;
this file only changes the wrapping, because BertViz 1.4.1

* loads require.js, jQuery and d3 from a content delivery network: here they are inlined from `vendor/`;
* writes tokens into its script as they are, so `</script><script>` in a token would run: here they are in a block of
  data that no character can end, and a content security policy allows only the four scripts of the document, by their
  hashes, and no request;
* writes all data twice, the second time into a comment: here once;
* names the rows of encoder-decoder attention after the decoder's inputs: here after the tokens that they write;
* fails for an encoder and a decoder of different depth: here each kind of attention has a document of its own;
* counts layers and heads from 0: here from 1, as everywhere on screen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from transformer_core.attention_maps import KINDS, AttentionMaps, Kind
from viz_app.components.html_document import html_document, json_element
from viz_app.figures.colours.palette import BACKGROUND, INK, Theme, check_theme
from viz_app.figures.model.figure import display_label

if TYPE_CHECKING:
    from torch import Tensor

BertvizView = Literal["head", "model"]
BERTVIZ_VIEWS: tuple[BertvizView, ...] = get_args(BertvizView)
LIBRARIES = ("jquery-3.7.1.min.js", "d3-5.16.0.min.js")
# Characters of a label that fit the boxes in which BertViz draws tokens: 110 and 80 pixels wide.
LABEL_WIDTH: dict[BertvizView, int] = {"head": 14, "model": 12}

_FOLDER = Path(__file__).parent
_HOVER: dict[Theme, str] = {"light": "#e4e4e0", "dark": "#333a45"}
_ROOT = "bertviz"
_DATA = "bertviz-data"
# How BertViz 1.4.1 puts its output together.
_LOADS = re.compile(r'\A<script src="https://[^"]*/require\.min\.js"></script>')
_SCRIPT_START, _SCRIPT_END = '\n<script type="text/javascript">\n', "\n</script>\n"
_DATA_START, _DATA_END = "const params = ", "; // HACK: "
_CONFIG = re.compile(r"^require\.config\(\{.*?^\}\);\n", re.MULTILINE | re.DOTALL)
_STYLE = re.compile(r' style="[^"]*"')


class BertvizChangedError(RuntimeError):
    """BertViz' output differs from the form of version 1.4.1 and cannot be contained."""


@dataclass(frozen=True)
class _Output:
    """Parts of BertViz' output: markup, data, and the script around the data."""

    markup: str
    data: dict[str, Any]
    script: tuple[str, str]


def bertviz_document(
    maps: AttentionMaps,
    view: BertvizView,
    *,
    kind: Kind | None = None,
    layer: int = 0,
    head: int = 0,
    theme: Theme = "light",
    decimals: int = 4,
) -> str:
    """Return a view as an HTML document for an `<iframe sandbox="allow-scripts">`; equal arguments give equal text.

    The length is not limited here but on the page (`viz_app.explorer_view.external_views`).

    Args:
        maps: The maps to show, by tokens or merged to words, complete or cut to a step.
        view: "head", one layer with its heads on top of each other, or "model", every layer and head.
        kind: The attention to show. None gives BertViz all three, as in its manual for encoder-decoder models: three
            times the data and a menu to switch between them, with the encoder in front.
        layer: First layer of the head view, from 0; the model view ignores it.
        head: The only head that is on when the head view starts, from 0; the model view ignores it.
        theme: "light" or "dark".
        decimals: Decimals of the weights; rounding makes the document a third as long.

    Raises:
        ValueError: An argument is not allowed, or a weight is not a number. With kind None also: the maps differ in
            layers or heads, or have more inputs than outputs.
        BertvizChangedError: The installed BertViz writes another form of documents than version 1.4.1.
    """
    if kind is None and len(maps.kinds) == 1:
        (kind,) = maps.kinds
    _check(maps, view, kind, layer, head)
    check_theme(theme)
    output = _take_apart(_run(maps, view, kind, layer, head, theme, decimals))
    data = output.data
    # A fixed id, so that equal arguments give equal documents, and numbers that start at 1.
    markup = output.markup.replace(data["root_div_id"], _ROOT)
    data["root_div_id"] = _ROOT
    for name in ("include_layers", "include_heads"):
        if name in data:
            data[name] = [number + 1 for number in data[name]]
    if view == "head":
        data["layer"] += 1
    if kind is None:
        data["attention"][-1]["left_text"] = _labels(maps.outputs.tokens, view)
    return _page(markup, data, output.script, theme)


def _check(maps: AttentionMaps, view: str, kind: Kind | None, layer: int, head: int) -> None:
    if view not in BERTVIZ_VIEWS:
        raise ValueError(f"view is {view!r}, but must be one of {', '.join(BERTVIZ_VIEWS)}")
    kinds = KINDS if kind is None else (kind,)
    shapes = {one: maps.weights(one).shape for one in kinds}
    if kind is None and (len({shape[:2] for shape in shapes.values()}) > 1 or len(maps.inputs) != len(maps.outputs)):
        raise ValueError(
            "BertViz shows all three kinds at once only with equally many layers, heads and target positions, "
            f"but these have the shapes {shapes}; name one kind"
        )
    for name, value, count in zip(("layer", "head"), (layer, head), shapes[kinds[0]][:2], strict=True):
        if not 0 <= value < count:
            raise ValueError(f"{name} is {value}, but must be between 0 and {count - 1} (counted from 0)")
    for one in kinds:
        if not np.isfinite(maps.weights(one)).all():
            raise ValueError(
                f"{one} attention holds a weight that is not a number, or layers with different numbers of heads"
            )


def _run(
    maps: AttentionMaps, view: BertvizView, kind: Kind | None, layer: int, head: int, theme: Theme, decimals: int
) -> str:
    """Return BertViz' own output for the maps."""
    import torch  # takes seconds to import
    from bertviz import head_view, model_view

    def tensors(one: Kind) -> list[Tensor]:
        # In float64: a rounded float32 has as many decimals as before.
        rounded = np.round(maps.weights(one).astype(np.float64), decimals)
        return [torch.from_numpy(weights)[None] for weights in rounded]  # each (1, H, Q, K)

    def labels(axis: str) -> list[str]:
        return _labels(getattr(maps, axis).tokens, view)

    arguments: dict[str, Any]
    if kind is None:
        arguments = {f"{one}_attention": tensors(one) for one in ("encoder", "decoder", "cross")}
        arguments |= {"encoder_tokens": labels("source"), "decoder_tokens": labels("inputs")}
    elif kind == "cross":
        arguments = {"cross_attention": tensors(kind)}
        arguments |= {"encoder_tokens": labels("source"), "decoder_tokens": labels("outputs")}
    else:
        arguments = {"attention": tensors(kind), "tokens": labels("source" if kind == "encoder" else "inputs")}
    arguments |= {"prettify_tokens": False, "html_action": "return"}
    if view == "head":
        text: str = head_view(layer=layer, heads=[head], **arguments).data
    else:
        text = model_view(display_mode=theme, **arguments).data
    return text


def _labels(tokens: Iterable[str], view: BertvizView) -> list[str]:
    return [display_label(token, LABEL_WIDTH[view]) for token in tokens]


def _take_apart(text: str) -> _Output:
    """Split BertViz' output around its data. Only the data hold tokens, so the first match is the right one."""
    body, loads = _LOADS.subn("", text)
    markup, started, script = body.partition(_SCRIPT_START)
    before, filled, rest = script.partition(_DATA_START)
    if not (loads and started and filled and rest.endswith(_SCRIPT_END)):
        raise BertvizChangedError("BertViz' output does not look like that of version 1.4.1")
    data, end = json.JSONDecoder().raw_decode(rest)
    comment, _, after = rest[end:].partition("\n")
    before, configured = _CONFIG.subn("", before)
    if not (comment.startswith(_DATA_END) and configured == 1 and data["root_div_id"] in markup):
        raise BertvizChangedError("BertViz' script does not look like that of version 1.4.1")
    return _Output(markup, data, (before, after.removesuffix(_SCRIPT_END)))


def _page(markup: str, data: dict[str, Any], script: tuple[str, str], theme: Theme) -> str:
    """Return the document: policy, style, BertViz' markup, data, libraries and BertViz' script."""
    before, after = script
    reading = f'{_DATA_START}JSON.parse(document.getElementById("{_DATA}").textContent);\n'
    scripts = [*_libraries(), f"{before}{reading}{after}"]
    style = (
        f":root {{ --theme: {theme}; --background: {BACKGROUND[theme]}; --ink: {INK[theme]}; "
        f"--hover: {_HOVER[theme]}; }}\n{_read('document.css')}"
    )
    # The policy forbids styles in attributes; document.css has them.
    body = f"{_STYLE.sub('', markup)}\n{json_element(_DATA, data)}"
    return html_document("BertViz", style=style, body=body, scripts=scripts)


@cache
def _libraries() -> tuple[str, ...]:
    return (*(_read(f"vendor/{name}") for name in LIBRARIES), _read("loader.js"))


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
