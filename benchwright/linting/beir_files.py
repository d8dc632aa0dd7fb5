"""BEIR's files, Croissant's and those with ids only, line by line."""

import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from benchwright.files.archives import is_zip
from benchwright.formats.beir import CORPUS, LARGEST_GRADE, QRELS_HEADER, QUERIES
from benchwright.linting.folder import Folder, Ids, Row, check_rows

TSV_QRELS = "qrels/"
DOCUMENTS = "documents.tsv"
# Stricter than an import: the field's readers stop at 1.0.
GRADE = re.compile(r"[+-]?[0-9]{1,9}\Z")


def check_beir(look: Folder) -> None:
    for name, noun in ((CORPUS, "document"), (QUERIES, "query")):
        if member := look.member(name):
            _check_jsonl(look, member, noun)
    _check_tsv_qrels(look)
    look.look_at_both()
    _check_top_folder(look)


def check_ids_only(look: Folder) -> None:
    """Queries, qrels, ids of documents; a release's own files, which have none, are the others."""
    has_ids = DOCUMENTS in look.members or "qrels.trec" not in look.members
    if has_ids and (member := look.member(DOCUMENTS)):
        look.documents = Ids()
        for number, line in look.lines(member):
            if number > 1:
                count_id(look, look.documents, line.split("\t")[0], "corpus-id", member, number)
        look.report.n_documents = len(look.documents)
    if member := look.member(QUERIES):
        _check_jsonl(look, member, "query")
    _check_tsv_qrels(look)
    look.look_at_both()


def _check_jsonl(look: Folder, file: str, noun: str) -> None:
    """Look at the rows of corpus.jsonl or queries.jsonl."""
    ids, order, shape = Ids(), look.order_of(file), _Shape(look, file)
    for number, line in look.lines(file):
        record = _object(look, file, number, line)
        if record is None:
            continue
        name = _id_of(look, record, file, number)
        if name is not None:
            order.next(name, number)
            count_id(look, ids, name, "_id", file, number, noun=noun)
            if noun == "query":
                look.own_ids.append(name)
        _look_at_texts(look, record, noun, file, number)
        shape.next(record.get("metadata"), number)
    look.take_ids(noun, ids)


def count_id(
    look: Folder, ids: Ids, name: str, what: str, file: str, line: int, *, noun: str = ""
) -> None:
    """Look at an id, and tell where it stood before."""
    look.look_at_id(name, what, file, line)
    first = ids.first(name, line)
    if first != line:
        detail = f"{noun or what} '{name}' was on line {first} already."
        look.say("id-duplicate", file, line, detail)


