"""Generate the table of languages, and the list of all others that have an ISO 639-3 code.

    python -m tools.languages

writes `bilingual_crawler/data/languages.json` and `bilingual_crawler/data/further_languages.tsv`.

Codes, names and macrolanguages come from ISO 639 (python-iso639); endonyms, countries, locales and
numbers of speakers from CLDR (babel, language_data); the languages that CLD2 detects from pycld2.
The crawler itself needs none of these to read the table. What those sources lack is added below by
hand, with the reason.
"""
# ruff: noqa: RUF001 - languages are written in their own letters

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import iso639
import pycld2
from babel import Locale, localedata
from babel.core import get_global
from babel.languages import get_territory_language_info
from language_data.name_data import CODE_TO_NAMES
from language_data.population_data import LANGUAGE_SPEAKING_POPULATION

DATA = Path(__file__).parent.parent / "bilingual_crawler" / "data"
TABLE = DATA / "languages.json"
FURTHER_TABLE = DATA / "further_languages.tsv"
SOURCES = ("babel", "language_data", "pycld2", "python-iso639")

# Codes that lead to another language: the macrolanguage is what people write and what
# CLD2 says (Norwegian), or the two are one written language (Filipino); Serbo-Croatian
# goes where CLDR sends it.
FOLDED = {"nob": "nor", "fil": "tgl", "hbs": "srp"}

# CLD2 codes that are neither ISO 639-1 nor ISO 639-3. It learned Bihari from Bhojpuri
# pages, and tells Buginese and Gothic by their scripts.
CLD2_CODES = {
    "bh": "bho",
    "iw": "heb",
    "jw": "jav",
    "sr-ME": "cnr",
    "xx-Bugi": "bug",
    "xx-Goth": "got",
    "zh-Hant": "zho",
}
# Names of CLD2 that say no more than another, or need their code to be understood.
CLD2_NO_NAMES = {"ChineseT", "LUO_KENYA_AND_TANZANIA", "NORWEGIAN_N", "WARAY_PHILIPPINES"}

# Languages with pages on the web that neither ISO 639-1 nor CLD2 names.
FURTHER = """
    ace acf ady alz anc apc ast avk bbj bem bik bto bzt cjk ckb crh din dje dsb dyu evn fak
    fon fur fuv gcc gcf grc gsw hop hsb hsn isv jbe kab kam kbd kbp kmb kpv kxd ldn lgg lij
    liv lld ltg luw mkw mnk mos nan ndc nds neu nus nyn oso pap pcm qya sah sba scn shn sjn
    smn sms sty szl taq teo tiv tok tvl tzl udm umb vec vro yue zgh
"""

# ISO 639-2 codes of groups whose members people call one language; ISO 639-3 has only the members,
# whose names contain the word.
COLLECTIONS = {"nah": "Nahuatl", "oto": "Otomi", "btk": "Batak", "smi": "Sami", "wen": "Sorbian"}
COLLECTION_ENDONYMS = {"nah": ["Nāhuatl", "Nahuatlahtolli"], "oto": ["Hñähñu"]}

# English names: the first becomes the name, where CLDR's is the less known one.
NAMES = {
    "arn": ["Mapudungun"],
    "ben": ["Bengali", "Bangla"],
    "btk": ["Batak"],
    "fas": ["Persian", "Farsi"],
    "ilo": ["Ilocano"],
    "nah": ["Nahuatl"],
    "oto": ["Otomi"],
    "quc": ["K'iche'"],
    "smi": ["Sami"],
    "wen": ["Sorbian"],
    "zho": ["Chinese", "Mandarin"],
}

