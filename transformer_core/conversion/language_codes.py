"""Languages of a foreign model as BCP 47 codes.

`eng_Latn` (NLLB), `en_XX` (mBART), `eng` (OPUS-MT) and `en` (M2M-100) are all `en`.
"""

from __future__ import annotations

import re

from transformer_core.conversion.foreign_folder import ForeignFolder
from transformer_core.extras import extra

CARD_FILE = "README.md"
MAX_CARD_BYTES = 1_000_000
_TOKENIZER_CONFIG = "tokenizer_config.json"
_CODE = re.compile(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|XX))?")
_PAIR = re.compile(r"opus-mt(?:-tc)?(?:-big|-base|-tiny|-bible)*-([a-z]{2,3})-([a-z]{2,3})")
_STATED = r"^[*-]?[ \t]*{side} language(?:s|\(s\))?:[ \t]*([\w, -]{{2,200}})$"
_NOT_IN_CLDR = {"pbt": "ps", "tgl": "tl"}
_SCRIPT_MATTERS = frozenset({"zh", "sr", "az", "uz", "ks"})  # languages with several scripts


def bcp47(name: str) -> str:
    """Return the BCP 47 code of a language named in a model's files; empty for other text."""
    code = _CODE.fullmatch(name)
    if code is None:
        return ""
    language, script, region = code[1].lower(), code[2], code[3]
    if len(language) == 3:  # CLDR: ISO 639-2 and 639-3 -> the shortest code
        with extra("convert"):
            from babel.core import get_global

        language = _NOT_IN_CLDR.get(language) or get_global("language_aliases").get(language, language).split("_")[0]
    if script and (language in _SCRIPT_MATTERS or len(language) == 3):
        return f"{language}-{script.title()}"
    return f"{language}-{region.upper()}" if region and region.upper() != "XX" and language == "zh" else language


def stated(folder: ForeignFolder) -> tuple[str, str]:
    """Return source and target language of a model for one pair, as its folder states them; empty if it does not.

    The tokenizer's configuration comes first, then the model card, then a folder name such as `opus-mt-ko-en`.
    """
    config = folder.json_if_there(_TOKENIZER_CONFIG)
    pair = _PAIR.fullmatch(folder.path.resolve().name)
    card = card_of(folder)
    languages = []
    for number, side in enumerate(("source", "target"), start=1):
        named = re.search(_STATED.format(side=side), card, re.MULTILINE)
        guesses = (config.get(f"{side}_lang"), named and named[1], pair and pair[number])
        codes = (_only_one(guess) for guess in guesses if isinstance(guess, str))
        languages.append(next(filter(None, codes), ""))
    return languages[0], languages[1]


def _only_one(names: str) -> str:
    """Return the common code of names such as `kor_Hang kor_Latn kor`; empty for several languages."""
    codes = [bcp47(name) for name in re.split("[, ]+", names.strip())]
    return codes[0] if len({code.split("-")[0] for code in codes}) == 1 else ""


def card_of(folder: ForeignFolder) -> str:
    """Return the model card of a folder; empty if there is none."""
    if not folder.has(CARD_FILE):
        return ""
    return folder.contents(CARD_FILE, MAX_CARD_BYTES).decode("utf-8", "replace")
