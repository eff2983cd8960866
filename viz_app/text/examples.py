"""Example sentences of the home page; their labels have the same names in `[examples]` and `[examples_fr]`.

The labels name the difficulty of a translation, so they differ by target language. A parser has its own sentences.
Models that read German, French or Korean have sentences of the same meaning; for other languages there are none.
"""

from __future__ import annotations

# Everyday English, each sentence for one thing that German, and mostly French as well, does differently.
EXAMPLES: dict[str, str] = {
    "word_order": "The little dog is playing in the garden.",
    "verb_end": "I know that he is reading a book.",
    "separable": "The train arrives at eight o'clock.",
    "compound": "He bought a new tennis racket.",
    "pronoun": "I like this car because it is fast.",
    "bracket": "We have not seen our friends since last summer.",
    "passive": "The house was built a hundred years ago.",
    "relative": "The woman who lives next door is a doctor.",
    "negation": "I do not have a car.",
    "question": "Where did you buy this shirt?",
    "preposition": "She is waiting for the bus.",
    "adverb": "He likes to swim in the lake.",
}
# For a parser: English sentences whose trees show something; their labels stand in `[examples_tree]`.
TREE_EXAMPLES: dict[str, str] = {
    "attachment": "I saw the man with the telescope.",
    "relative": "The woman who lives next door is a doctor.",
    "coordination": "Old men and women sat in the park.",
    "passive": "The house was built a hundred years ago.",
    "question": "Where did you buy this shirt?",
    "garden_path": "The old man the boats.",
    "clause": "She said that he would not come.",
    "long": (
        "The company, which was founded in a small garage, announced on Monday that it will sell its oldest factory "
        "because the new owners want to save money."
    ),
}
FIRST_EXAMPLE = "word_order"

# The meaning of the English ones, in a native speaker's words.
_GERMAN: dict[str, str] = {
    "word_order": "Der kleine Hund spielt im Garten.",
    "verb_end": "Ich weiß, dass er ein Buch liest.",
    "separable": "Der Zug kommt um acht Uhr an.",
    "compound": "Er hat einen neuen Tennisschläger gekauft.",
    "pronoun": "Ich mag dieses Auto, weil es schnell ist.",
    "bracket": "Wir haben unsere Freunde seit letztem Sommer nicht gesehen.",
    "passive": "Das Haus wurde vor hundert Jahren gebaut.",
    "relative": "Die Frau, die nebenan wohnt, ist Ärztin.",
    "negation": "Ich habe kein Auto.",
    "question": "Wo hast du dieses Hemd gekauft?",
    "preposition": "Sie wartet auf den Bus.",
    "adverb": "Er schwimmt gern im See.",
}
_FRENCH: dict[str, str] = {
    "word_order": "Le petit chien joue dans le jardin.",
    "verb_end": "Je sais qu'il lit un livre.",
    "separable": "Le train arrive à huit heures.",
    "compound": "Il a acheté une nouvelle raquette de tennis.",
    "pronoun": "J'aime cette voiture parce qu'elle est rapide.",
    "bracket": "Nous n'avons pas vu nos amis depuis l'été dernier.",
    "passive": "La maison a été construite il y a cent ans.",
    "relative": "La femme qui habite à côté est médecin.",
    "negation": "Je n'ai pas de voiture.",
    "question": "Où as-tu acheté cette chemise ?",
    "preposition": "Elle attend le bus.",
    "adverb": "Il aime nager dans le lac.",
}
_KOREAN: dict[str, str] = {
    "word_order": "작은 개가 정원에서 놀고 있다.",
    "verb_end": "나는 그가 책을 읽고 있다는 것을 안다.",
    "separable": "기차는 여덟 시에 도착한다.",
    "compound": "그는 새 테니스 라켓을 샀다.",
    "pronoun": "이 차는 빨라서 마음에 든다.",
    "bracket": "우리는 지난여름 이후로 친구들을 만나지 못했다.",
    "passive": "그 집은 백 년 전에 지어졌다.",
    "relative": "옆집에 사는 여자는 의사이다.",
    "negation": "나는 차가 없다.",
    "question": "이 셔츠는 어디에서 샀어요?",
    "preposition": "그녀는 버스를 기다리고 있다.",
    "adverb": "그는 호수에서 수영하는 것을 좋아한다.",
}
_BY_LANGUAGE = {"en": EXAMPLES, "de": _GERMAN, "fr": _FRENCH, "ko": _KOREAN}


def examples_of(language: str, *, parses: bool = False) -> dict[str, str]:
    """Return the example sentences for a model, by name.

    Args:
        language: BCP 47 code of its source language; empty if unknown, which gives the English sentences.
        parses: Whether it is a parser.
    """
    return TREE_EXAMPLES if parses else _BY_LANGUAGE.get(language.split("-")[0].lower() or "en", {})


def first_example(language: str) -> str:
    """Return the sentence of the field at the start; empty without examples."""
    return examples_of(language).get(FIRST_EXAMPLE, "")


def counterpart(text: str, old: str, new: str) -> str | None:
    """Translate an example into another language, "" if that has none; None for any other text."""
    name = next((name for name, example in examples_of(old).items() if example == text), None)
    return None if name is None else examples_of(new).get(name, "")