# Endonyms that CLDR lacks.
ENDONYMS = {
    "aar": ["Qafar"],
    "ady": ["адыгабзэ"],
    "ava": ["магӏарул мацӏ"],
    "aym": ["aymar aru"],
    "bis": ["Bislama"],
    "bug": ["ᨅᨔ ᨕᨘᨁᨗ", "basa Ugi"],
    "cat": ["valencià"],
    "cha": ["Chamoru"],
    "chu": ["словѣньскъ"],
    "cnr": ["crnogorski", "црногорски"],
    "cre": ["ᓀᐦᐃᔭᐍᐏᐣ"],
    "crh": ["qırımtatarca"],
    "crs": ["kreol seselwa"],
    "div": ["ދިވެހި"],
    "fij": ["vosa Vakaviti"],
    "got": ["𐌲𐌿𐍄𐌹𐍃𐌺"],
    "her": ["Otjiherero"],
    "hmn": ["Hmoob"],
    "hmo": ["Hiri Motu"],
    "iku": ["ᐃᓄᒃᑎᑐᑦ", "inuktitut"],
    "ipk": ["Iñupiatun"],
    "isv": ["medžuslovjansky"],
    "kbd": ["адыгэбзэ"],
    "kha": ["Ka Ktien Khasi"],
    "kom": ["коми кыв"],
    "kon": ["Kikongo"],
    "kri": ["Krio"],
    "kua": ["Oshikwanyama"],
    "lif": ["Yakthungpan"],
    "lim": ["Limburgs"],
    "liv": ["līvõ kēļ"],
    "loz": ["siLozi"],
    "ltg": ["latgalīšu"],
    "lua": ["Tshiluba"],
    "mos": ["mooré"],
    "nau": ["dorerin Naoero"],
    "nbl": ["isiNdebele"],
    "ndo": ["Oshindonga"],
    "new": ["नेपाल भाषा"],
    "nor": ["bokmål"],
    "nya": ["Chichewa"],
    "oji": ["Anishinaabemowin"],
    "pam": ["Kapampangan"],
    "pli": ["पालि"],
    "ron": ["moldovenească"],
    "sco": ["Scots"],
    "smo": ["gagana Sāmoa"],
    "spa": ["castellano"],
    "tah": ["reo Tahiti"],
    "tgl": ["Tagalog", "Wikang Tagalog"],
    "tlh": ["tlhIngan Hol"],
    "tso": ["Xitsonga"],
    "tum": ["chiTumbuka"],
    "twi": ["Twi"],
    "udm": ["удмурт кыл"],
    "vro": ["võro kiil"],
    "war": ["Winaray"],
    "zho": ["汉语", "漢語", "简体中文", "繁體中文"],
}

# Country codes written where a language code belongs; none is an ISO 639-1 code.
COUNTRY_CODES = {
    "ces": ["cz"],
    "dan": ["dk"],
    "ell": ["gr"],
    "eng": ["us"],
    "jpn": ["jp"],
    "kat": ["ge"],
    "kaz": ["kz"],
    "srp": ["rs"],
    "ukr": ["ua"],
    "vie": ["vn"],
    "zho": ["cn"],
}

# Other tags that mean a language: Serbian of Montenegro is CLD2's Montenegrin, Bihari was
# withdrawn, and `no-bok` and `no-nyn` are how Norwegian was tagged before ISO 639-1.
TAGS = {
    "bho": ["bh", "bih"],
    "cnr": ["sr-me"],
    "nno": ["no-nyn"],
    "nor": ["no-bok"],
    "ron": ["mol"],
}

# Abbreviations and romanised endonyms that URLs may carry, and the old code of Hebrew.
TOKENS = {
    "bel": ["belaruskaya"],
    "bre": ["bzh"],
    "bul": ["balgarski", "bulgarski"],
    "cat": ["va", "val"],
    "cnr": ["sr-me"],
    "ell": ["ellinika"],
    "glg": ["gal"],
    "heb": ["iw", "ivrit"],
    "hye": ["hayeren"],
    "jpn": ["nihongo"],
    "kat": ["kartuli"],
    "kaz": ["qazaqsha"],
    "kor": ["hangugeo"],
    "mkd": ["makedonski"],
    "mon": ["mongol"],
    "por": ["ptbr"],
    "rus": ["russkij", "russkiy"],
    "spa": ["cas", "cast", "esp"],
    "ukr": ["ukrainska", "ukrayinska"],
    "zho": ["chs", "cht", "cmn", "hanyu", "zh-chs", "zh-cht", "zhongwen"],
}

# CLDR counts Montenegrin as Serbian and Twi as Akan.
COUNTRIES = {"cnr": ["me"], "twi": ["gh"]}

# Tokens that far more often mean something else: English words and file names, and (see
# `word_tokens`) the names of countries.
NO_TOKENS = {"fang", "iron", "liv", "mong", "neo", "sh"}

# CLDR regions without an ISO 3166-1 code of their own.
NO_COUNTRIES = {"AC", "CP", "CQ", "DG", "EA", "IC", "TA", "XK"}

# A country counts as home of a language if this share of its speakers live there.
SHARE_OF_SPEAKERS = 0.05

# Letters with a stroke and the like, which Unicode does not take apart.
STROKES = str.maketrans(
    {"đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ł": "l", "ø": "o", "ə": "e", "æ": "ae", "œ": "oe"}
    | dict.fromkeys("'’‘ʻʼ", "")
)

ISO = {each.part3: each for each in iso639.ALL_LANGUAGES if each.status == "A"}
ISO1 = {each.part1: each.part3 for each in ISO.values() if each.part1}
ENGLISH = Locale("en")
COUNTRY_NAMES = {name.casefold() for name in ENGLISH.territories.values()}


