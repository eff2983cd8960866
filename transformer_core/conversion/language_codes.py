"""The languages of a foreign model as BCP 47 codes, from whatever its files call them.

`eng_Latn` (NLLB), `en_XX` (mBART), `eng` (OPUS-MT) and `en` (M2M-100) are all `en`.
"""

from __future__ import annotations

import re

from transformer_core.conversion.foreign_folder import ForeignFolder

CARD_FILE = "README.md"
MAX_CARD_BYTES = 1_000_000
_TOKENIZER_CONFIG = "tokenizer_config.json"
_CODE = re.compile(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|XX))?")
_PAIR = re.compile(r"opus-mt(?:-tc)?(?:-big|-base|-tiny|-bible)*-([a-z]{2,3})-([a-z]{2,3})")
_STATED = r"^[*-]?[ \t]*{side} language(?:s|\(s\))?:[ \t]*([\w, -]{{2,200}})$"
# ISO 639-3 (and 639-2/B, `cmn` for written Chinese) -> the two letters that BCP 47 asks for.
_PAIRS = """
afr:af amh:am ara:ar arb:ar asm:as aze:az azj:az bel:be ben:bn bod:bo bos:bs bul:bg cat:ca ces:cs cmn:zh cym:cy dan:da
deu:de ell:el eng:en epo:eo est:et eus:eu fao:fo fas:fa fin:fi fra:fr gle:ga glg:gl guj:gu hat:ht hau:ha heb:he hin:hi
hrv:hr hun:hu hye:hy ibo:ig ind:id isl:is ita:it jav:jv jpn:ja kan:kn kat:ka kaz:kk khk:mn khm:km kin:rw kir:ky kor:ko
lao:lo lat:la lav:lv lvs:lv lin:ln lit:lt ltz:lb lug:lg mal:ml mar:mr mkd:mk mlt:mt mon:mn mri:mi msa:ms mya:my nep:ne
npi:ne nld:nl nno:nn nob:nb nor:no oci:oc ory:or pan:pa pes:fa plt:mg pol:pl por:pt prs:fa pus:ps pbt:ps ron:ro run:rn
rus:ru san:sa sin:si slk:sk slv:sl smo:sm sna:sn snd:sd som:so sot:st spa:es sqi:sq als:sq srd:sc srp:sr ssw:ss sun:su
swa:sw swe:sv swh:sw tam:ta tat:tt tel:te tgk:tg tgl:tl tha:th tir:ti tsn:tn tso:ts tuk:tk tur:tr uig:ug ukr:uk urd:ur
uzb:uz uzn:uz vie:vi wol:wo xho:xh ydd:yi yid:yi yor:yo zho:zh zsm:ms zul:zu
"""
_SHORT = dict(pair.split(":") for pair in _PAIRS.split())
_SCRIPT_MATTERS = frozenset({"zh", "sr", "az", "uz", "ks"})  # written in several; of the others it says nothing new


def bcp47(name: str) -> str:
    """The BCP 47 code of a language as a model's files name it; empty for what is no such name."""
    found = _CODE.fullmatch(name)
    if found is None:
        return ""
    language, script, region = found[1].lower(), found[2], found[3]
    language = _SHORT.get(language, language)
    if script and (language in _SCRIPT_MATTERS or len(language) == 3):
        return f"{language}-{script.title()}"
    return f"{language}-{region.upper()}" if region and region.upper() != "XX" and language == "zh" else language


def stated(folder: ForeignFolder) -> tuple[str, str]:
    """Source and target language of a model for one pair, as its folder states them; empty where it does not.

    Its tokenizer's configuration comes first, then its card, and last its own name, such as `opus-mt-ko-en`.
    """
    config = folder.json_if_there(_TOKENIZER_CONFIG)
    pair = _PAIR.fullmatch(folder.path.resolve().name)
    card = card_of(folder)
    found = []
    for number, side in enumerate(("source", "target"), start=1):
        named = re.search(_STATED.format(side=side), card, re.MULTILINE)
        guesses = (config.get(f"{side}_lang"), named and named[1], pair and pair[number])
        codes = (_only_one(guess) for guess in guesses if isinstance(guess, str))
        found.append(next(filter(None, codes), ""))
    return found[0], found[1]


def _only_one(names: str) -> str:
    """The code that all of these names mean, such as `kor_Hang kor_Latn kor`; empty where they are of several."""
    codes = [bcp47(name) for name in re.split("[, ]+", names.strip())]
    return codes[0] if len({code.split("-")[0] for code in codes}) == 1 else ""


def card_of(folder: ForeignFolder) -> str:
    """The model card of a folder; empty where there is none."""
    if not folder.has(CARD_FILE):
        return ""
    return folder.contents(CARD_FILE, MAX_CARD_BYTES).decode("utf-8", "replace")
