"""Text as people type it, split into words as the Penn Treebank does."""

from __future__ import annotations


def split_words(text: str) -> tuple[str, ...]:
    """The words of a sentence: `It doesn't "work".` -> It, does, n't, ``, work, '', .

    They are those of the treebank's own tokeniser as NLTK has it, brackets left as they are.
    """
    from nltk.tokenize.destructive import NLTKWordTokenizer  # only who types text needs NLTK

    return tuple(word for part in NLTKWordTokenizer().tokenize(text) for word in part.split())