def identity(tag: str) -> str:
    """Return the ISO 639-3 code used in the table for the first part of a language tag."""
    primary = re.split("[-_]", tag)[0].lower()
    code = ISO1.get(primary, primary)
    return FOLDED.get(code, code)


def cld2_codes() -> dict[str, list[str]]:
    """Return the CLD2 codes of each language, without scripts and jokes."""
    codes = defaultdict(set)
    for _, code in pycld2.LANGUAGES:
        language = CLD2_CODES.get(code) or identity(code)
        if language in ISO and (code in CLD2_CODES or "-" not in code):
            codes[language].add(code)
    return {language: sorted(found) for language, found in codes.items()}


def plain(text: str) -> str:
    """Return `text` as typed without diacritics; other scripts need their marks."""
    letters = [char for char in text if char.isalpha()]
    if not all(unicodedata.name(char).startswith(("LATIN", "GREEK")) for char in letters):
        return text
    apart = unicodedata.normalize("NFKD", text.translate(STROKES))
    return "".join(char for char in apart if not unicodedata.combining(char))


def word_tokens(names: Iterable[str]) -> set[str]:
    """Return the forms of names in URLs; the reader adds "_" wherever there is a "-"."""
    words = {name.lower() for name in names if "(" not in name}
    words = {word for word in words if word not in COUNTRY_NAMES | NO_TOKENS}
    words |= {plain(word) for word in words}
    return {"-".join(word.split()) for word in words} | {"".join(word.split()) for word in words}


def english_names(code: str, folded: list[str], cld2: list[str]) -> list[str]:
    """Return the English name, then all others, from CLDR, ISO 639 and CLD2."""
    names = list(NAMES.get(code, ()))
    for each in (code, *folded):
        language = ISO[each]
        names += filter(None, [ENGLISH.languages.get(language.part1 or each), language.name])
        names += [name.print for name in language.other_names or ()]
    names += [
        name.replace("_", " ").title()
        for name, cld2_code in pycld2.LANGUAGES
        if cld2_code in cld2 and name not in CLD2_NO_NAMES and not name.startswith("X_")
    ]
    names += [re.sub(r" *\(.*?\)", "", name) for name in names]
    return list(dict.fromkeys(names))


def endonyms(code: str, folded: list[str]) -> list[str]:
    """Return a language's names for itself, in each of its scripts, most usual first."""
    found = []
    for each in (code, *folded):
        tag = ISO[each].part1 or each
        names = CODE_TO_NAMES.get(tag, {})
        found += [names[key] for key in sorted(names) if key == tag or key.startswith(f"{tag}-")]
    found = [name for name in found if not name.startswith("𐐀")]  # English in Deseret letters
    found = [re.sub(r" *\(.*?\)", "", name) for name in found]
    found += ENDONYMS.get(code, [])
    return list(dict.fromkeys(unicodedata.normalize("NFC", name) for name in found))


def homes() -> dict[str, list[str]]:
    """Return the countries of each language, the one with most speakers first.

    A country counts if the language is official there, in the whole country or in a region, if a
    fair share of its speakers live there, or if CLDR names it as the likely country.
    """
    speakers: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for tag, count in LANGUAGE_SPEAKING_POPULATION.items():
        if region := re.search("-([A-Z]{2})$", tag):
            people = speakers[identity(tag)]
            people[region[1]] = max(count, people[region[1]])
    countries: dict[str, set[str]] = defaultdict(set)
    for code, people in speakers.items():
        least = SHARE_OF_SPEAKERS * sum(people.values())
        countries[code] |= {country for country, count in people.items() if count >= least}
    for country in get_global("territory_languages"):
        for tag, facts in get_territory_language_info(country).items():
            if facts["official_status"]:
                countries[identity(tag)].add(country)
    for tag, likely in get_global("likely_subtags").items():
        country = likely.rpartition("_")[2]
        if tag.isalpha() and country.isalpha() and is_living(identity(tag)):
            countries[identity(tag)].add(country)
    return {
        code: [
            country.lower()
            for _, country in sorted((-speakers[code][each], each) for each in found - NO_COUNTRIES)
        ]
        for code, found in countries.items()
    }


def is_living(code: str) -> bool:
    """Return True for a living language; CLDR also places Gothic where the Goths were."""
    return code in ISO and ISO[code].type == "L"


def locales() -> dict[str, set[str]]:
    """Return the CLDR locales of each language, such as zh-hant-tw and es-419."""
    found = defaultdict(set)
    for name in localedata.locale_identifiers():
        if "_" in name:
            found[identity(name)].add(name.lower().replace("_", "-"))
    return found


