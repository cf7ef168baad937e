"""Which library splits sentences best: boundaries found in difficult text.

pip install sentencex syntok pysbd sentence-splitter blingfire segtok
python -m benchmarks.splitters

The sentences are in nine languages, each with something that misleads a splitter: titles and
abbreviations, decimals, dates and ordinals, versions, addresses, quoted speech, ellipses. A library
gets them as one paragraph. The counts are the boundaries that it found, and those that it made up.
"ours" is `alignment.splitting.sentences`.

With the help pages of LibreOffice (alignment_gold.py says how to get them; --root DIR) there is a
second table: of the real paragraphs with several sentences in either language, the share with the
same number in both. Translators join and split sentences too, so no library reaches 1.
"""

import argparse
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from benchmarks.alignment_gold import HELP, PAIRS, Languages, named_paragraphs, page_names
from bilingual_crawler.alignment.splitting import sentences
from bilingual_crawler.languages import language_of_tag

Splitter = Callable[[str, str], list[str]]
ROUNDS = 200
PAGES = 40

TEXTS = {
    "es": (
        "El Sr. García y la Dra. Ruiz llegaron a las 10.30 h.",
        "¿Cuánto cuesta la entrada?",
        "Cuesta 3,50 € por persona (véase el art. 4 del reglamento).",
        "«No lo sé...», respondió ella.",
        "Escriba a info@ejemplo.es o visite www.ejemplo.es/ayuda.html para saber más.",
        "¡Qué bien!",
        "La versión 2.4.1 salió a las 5 p. m. del 5 de enero de 2020.",
        "EE. UU. firmó el acuerdo, p. ej. en materia de pesca.",
        "Vive en la Avda. de la Paz, n.º 12, 3.º izq.",
        "Luego continuó…",
        "Nadie contestó.",
    ),
    "eu": (
        "Garcia jn. eta Etxeberria and. 10:30ean iritsi ziren.",
        "Zenbat balio du sarrerak?",
        "3,50 € balio du (ikus 4. artikulua).",
        "«Ez dakit...», erantzun zuen.",
        "Idatzi info@adibidea.eus helbidera edo bisitatu www.adibidea.eus/laguntza.html gunea.",
        "Zein ondo!",
        "2.4.1 bertsioa 2020ko urtarrilaren 5ean atera zen.",
        "XIX. mendean eraiki zuten dorrea.",
        "Hainbat hizkuntzatan dago, adib. euskaraz eta gaztelaniaz.",
        "Gero jarraitu zuen…",
        "Inork ez zuen erantzun.",
    ),
    "is": (
        "Hr. Jón Jónsson kom kl. 10.30 ásamt dr. Önnu.",
        "Hvað kostar miðinn?",
        "Hann kostar 1.500 kr. á mann (sjá 4. gr. laganna).",
        "„Ég veit það ekki...“ svaraði hún.",
        "Sendið póst á info@daemi.is eða farið á www.daemi.is/hjalp.html til að fá meira.",
        "Frábært!",
        "Útgáfa 2.4.1 kom út 5. janúar 2020.",
        "Kirkjan var reist á 19. öld.",
        "Hægt er að velja t.d. ensku eða íslensku.",
        "Svo hélt hann áfram…",
        "Enginn svaraði.",
    ),
    "mt": (
        "Is-Sur Borg u Dr. Vella waslu fl-10.30 a.m. mal-familja.",
        "Kemm jiswa l-biljett?",
        "Jiswa €3.50 kull persuna (ara l-Art. 4 tar-regolament).",
        '"Ma nafx..." wieġbet hi.',
        "Ikteb lil info@ezempju.mt jew żur www.ezempju.mt/ghajnuna.html għal aktar.",
        "X'sabiħ!",
        "Il-verżjoni 2.4.1 ħarġet fil-5 ta' Jannar 2020.",
        "Il-belt għandha ħafna knejjes, eż. il-Kon-Katidral ta' San Ġwann.",
        "Wara kompla jitkellem…",
        "Ħadd ma wieġeb.",
    ),
    "fi": (
        "Hra Virtanen ja tri Korhonen saapuivat klo 10.30.",
        "Paljonko lippu maksaa?",
        "Se maksaa 3,50 € henkilöltä (ks. 4 §).",
        "”En tiedä...”, hän vastasi.",
        "Kirjoita osoitteeseen info@esimerkki.fi tai katso www.esimerkki.fi/ohje.html sivulta.",
        "Hienoa!",
        "Versio 2.4.1 julkaistiin 5. tammikuuta 2020.",
        "Kirkko rakennettiin 1800-luvulla, ks. s. 12.",
        "Valittavana on esim. suomi tai ruotsi.",
        "Sitten hän jatkoi…",
        "Kukaan ei vastannut.",
    ),
    "el": (
        "Ο κ. Παπαδόπουλος και η Δρ. Νικολάου έφτασαν στις 10.30 π.μ. με το τρένο.",
        "Πόσο κοστίζει το εισιτήριο;",
        "Κοστίζει 3,50 € ανά άτομο (βλ. άρθρο 4).",
        "«Δεν ξέρω...», απάντησε εκείνη.",
        "Γράψτε στο info@paradeigma.gr ή δείτε το www.paradeigma.gr/voithia.html για περισσότερα.",
        "Τι ωραία!",
        "Η έκδοση 2.4.1 κυκλοφόρησε στις 5 Ιανουαρίου 2020.",
        "Υπάρχουν πολλές γλώσσες, π.χ. ελληνικά και αγγλικά.",
        "Ύστερα συνέχισε…",
        "Κανείς δεν απάντησε.",
    ),
    "ar": (
        "وصل د. أحمد والسيد خالد في الساعة 10.30 صباحًا.",
        "كم سعر التذكرة؟",
        "السعر 3.50 يورو للشخص (انظر المادة 4).",
        "قالت: «لا أعرف...».",
        "اكتبوا إلى info@mithal.org أو زوروا www.mithal.org/help.html لمعرفة المزيد.",
        "ما أجمل هذا!",
        "صدر الإصدار 2.4.1 في 5 يناير 2020.",
        "ثم تابع حديثه؛ وكان الجميع صامتين.",
        "لم يجب أحد.",
    ),
    "zh": (
        "王先生和李博士在10:30到达。",
        "门票多少钱？",
        "每人3.50欧元（见第4条）。",
        "“我不知道。”她回答说。",
        "请写信到info@lizi.cn，或访问www.lizi.cn/help.html。",
        "太好了！",
        "2.4.1版于2020年1月5日发布。",
        "然后他继续说下去……",
        "没有人回答。",
    ),
    "hi": (
        "डॉ. शर्मा और श्री वर्मा सुबह 10.30 बजे पहुँचे।",
        "टिकट कितने का है?",
        "यह 3.50 यूरो प्रति व्यक्ति है (अनुच्छेद 4 देखें)।",
        "“मुझे नहीं पता...”, उसने कहा।",
        "info@udaharan.in पर लिखें या www.udaharan.in/help.html देखें।",
        "बहुत बढ़िया!",
        "संस्करण 2.4.1, 5 जनवरी 2020 को आया।",
        "फिर वह आगे बढ़ा।",
        "किसी ने उत्तर नहीं दिया।",
    ),
}


