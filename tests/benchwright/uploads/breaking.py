"""Ways to break the files of `made`: each gives the bytes of a copy, or None where it cannot.

A table that is no text (Parquet, a sheet) is written anew with what is wrong in it.
"""

import io
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
from python_calamine import CalamineWorkbook

MADE = Path(__file__).parent / "made"
# Files that are one whole, of which no line stands alone.
WHOLE = {".json", ".xlsx", ".ods", ".parquet"}
# A document's id, and a grade or a score, as each kind of file writes its first one.
IDS = re.compile(
    rb"(?<![\w-])(d-tea|d-cjk|d-line|d-pot|ug7v899j|\"d-tea\")(?=[\"',\s;]|$)", re.MULTILINE
)
GRADES = (
    (rb'("(?:rating|grade)": ?)"?\d(?:\.0)?"?(?=[,}\n])', rb'\1"3-4"'),  # JSON
    (rb'("value": ?)\d(?=, ?"user_id")', rb'\1"3-4"'),  # Argilla
    (rb'("choices": \[)"\d"', rb'\1"3-4"'),  # Label Studio
    (rb'("d-\w+": )[\d.]+', rb'\1"3-4"'),  # of pairs
    (rb'([,\t]"?)\d("?[,\t]1[,\t]3\.2)', rb"\g<1>3-4\2"),  # Label Studio's tables
    (rb"^\d(\s+qid:)", rb"3-4\1"),  # LETOR
    (rb"( 0 \S+ )\d$", rb"\g<1>3-4"),  # TREC
    (rb"( Q0 \S+ \d )[\d.]+", rb"\g<1>3-4"),
    (rb"(,d-\w+,(?:\d,[\w ]+,)?)\d(?=,?\r?$)", rb"\g<1>3-4"),  # Quepid
)


def cut(name: str, content: bytes) -> bytes | None:
    """It ends in the middle: of the last line where lines stand alone."""
    if Path(name).suffix in WHOLE:
        return content[: len(content) * 3 // 5]
    if "utf-16" in name:
        return content[:-61]
    if name == "smart.all":
        return None  # a text that is shorter is a text
    lines = content.splitlines(keepends=True)
    return b"".join(lines[:-1]) + lines[-1][:4]


def wrong_type(name: str, content: bytes) -> bytes | None:
    """One row has a grade, a score or an id of a wrong type."""
    if (table := _frame(name, content)) is not None:
        column = next(one for one in ("grade", "esci_label", "product_id") if one in table.columns)
        odd = ["3 to 4", *map(str, table[column].to_list()[1:])]
        # Of a column of words, one that stands for no word.
        odd[0] = "3.5" if column == "esci_label" else odd[0]
        return (
            None
            if name.endswith(".ods")
            else _written(name, table.with_columns(pl.Series(column, odd)))
        )
    for pattern, odd_grade in GRADES:
        broken, n = re.subn(pattern, odd_grade, content, count=1, flags=re.MULTILINE)
        if n:
            return broken
    if "utf-16" in name:
        return content.decode("utf-16").replace("d-tea", "d tea").encode("utf-16")
    if name == "smart.all":
        return content.replace(b".I 1 ", b".I 1 2 ")
    broken, n = IDS.subn(
        lambda found: found[0].replace(b"d-", b"d ").replace(b"7v", b"7 v"), content, count=1
    )
    return broken if n else None


def empty(name: str, content: bytes) -> bytes:
    return b""


def without_a_column(name: str, content: bytes) -> bytes | None:
    """A column that is needed has another name."""
    if (table := _frame(name, content)) is not None:
        column = next(one for one in ("doc_id", "product_id") if one in table.columns)
        return _written(name, table.rename({column: "zzz"}))
    if "utf-16" in name:
        return content.decode("utf-16").replace("doc_id", "zzz").encode("utf-16")
    needed = rb"docId|doc_id|Doc ID|docid|cord_uid|(?<=\")_id"
    broken, n = re.subn(needed, b"zzz", content)
    return broken if n else None


def nested(name: str, content: bytes) -> bytes | None:
    """Where JSON has a value, ten lists in each other have it."""
    if Path(name).suffix == ".json":
        return b"[" * 10 + content + b"]" * 10
    broken, n = re.subn(
        rb'"(_id|doc_id)":("[\w-]+")', rb'"\1":[[[[[[[[[[\2]]]]]]]]]]', content, count=1
    )
    return broken if n else None


def with_nul(name: str, content: bytes) -> bytes:
    return content[: len(content) // 2] + b"\0" + content[len(content) // 2 :]


def _frame(name: str, content: bytes) -> pl.DataFrame | None:
    if name.endswith(".parquet"):
        return pl.read_parquet(io.BytesIO(content))
    if not name.endswith((".xlsx", ".ods")):
        return None
    book = CalamineWorkbook.from_filelike(io.BytesIO(content))
    head, *rows = book.get_sheet_by_index(0).to_python()
    return pl.DataFrame(
        rows, schema=[str(one) or "column 1" for one in head], orient="row", strict=False
    )


def _written(name: str, table: pl.DataFrame) -> bytes | None:
    if name.endswith(".ods"):
        return None  # polars writes none
    target = io.BytesIO()
    if name.endswith(".parquet"):
        table.write_parquet(target)
    else:
        table.write_excel(target)
    return target.getvalue()


WAYS: dict[str, Callable[[str, bytes], bytes | None]] = {
    change.__name__: change
    for change in (cut, wrong_type, empty, without_a_column, nested, with_nul)
}
