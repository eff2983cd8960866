"""Word tokenisation of the Penn Treebank."""

from __future__ import annotations

from transformer_core.extras import extra


def split_words(text: str) -> tuple[str, ...]:
    """Split a sentence into words: `It doesn't "work".` -> It, does, n't, ``, work, '', .

    This is NLTK's version of the treebank's tokeniser; brackets stay unescaped.
    """
    with extra("parsing"):
        from nltk.tokenize.destructive import NLTKWordTokenizer  # only needed for typed text

    return tuple(word for part in NLTKWordTokenizer().tokenize(text) for word in part.split())