class Outcome(NamedTuple):
    found: int
    made_up: int
    missed: int

    @property
    def f1(self) -> float:
        return 2 * self.found / max(1, 2 * self.found + self.made_up + self.missed)


def ends(parts: list[str]) -> set[int]:
    """Return where parts end, ignoring white space; the end of the text does not count."""
    found, at = set(), 0
    for part in parts:
        at += len("".join(part.split()))
        found.add(at)
    return found - {at}


def outcome(splitter: Splitter, code: str) -> Outcome:
    gold = TEXTS[code]
    text = ("" if code == "zh" else " ").join(gold)
    right, found = ends(list(gold)), ends(splitter(text, code))
    return Outcome(len(right & found), len(found - right), len(right - found))


def _sentencex() -> Splitter:
    module = import_module("sentencex")
    return lambda text, code: list(module.segment(code, text))


def _syntok() -> Splitter:
    module = import_module("syntok.segmenter")

    def split(text: str, _: str) -> list[str]:
        found = [part for paragraph in module.process(text) for part in paragraph]
        starts = [part[0].offset for part in found]
        return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]

    return split


def _pysbd() -> Splitter:
    module = import_module("pysbd")
    known = import_module("pysbd.languages").LANGUAGE_CODES

    def split(text: str, code: str) -> list[str]:
        language = code if code in known else "en"
        return list(module.Segmenter(language=language, clean=False).segment(text))

    return split


