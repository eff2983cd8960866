"""Write the tasks of `transformer_core.analysis.circuit`: minimal pairs from templates.

Each line has a clean and a corrupted sentence, their translations, and the group: the word that a pair is about. The
first three lines say what the task is and under which licence. All sentences are our own.

Run: python -m benchmarks.circuit_tasks
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import cycle, islice, product
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "transformer_core" / "analysis" / "circuit" / "tasks"
LICENCE = "CC0 1.0: sentences made from the templates of benchmarks/circuit_tasks.py"
Line = tuple[str, str, str, str, str]  # clean, corrupted, their translations, group


class Noun(NamedTuple):
    """An English noun, and its translation with the definite article, singular and plural."""

    one: str
    many: str
    german: str
    germans: str
    french: str
    frenchs: str


# Masculine and neuter in German, so that the article tells singular and plural apart.
_BEINGS = (
    Noun("dog", "dogs", "der Hund", "die Hunde", "le chien", "les chiens"),
    Noun("boy", "boys", "der Junge", "die Jungen", "le garçon", "les garçons"),
    Noun("man", "men", "der Mann", "die Männer", "l'homme", "les hommes"),
    Noun("child", "children", "das Kind", "die Kinder", "l'enfant", "les enfants"),
    Noun("girl", "girls", "das Mädchen", "die Mädchen", "la fille", "les filles"),
    Noun("teacher", "teachers", "der Lehrer", "die Lehrer", "le professeur", "les professeurs"),
    Noun("doctor", "doctors", "der Arzt", "die Ärzte", "le médecin", "les médecins"),
    Noun("bird", "birds", "der Vogel", "die Vögel", "l'oiseau", "les oiseaux"),
    Noun("horse", "horses", "das Pferd", "die Pferde", "le cheval", "les chevaux"),
    Noun("student", "students", "der Student", "die Studenten", "l'étudiant", "les étudiants"),
    Noun("friend", "friends", "der Freund", "die Freunde", "l'ami", "les amis"),
    Noun("farmer", "farmers", "der Bauer", "die Bauern", "le fermier", "les fermiers"),
    Noun("soldier", "soldiers", "der Soldat", "die Soldaten", "le soldat", "les soldats"),
    Noun("player", "players", "der Spieler", "die Spieler", "le joueur", "les joueurs"),
    Noun("baby", "babies", "das Baby", "die Babys", "le bébé", "les bébés"),
)


class Verb(NamedTuple):
    """A verb and its rest: English now and before; German, its plural and past; French likewise."""

    now: str
    then: str
    german: str
    germans: str
    german_then: str
    french: str
    frenchs: str
    french_then: str
    rest: str
    german_rest: str
    french_rest: str


_VERBS = [
    Verb(*line.split("|"))
    for line in """\
