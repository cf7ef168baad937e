"""Results as files for other programs: CSV, TSV and JSON.

A spreadsheet runs a cell that begins like a formula, and what was crawled is hostile. So such cells
get an apostrophe in CSV and TSV, as OWASP advises. JSON is exact.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from starlette.responses import Response

FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "json": "application/json",
}
_FORMULA = re.compile(r"\s*[=+\-@\t\r\n|%\uff1d\uff0b\uff0d\uff20]")
_BREAKS = re.compile(r"[\t\r\n\x0b\x0c\x85\u2028\u2029\x00]+")


def download(
    kind: str,
    name: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    about: Mapping[str, Any],
) -> Response:
    """Return a table as a file; JSON has what it is `about`, too."""
    if kind == "json":
        listed = [dict(zip(columns, row, strict=True)) for row in rows]
        content = json.dumps({**about, "rows": listed}, ensure_ascii=False, indent=1)
    else:
        out = io.StringIO()
        dialect = "excel" if kind == "csv" else "excel-tab"
        writer = csv.writer(out, dialect=dialect, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([safe_cell(each) for each in row] for row in rows)
        content = out.getvalue()
    return Response(
        content.encode("utf-8", "replace"),
        media_type=FORMATS[kind],
        headers={"Content-Disposition": f'attachment; filename="{name}.{kind}"'},
    )


def safe_cell(value: Any) -> Any:
    """Return the value of a cell: on one line, and nothing that a spreadsheet would run."""
    if not isinstance(value, str):
        return value
    text = _BREAKS.sub(" ", value)
    return f"'{text}" if _FORMULA.match(value) else text
