"""Crawl folders made by code, with the crawler's own parts, for the tests of the web page."""

import gzip
import json
from datetime import UTC, datetime

from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.journaled import JournaledFrontier
from bilingual_crawler.reporting.tally import Tally, YieldCurve
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS, CrawlFolder
from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair, pair_id
from bilingual_crawler.urls.hosts import host_of

SITE = "https://www.example.org"
ATTACK = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
TEXTS = [
    ("El museo está cerrado los lunes.", "Museoa astelehenetan itxita dago."),
    ("La biblioteca abre por la mañana.", "Liburutegia goizean irekitzen da."),
    ("Un café con leche, por favor.", "Kafesne bat, mesedez."),
    ("El río baja hasta el molino viejo.", "Ibaia errota zaharreraino jaisten da."),
]


def sentence(document, at, text1, text2, *, languages=("spa", "eus"), **more):
    urls = f"{SITE}/es/{document}", f"{SITE}/eu/{document}"
    return SentencePair(pair_id(*urls), at, *urls, languages[0], languages[1], text1, text2, **more)


def packed(pairs):
    """Sentence pairs as one gzip member."""
    lines = (json.dumps(each.to_dict(), ensure_ascii=False) + "\n" for each in pairs)
    return gzip.compress("".join(lines).encode("utf-8", "surrogatepass"))


def write_sentences(folder, pairs):
    (folder / SENTENCES).write_bytes(packed(pairs))


def pair_line(url1, url2, *, score=0.9, why="URLs differ only in the tokens 'es' and 'eu'"):
    evidence = [{"detector": "url_key", "score": score, "why": why}]
    fields = {"url1": url1, "url2": url2, "lang1": "spa", "lang2": "eus", "score": score}
    return json.dumps(fields | {"evidence": evidence}, ensure_ascii=False) + "\n"


def document_line(url, language, title, texts=()):
    paragraphs = [{"text": "Menu", "kind": "listitem", "boilerplate": True, "language": None}]
    paragraphs += [
        {"text": text, "kind": "paragraph", "boilerplate": False, "language": language}
        for text in texts
    ]
    fields = {"url": url, "language": language, "title": title, "paragraphs": paragraphs}
    return json.dumps(fields, ensure_ascii=False) + "\n"


class LiveCrawl:
    """A crawl without the web: its real journal, frontier, sums and curve, step by step."""

    def __init__(self, path):
        self.path = path
        self.folder = CrawlFolder(path, "spa-eus")
        self.stats = {"bilingual/pages": 0, "bilingual/failed": 0}
        self.frontier = JournaledFrontier(self.folder.journal)
        self.tally = Tally(self.folder.journal, lambda: self.stats)
        self.curve = YieldCurve(self.folder.journal)
        self.pairs = 0
        self.number = 0

    def queue(self, url, score):
        self.number += 1
        self.frontier.push(self.number, url, host_of(url), score)

    def end(self, url, outcome, state=State.DONE):
        self.queue(url, 1.0)
        entry = self.frontier.pop(10**9)
        while entry.url != url:
            entry = self.frontier.pop(10**9)
        self.frontier.end(entry.fingerprint, state, outcome)
        self.stats["bilingual/failed" if state is State.FAILED else "bilingual/pages"] += 1
        self.curve.add(self.stats["bilingual/pages"], self.pairs)

    def pair(self, name, texts=TEXTS, titles=("Museo", "Museoa"), why="URLs differ in a token"):
        urls = f"{SITE}/es/{name}", f"{SITE}/eu/{name}"
        journal = self.folder.journal
        for url, language, title, side in zip(urls, ("spa", "eus"), titles, (0, 1), strict=True):
            line = document_line(url, language, title, [text[side] for text in texts])
            journal.append(DOCUMENTS, line)
            self.end(url, "stored")
        self.pairs += 1
        journal.append(PAIRS, pair_line(*urls, why=why))
        return pair_id(*urls)

    def save(self, state="running", **more):
        self.folder.journal.checkpoint(wait=True)
        report = {
            "languages": [{"code": "spa", "name": "Spanish"}, {"code": "eus", "name": "Basque"}],
            "state": state,
            "started": "2026-01-02T03:04:05+00:00",
            "updated": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        (self.path / "crawl.json").write_text(json.dumps(report | more))

    def close(self):
        self.folder.close()


def small_crawl(path, *, aligned=True):
    """A crawl with two pairs, some losses and a URL that waits; its sentences if wanted."""
    crawl = LiveCrawl(path)
    crawl.pair("museo")
    crawl.pair("ataque", titles=(ATTACK, "Erasoa"), why=ATTACK)
    crawl.stats["bilingual/off_language/eng"] = 1
    crawl.end(f"{SITE}/en/", "off_language")
    crawl.end("https://broken.example/", "dns", State.FAILED)
    crawl.queue(f"{SITE}/es/next", 0.75)
    crawl.queue("javascript:window.pwned=1", 0.5)
    crawl.save("stopped", stopped_why="It was stopped by Ctrl-C or a signal.")
    crawl.close()
    if aligned:
        rows = [sentence("museo", at, *texts) for at, texts in enumerate(TEXTS)]
        rows.append(sentence("museo", 4, "Sobra esto.", "Hau soberan dago.", dropped="unsure"))
        rows.append(sentence("ataque", 0, f"Texto hostil {ATTACK}", "Testu arerioa"))
        rows.append(
            sentence("ataque", 1, "مرحبا بالعالم", "北京市博物馆", languages=("ara", "zho"))
        )
        write_sentences(path, rows)
    return path