def _sentence_splitter() -> Splitter:
    module = import_module("sentence_splitter")

    def split(text: str, code: str) -> list[str]:
        try:
            return list(module.split_text_into_sentences(text, language=code))
        except module.SentenceSplitterException:
            return list(module.split_text_into_sentences(text, language="en"))

    return split


def _blingfire() -> Splitter:
    module = import_module("blingfire")
    return lambda text, _: str(module.text_to_sentences(text)).split("\n")


def _segtok() -> Splitter:
    module = import_module("segtok.segmenter")
    return lambda text, _: list(module.split_single(text))


LIBRARIES: dict[str, Callable[[], Splitter]] = {
    "ours": lambda: sentences,
    "sentencex": _sentencex,
    "syntok": _syntok,
    "pysbd": _pysbd,
    "sentence-splitter": _sentence_splitter,
    "blingfire": _blingfire,
    "segtok": _segtok,
}


def speed(splitter: Splitter) -> float:
    """Return sentences per second."""
    texts = {code: " ".join(parts) for code, parts in TEXTS.items()}
    start, rounds = time.perf_counter(), 0
    while rounds < ROUNDS and time.perf_counter() - start < 2:
        for code, text in texts.items():
            splitter(text, code)
        rounds += 1
    count = sum(len(parts) for parts in TEXTS.values())
    return rounds * count / (time.perf_counter() - start)


def agreement(splitter: Splitter, texts: list[tuple[str, str]], codes: list[str]) -> float:
    """Return the share of paragraphs with several sentences that have as many in both languages."""
    several = same = 0
    for pair in texts:
        first, second = (
            sum(1 for part in splitter(text, code) if part.strip())
            for text, code in zip(pair, codes, strict=True)
        )
        several += max(first, second) > 1
        same += max(first, second) > 1 and first == second
    return same / max(1, several)


def paragraphs(root: Path, pair: Languages) -> list[tuple[str, str]]:
    found = []
    for name in page_names(root, pair)[:PAGES]:
        page1, page2 = (
            named_paragraphs(root / HELP / folder / "text" / name)
            for folder in (pair.folder1, pair.folder2)
        )
        both = [(page1[key][0], page2[key][0]) for key in page1 if key in page2]
        found += [(one, two) for one, two in both if one != two]
    return found


def print_agreement(root: Path, splitters: dict[str, Splitter]) -> None:
    print("\nShare of real paragraphs with as many sentences in both languages\n")
    print(f"{'languages':10} {'paragraphs':>10}", *(f"{name:>17}" for name in splitters))
    for pair in PAIRS:
        texts = paragraphs(root, pair) if pair.folder1 else []
        if texts:
            named = [language_of_tag(code) for code in (pair.first, pair.second)]
            codes = [(each and each.iso639_1) or "en" for each in named]
            shares = [agreement(each, texts, codes) for each in splitters.values()]
            figures = " ".join(f"{share:17.3f}" for share in shares)
            print(f"{pair.name:10} {len(texts):10,} {figures}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--root", type=Path, default=Path("/"), help="where the packages are")
    root = parser.parse_args().root
    splitters = {}
    print("F1 of sentence boundaries; made up and missed in all nine; sentences a second\n")
    print(f"{'library':18}", *(f"{code:>5}" for code in TEXTS), "  all made missed   a second")
    for name, make in LIBRARIES.items():
        try:
            splitter = make()
        except ImportError:
            print(f"{name:18} not installed")
            continue
        splitters[name] = splitter
        results = [outcome(splitter, code) for code in TEXTS]
        total = Outcome(*map(sum, zip(*results, strict=True)))
        figures = " ".join(f"{each.f1:5.2f}" for each in results)
        print(
            f"{name:18} {figures} {total.f1:5.2f} {total.made_up:4} {total.missed:6}"
            f" {speed(splitter):10,.0f}"
        )
    if (root / HELP).is_dir():
        print_agreement(root, splitters)


if __name__ == "__main__":
    main()