def _object(look: Folder, file: str, line: int, text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        look.say("not-json", file, line, f"is not JSON: {error}.")
        return None
    if not isinstance(value, dict):
        look.say("not-json", file, line, "is JSON, but not an object.")
        return None
    return value


def _id_of(look: Folder, record: dict[str, Any], file: str, line: int) -> str | None:
    value = record.get("_id")
    if isinstance(value, str):
        return value
    if value is None:
        look.say("id-empty", file, line, 'has no "_id".')
        return None
    excerpt = json.dumps(value, ensure_ascii=False)[:60]
    look.say("id-not-string", file, line, f"_id is {excerpt}, not a string.")
    return str(value)


def _look_at_texts(look: Folder, record: dict[str, Any], noun: str, file: str, line: int) -> None:
    title, text = record.get("title"), record.get("text")
    if not isinstance(text, str):
        what = "there is no text" if "text" not in record else f"text is {_said(text)}"
        look.say("text-null", file, line, f"{what}.")
    if noun == "query":
        if isinstance(text, str) and not text.strip():
            look.say("query-empty", file, line)
        return
    if not isinstance(title, str):
        what = "there is no title" if "title" not in record else f"title is {_said(title)}"
        look.say("title-missing", file, line, f"{what}.")
    if isinstance(text, str) and not text.strip() and not str(title or "").strip():
        look.say("document-empty", file, line)


def _said(value: Any) -> str:
    return "null" if value is None else json.dumps(value, ensure_ascii=False)[:60]


class _Shape:
    """Tells the first row whose metadata has other keys or types than the rows before."""

    def __init__(self, look: Folder, file: str) -> None:
        self.look = look
        self.file = file
        self.kinds: dict[str, str] | None = None
        self.is_told = False

    def next(self, metadata: Any, line: int) -> None:
        if self.is_told:
            return
        if not isinstance(metadata, dict | None):
            detail = f"metadata is {_said(metadata)}; expected an object."
            self.look.say("metadata-differs", self.file, line, detail)
            self.is_told = True
            return
        mine = {key: _kind(value) for key, value in (metadata or {}).items()}
        kinds = mine if self.kinds is None else self.kinds
        is_same = mine.keys() == kinds.keys() and all(
            "null" in (kind, kinds[key]) or kind == kinds[key] for key, kind in mine.items()
        )
        if not is_same:
            self.look.say("metadata-differs", self.file, line)
            self.is_told = True
        self.kinds = {
            key: kind if mine.get(key, "null") == "null" else mine[key]
            for key, kind in kinds.items()
        }


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__


# --- qrels with a header -------------------------------------------------------------------------


def _check_tsv_qrels(look: Folder) -> None:
    files = [name for name in look.members if name.startswith(TSV_QRELS)]
    plain_names = {name: name.removesuffix(".gz") for name in files}
    tables = {name: plain for name, plain in plain_names.items() if plain.endswith(".tsv")}
    if not tables:
        detail = "holds no .tsv file; expected one for each split."
        look.say("file-missing", "qrels", detail=detail)
    split_of: dict[str, str] = {}
    for name, plain in tables.items():
        split = plain.removeprefix(TSV_QRELS).removesuffix(".tsv")
        rows = _tsv_rows(look, name)
        check_rows(look, name, split, rows, split_of)


def _tsv_rows(look: Folder, file: str) -> Iterator[Row]:
    is_empty = True
    for number, line in look.lines(file):
        columns = line.split("\t")
        if is_empty:
            is_empty = False
            if not _is_judgment(columns):
                if tuple(columns) != QRELS_HEADER:
                    expected = "<TAB>".join(QRELS_HEADER)
                    look.say("columns", file, number, f"expected the header {expected}.")
                continue
            detail = "the header is missing: this line is a judgment, and BEIR would lose it."
            look.say("header-missing", file, number, detail)
        if len(columns) != 3:
            look.say("columns", file, number, f"expected 3 columns; found {len(columns)}.")
        elif (grade := read_grade(look, columns[2], file, number)) is not None:
            yield number, columns[0], columns[1], grade
    if is_empty:
        look.say("header-missing", file, 0, "is empty; expected at least the header.")


def _is_judgment(columns: list[str]) -> bool:
    return len(columns) == 3 and bool(GRADE.match(columns[2]))


def read_grade(look: Folder, text: str, file: str, line: int) -> int | None:
    """Return a grade, or None where it is none; what is wrong with it is told."""
    if not GRADE.match(text):
        detail = f"score is {text[:40]!r}; expected a whole number such as 0, 1 or 2."
        look.say("grade-not-integer", file, line, detail)
        return None
    grade = int(text)
    if abs(grade) > LARGEST_GRADE:
        look.say("grade-range", file, line, f"score is {text}; grades go from -127 to 127.")
        return None
    if grade < 0:
        detail = f"score is {grade}; readers of BEIR take it for a grade."
        look.say("grade-negative", file, line, detail)
    return grade


def _check_top_folder(look: Folder) -> None:
    """Look whether a zip has the one folder of its own name that BEIR's helper returns."""
    if not look.path.is_file() or not is_zip(look.path):
        return
    with zipfile.ZipFile(look.path) as archive:
        tops = {name.partition("/")[0] if "/" in name else "" for name in archive.namelist()}
    if tops != {look.path.stem}:
        named = ", ".join(sorted(top or "none" for top in tops))
        detail = f"its top folder is {named}; expected {look.path.stem}."
        look.say("top-folder", look.path.name, detail=detail)