plays|played|spielt|spielen|spielte|joue|jouent|a joué|in the garden|im Garten|dans le jardin
works|worked|arbeitet|arbeiten|arbeitete|travaille|travaillent|a travaillé|in the garden|im Garten|dans le jardin
sleeps|slept|schläft|schlafen|schlief|dort|dorment|a dormi|in the car|im Auto|dans la voiture
sings|sang|singt|singen|sang|chante|chantent|a chanté|in the street|auf der Straße|dans la rue
eats|ate|isst|essen|aß|mange|mangent|a mangé|an apple|einen Apfel|une pomme
drinks|drank|trinkt|trinken|trank|boit|boivent|a bu|the water|das Wasser|l'eau
sees|saw|sieht|sehen|sah|voit|voient|a vu|the house|das Haus|la maison
lives|lived|lebt|leben|lebte|vit|vivent|a vécu|in the city|in der Stadt|dans la ville
swims|swam|schwimmt|schwimmen|schwamm|nage|nagent|a nagé|in the lake|im See|dans le lac
runs|ran|rennt|rennen|rannte|court|courent|a couru|through the park|durch den Park|à travers le parc
laughs|laughed|lacht|lachen|lachte|rit|rient|a ri|in the car|im Auto|dans la voiture
dances|danced|tanzt|tanzen|tanzte|danse|dansent|a dansé|in the street|auf der Straße|dans la rue
waits|waited|wartet|warten|wartete|attend|attendent|a attendu|at the door|an der Tür|à la porte
sits|sat|sitzt|sitzen|saß|est assis|sont assis|était assis|on the floor|auf dem Boden|sur le sol
""".splitlines()
]


def number(target: str) -> Iterator[Line]:
    """Singular or plural of the subject: der or die, le or les."""
    for noun, verb in product(_BEINGS, _VERBS):
        sources = f"The {noun.one} {verb.now} {verb.rest}.", f"The {noun.many} {verb.now[:-1]} {verb.rest}."
        if target == "de":
            answers = (f"{_first(noun.german)} {verb.german} {verb.german_rest}.",
                       f"{_first(noun.germans)} {verb.germans} {verb.german_rest}.")  # fmt: skip
        else:
            answers = (f"{_first(noun.french)} {verb.french} {verb.french_rest}.",
                       f"{_first(noun.frenchs)} {verb.frenchs} {verb.french_rest}.")  # fmt: skip
        yield *sources, *answers, noun.one


def tense(target: str) -> Iterator[Line]:
    """Present or past: spielt or spielte, joue or a joué."""
    for verb, noun in product(_VERBS, _BEINGS[:13]):
        sources = f"The {noun.one} {verb.now} {verb.rest}.", f"The {noun.one} {verb.then} {verb.rest}."
        if target == "de":
            answers = (f"{_first(noun.german)} {verb.german} {verb.german_rest}.",
                       f"{_first(noun.german)} {verb.german_then} {verb.german_rest}.")  # fmt: skip
        else:
            answers = (f"{_first(noun.french)} {verb.french} {verb.french_rest}.",
                       f"{_first(noun.french)} {verb.french_then} {verb.french_rest}.")  # fmt: skip
        yield *sources, *answers, verb.now


_STATES = (
    ("tired", "müde", "fatigué"),
    ("happy", "glücklich", "heureux"),
    ("sad", "traurig", "triste"),
    ("old", "alt", "vieux"),
    ("young", "jung", "jeune"),
    ("strong", "stark", "fort"),
    ("small", "klein", "petit"),
    ("big", "groß", "grand"),
    ("rich", "reich", "riche"),
    ("poor", "arm", "pauvre"),
    ("sick", "krank", "malade"),
    ("beautiful", "schön", "beau"),
    ("dangerous", "gefährlich", "dangereux"),
    ("careful", "vorsichtig", "prudent"),
)


def negation(target: str) -> Iterator[Line]:
    """Very or not: sehr or nicht, est or n'est pas."""
    masculine = [noun for noun in _BEINGS if not noun.french.startswith("la ")]
    for (english, german, french), noun in product(_STATES, masculine[:13]):
        sources = f"The {noun.one} is very {english}.", f"The {noun.one} is not {english}."
        if target == "de":
            answers = f"{_first(noun.german)} ist sehr {german}.", f"{_first(noun.german)} ist nicht {german}."
        else:
            answers = f"{_first(noun.french)} est très {french}.", f"{_first(noun.french)} n'est pas {french}."
        yield *sources, *answers, english


# Masculine, then feminine in the target language.
_ANTECEDENTS = {
    "de": [
        (("dog", "der Hund"), ("cat", "die Katze")),
        (("tree", "der Baum"), ("flower", "die Blume")),
        (("table", "der Tisch"), ("lamp", "die Lampe")),
        (("chair", "der Stuhl"), ("door", "die Tür")),
        (("train", "der Zug"), ("bag", "die Tasche")),
        (("ball", "der Ball"), ("clock", "die Uhr")),
        (("garden", "der Garten"), ("city", "die Stadt")),
        (("hat", "der Hut"), ("bottle", "die Flasche")),
        (("bird", "der Vogel"), ("mouse", "die Maus")),
        (("key", "der Schlüssel"), ("kitchen", "die Küche")),
        (("bus", "der Bus"), ("bridge", "die Brücke")),
        (("fish", "der Fisch"), ("cow", "die Kuh")),
        (("mountain", "der Berg"), ("street", "die Straße")),
    ],
    "fr": [
        (("dog", "le chien"), ("mouse", "la souris")),
        (("book", "le livre"), ("car", "la voiture")),
        (("hat", "le chapeau"), ("house", "la maison")),
        (("train", "le train"), ("door", "la porte")),
        (("garden", "le jardin"), ("city", "la ville")),
        (("horse", "le cheval"), ("cow", "la vache")),
        (("bag", "le sac"), ("table", "la table")),
        (("boat", "le bateau"), ("chair", "la chaise")),
        (("ball", "le ballon"), ("flower", "la fleur")),
        (("plane", "l'avion"), ("lamp", "la lampe")),
        (("wall", "le mur"), ("street", "la rue")),
        (("bird", "l'oiseau"), ("bottle", "la bouteille")),
        (("bed", "le lit"), ("kitchen", "la cuisine")),
    ],
}
_LOOKS: dict[str, list[tuple[str, ...]]] = {
    "de": [
        ("is small", "klein ist"), ("is big", "groß ist"), ("is beautiful", "schön ist"), ("is old", "alt ist"),
        ("is green", "grün ist"), ("is white", "weiß ist"), ("is heavy", "schwer ist"), ("is black", "schwarz ist"),
    ],
    "fr": [
        ("is small", "petit", "petite"), ("is big", "grand", "grande"), ("is beautiful", "beau", "belle"),
        ("is old", "vieux", "vieille"), ("is green", "vert", "verte"), ("is white", "blanc", "blanche"),
        ("is heavy", "lourd", "lourde"), ("is black", "noir", "noire"),
    ],
}  # fmt: skip


