"""Imports a TMX file as a folder like that of a crawl, with sentence pairs only."""

import json
from datetime import UTC, datetime
from pathlib import Path

from bilingual_crawler import __version__
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.rows import to_line
from bilingual_crawler.export.source import Account
from bilingual_crawler.export.tmx import TmxFile
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.folder import DOCUMENTS, JOURNAL, PAIRS, REPORT
from bilingual_crawler.store.json_lines import Watch
from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.store.target import replacing_file, text_file

FOLDER = Path("crawls")


def place_of(file: Path, out: str | None) -> Path:
    """Return where the import goes: what the user says, or a folder named after the file."""
    if out is not None:
        return Path(out)
    name = file.name.removesuffix(".gz")
    return FOLDER / (name.removesuffix(Path(name).suffix) or name)


def import_tmx(
    file: Path,
    folder: Path,
    languages: LanguagePair | None = None,
    watch: Watch = lambda _share: None,
) -> tuple[Account, LanguagePair]:
    """Import a translation memory; an earlier import is replaced when this one is complete."""
    if not file.is_file():
        raise ConfigurationError(f"There is no file {file}.")
    if any((folder / name).exists() for name in (DOCUMENTS, JOURNAL, PAIRS)):
        raise ConfigurationError(
            f"{folder} holds a crawl: choose another folder with --out, so that nothing is lost."
        )
    account = Account()
    tmx = TmxFile(file, account, languages)
    with replacing_file(folder / SENTENCES) as path:
        with text_file(path) as rows:
            rows.writelines(map(to_line, tmx.read(watch)))
        if not account.written or tmx.languages is None:
            raise ConfigurationError(_nothing(file, account, languages))
    _write_report(folder, file, tmx.languages, account)
    return account, tmx.languages


def _nothing(file: Path, account: Account, languages: LanguagePair | None) -> str:
    reasons = ", ".join(f"{reason} ({count:,})" for reason, count in account.left_out.items())
    wanted = f" of {languages}" if languages else ""
    return f"{file} has no sentence pair{wanted}: {reasons or 'it has no units'}."


def _write_report(folder: Path, file: Path, languages: LanguagePair, account: Account) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    report = {
        "format": 1,
        "langs": str(languages),
        "languages": [{"code": each.code, "name": each.name} for each in languages],
        "seeds": [],
        "seeds_from": "",
        "imported_from": file.name,
        "files": {"sentences": SENTENCES},
        "versions": {"bilingual-crawler": __version__},
        "state": "finished",
        "started": now,
        "updated": now,
        "pages": 0,
        "documents": {},
        "pairs": 0,
        "import": account.to_dict(),
    }
    with replacing_file(folder / REPORT) as path, text_file(path) as text:
        json.dump(report, text, ensure_ascii=False, indent=2)
        text.write("\n")