def aliases(languages: set[str]) -> dict[str, set[str]]:
    """Return codes that are not in the table, by the language they stand for.

    These are members of a macrolanguage (cmn, arb, zsm) and withdrawn codes (mo, scc).
    """
    own = {ISO[code].part1 for code in languages} | languages
    found = defaultdict(set)
    for code, language in ISO.items():
        found[FOLDED.get(code) or language.macrolanguage].add(code)
        if code in FOLDED:
            found[FOLDED[code]].add(language.part1 or "")
    for old, new in get_global("language_aliases").items():
        found[identity(new)].add(old)
    for table in (TAGS, COUNTRY_CODES):
        for code, tags in table.items():
            found[code].update(tags)
    return {code: {alias for alias in found[code] - own if alias} for code in languages}


def row(code: str, cld2: list[str], tags: set[str], countries: list[str]) -> dict[str, Any]:
    """Return one language, without empty fields."""
    language = ISO[code]
    folded = sorted(old for old, new in FOLDED.items() if new == code)
    name, *names = english_names(code, folded, cld2)
    endo = endonyms(code, folded)
    own_codes = {code, language.part1, language.part2b, language.part2t}
    tokens = word_tokens([name, *names, *endo]) | {*folded, *(ISO[old].part1 for old in folded)}
    tokens |= {*TOKENS.get(code, ()), *COUNTRY_CODES.get(code, ())}
    values = {
        "code": code,
        "iso639_1": language.part1,
        "iso639_2": sorted({each for each in (language.part2b, language.part2t) if each}),
        "cld2": cld2,
        "name": name,
        "endonyms": endo,
        "countries": countries,
        "names": sorted(names),
        "aliases": sorted(tags - own_codes),
        "tokens": sorted(each for each in tokens - own_codes - NO_TOKENS if each),
    }
    return {key: value for key, value in values.items() if value}


def further_names(code: str) -> list[str]:
    """Return the English names of a language that is not in the table, the usual one first."""
    language = ISO.get(code)
    names = [*NAMES.get(code, ()), ENGLISH.languages.get(code)]
    names.append(CODE_TO_NAMES.get(code, {}).get("en"))
    if language is not None:
        names += [language.name, *(name.print for name in language.other_names or ())]
    plain_names = [re.sub(r" *\(.*?\)", "", name).strip() for name in names if name]
    return list(dict.fromkeys(" ".join(name.split()) for name in plain_names))


def further_macro(code: str, names: list[str]) -> str:
    """Return the language that a variety belongs to; "" if it is one of its own."""
    collection = next((each for each, word in COLLECTIONS.items() if word in names[0]), "")
    return ISO[code].macrolanguage or (collection if collection != code else "")


def render_further() -> str:
    """Return the list of all languages that are not in the table, one per line."""
    table = build()
    taken = {each["code"] for each in table}
    taken |= {code for each in table for code in each.get("aliases", ())}
    countries = homes()
    lines = ["code\tnames\tendonyms\tcountries\tmacrolanguage\n"]
    for code in sorted({*ISO, *COLLECTIONS} - taken):
        if code in ISO and ISO[code].scope == "S":
            continue
        names = further_names(code)
        row = (
            code,
            "|".join(names),
            "|".join(endonyms(code, []) if code in ISO else COLLECTION_ENDONYMS.get(code, [])),
            " ".join(countries.get(code, ())),
            further_macro(code, names) if code in ISO else "",
        )
        lines.append("\t".join(row).rstrip() + "\n")
    return "".join(lines)


def build() -> list[dict[str, Any]]:
    """Return all languages, sorted by code."""
    cld2, countries, regional = cld2_codes(), homes(), locales()
    languages = {identity(code) for code in (*cld2, *ISO1.values(), *FURTHER.split())}
    other_codes = aliases(languages)
    codes = {ISO[code].part1 for code in languages} | languages  # no other language's token
    rows = []
    for code in sorted(languages):
        made = row(
            code,
            cld2.get(code, []),
            other_codes[code],
            COUNTRIES.get(code) or countries.get(code, []),
        )
        short = made.get("iso639_1", code)
        known = {f"{short}-{country}" for country in made.get("countries", ())}
        made["tokens"] = sorted({*made.get("tokens", ())} - codes | regional[code] - known)
        rows.append(made)
    return rows


def render() -> str:
    """Return the file: the versions of its sources, then one language per line."""
    sources = {source: version(source) for source in SOURCES}
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in build())
    return f'{{"sources": {json.dumps(sources)},\n"languages": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    TABLE.write_text(render(), encoding="utf-8")
    FURTHER_TABLE.write_text(render_further(), encoding="utf-8")
    print(f"wrote {TABLE} and {FURTHER_TABLE}")