def pronoun(target: str) -> Iterator[Line]:
    """Gender of what "it" refers to, a word that comes later: er or sie, il or elle."""
    for (masculine, feminine), look in product(_ANTECEDENTS[target], _LOOKS[target]):
        sources = (
            f"Because it {look[0]}, I like the {masculine[0]}.",
            f"Because it {look[0]}, I like the {feminine[0]}.",
        )
        if target == "de":
            accusative = masculine[1].replace("der ", "den ", 1)
            answers = f"Weil er {look[1]}, mag ich {accusative}.", f"Weil sie {look[1]}, mag ich {feminine[1]}."
        else:
            answers = (f"Parce qu'il est {look[1]}, j'aime {masculine[1]}.",
                       f"Parce qu'elle est {look[2]}, j'aime {feminine[1]}.")  # fmt: skip
        yield *sources, *answers, masculine[0]


_MOVES = (
    ("runs", "läuft"), ("walks", "geht"), ("jumps", "springt"), ("dances", "tanzt"),
    ("swims", "schwimmt"), ("flies", "fliegt"), ("falls", "fällt"),
)  # fmt: skip
_PLACES = (
    ("kitchen", "die Küche"), ("school", "die Schule"), ("city", "die Stadt"), ("church", "die Kirche"),
    ("garden", "den Garten"), ("forest", "den Wald"), ("park", "den Park"), ("house", "das Haus"),
    ("water", "das Wasser"), ("room", "das Zimmer"), ("street", "die Straße"), ("river", "den Fluss"),
)  # fmt: skip
_DATIVE = {"die": "in der", "den": "im", "das": "im"}
_ACCUSATIVE = {"die": "in die", "den": "in den", "das": "ins"}


def case(target: str) -> Iterator[Line]:
    """Accusative or dative after "in", for direction or place. French has no case."""
    subjects = cycle(noun for noun in _BEINGS if noun.one not in ("bird", "horse"))
    for place, move in product(_PLACES, _MOVES) if target == "de" else ():
        article, word = place[1].split()
        for noun in islice(subjects, 2):
            begin = f"{_first(noun.german)} {move[1]}"
            yield (
                f"The {noun.one} {move[0]} into the {place[0]}.",
                f"The {noun.one} {move[0]} in the {place[0]}.",
                f"{begin} {_ACCUSATIVE[article]} {word}.",
                f"{begin} {_DATIVE[article]} {word}.",
                place[0],
            )


_NAMES = (
    *("Anna", "Maria", "Peter", "Paul", "Tom", "John", "Emma", "Lisa", "Max"),
    *("Julia", "Thomas", "Martin", "David", "Mary", "Robert", "Laura", "Sarah"),
)
_SCENES = (
    ("I know {}.", "Ich kenne {}.", "Je connais {}."),
    ("I see {} in the garden.", "Ich sehe {} im Garten.", "Je vois {} dans le jardin."),
    ("We are waiting for {}.", "Wir warten auf {}.", "Nous attendons {}."),
    ("She loves {}.", "Sie liebt {}.", "Elle aime {}."),
    ("The child plays with {}.", "Das Kind spielt mit {}.", "L'enfant joue avec {}."),
    ("My friend lives with {}.", "Mein Freund lebt mit {}.", "Mon ami vit avec {}."),
    ("He talked to {} yesterday.", "Er hat gestern mit {} gesprochen.", "Il a parlé à {} hier."),
    ("This is a book for {}.", "Das ist ein Buch für {}.", "C'est un livre pour {}."),
)


def name(target: str) -> Iterator[Line]:
    """A name that is copied."""
    column = 1 if target == "de" else 2
    for scene, (first, one) in product(_SCENES, enumerate(_NAMES)):
        for step in (1, 4):
            other = _NAMES[(first + step) % len(_NAMES)]
            yield (
                scene[0].format(one),
                scene[0].format(other),
                scene[column].format(one),
                scene[column].format(other),
                one,
            )


def _first(words: str) -> str:
    return words[0].upper() + words[1:]


TASKS = {each.__name__: each for each in (number, tense, negation, pronoun, case, name)}


def task_text(task: str, target: str) -> str:
    """Return the file of a task; empty where the language has none."""
    lines: Iterable[Line] = TASKS[task](target)
    rows = ["\t".join(line) for line in dict.fromkeys(lines)]
    about = (TASKS[task].__doc__ or "").splitlines()[0]
    head = [f"# {task}: {about}", f"# Licence: {LICENCE}", "# clean\tcorrupted\tanswer_clean\tanswer_corrupted\tgroup"]
    return "\n".join([*head, *rows]) + "\n" if rows else ""


def main() -> None:
    """Write all tasks."""
    FOLDER.mkdir(exist_ok=True)
    for task, target in product(TASKS, ("de", "fr")):
        if text := task_text(task, target):
            (FOLDER / f"{task}.en-{target}.tsv").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
