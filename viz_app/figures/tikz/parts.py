r"""Common parts of TikZ figures: escaped text, colours, the heading."""

from __future__ import annotations

from viz_app.figures.model.figure import Figure
from viz_app.figures.model.style import Style

_RAISED = "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
_ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\textquotedbl{}",
    "|": r"\textbar{}",
    "\u2423": r"\textvisiblespace{}",
    "\u2205": r"$\varnothing$",
    "\u2212": r"$-$",
    "\u2192": r"$\rightarrow$",
    "\u2026": r"\dots{}",
    "\ufffd": "?",
    "\u00d7": r"$\times$",
    "\u03b1": r"$\alpha$",
    "\u2096": r"$_k$",
    "\u03b2": r"$\beta$",
    "\u03b5": r"$\varepsilon$",
    **{raised: f"$^{{{plain}}}$" for raised, plain in zip(_RAISED, "-0123456789", strict=True)},
}


def tex(text: str) -> str:
    """Return a text that TeX prints as it stands."""
    return "".join(_ESCAPED.get(character, character) for character in text)


def color(name: str, value: str) -> str:
    """Return the line that gives a colour (#rrggbb) a name, after `headlight`."""
    return f"\\definecolor{{headlight{name}}}{{HTML}}{{{value[1:].upper()}}}"


def xcolor(value: str) -> str:
    """Return a colour (#rrggbb) as an option has it."""
    red, green, blue = (int(value[i : i + 2], 16) for i in (1, 3, 5))
    return f"{{rgb,255:red,{red};green,{green};blue,{blue}}}"


def heading(figure: Figure, style: Style) -> list[str]:
    """Return the title, above everything drawn so far."""
    if not style.title or not figure.title:
        return []
    return [f"\\node[anchor=south] at (current bounding box.north) {{{tex(figure.title)}}};"]
