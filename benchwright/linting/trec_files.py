"""TREC's topics and qrels, and the tables that ir_datasets reads, line by line."""

from collections.abc import Iterator
from pathlib import Path

from benchwright.formats.beir import QRELS_HEADER
from benchwright.linting.beir_files import TSV_QRELS, count_id, read_grade
from benchwright.linting.folder import Folder, Ids, Row, check_rows


def check_trec(look: Folder) -> None:
    has_table = "queries.tsv" in look.members
    if ("topics.txt" in look.members or not has_table) and (member := look.member("topics.txt")):
        _check_topics(look, member)
    if has_table:
        _check_queries_tsv(look, "queries.tsv")
    _check_trec_qrels(look)


def check_ir_datasets(look: Folder) -> None:
    if member := look.member("docs.tsv"):
        look.documents = Ids()
        for number, line in look.lines(member):
            columns = line.split("\t")
            if len(columns) != 2:
                look.say("columns", member, number, f"expected 2; found {len(columns)}.")
            count_id(look, look.documents, columns[0], "document id", member, number)
            if not "".join(columns[1:]).strip():
                look.say("document-empty", member, number)
        look.report.n_documents = len(look.documents)
    if member := look.member("queries.tsv"):
        _check_queries_tsv(look, member)
    _check_trec_qrels(look)


def _check_queries_tsv(look: Folder, file: str) -> None:
    look.queries = Ids()
    for number, line in look.lines(file):
        columns = line.split("\t")
        if len(columns) != 2:
            look.say("columns", file, number, f"expected 2; found {len(columns)}.")
        if number == 1 and columns[0] in ("query-id", "qid", "_id", "query_id"):
            look.say("header-unexpected", file, 1)
            continue
        count_id(look, look.queries, columns[0], "query id", file, number)
        look.own_ids.append(columns[0])
        if not "".join(columns[1:]).strip():
            look.say("query-empty", file, number)
    look.report.n_queries = len(look.queries)


TOPIC_TAGS = ("num", "title", "desc", "narr")


def _check_topics(look: Folder, file: str) -> None:
    """Look whether each topic has all four fields, as lines that begin with their tags."""
    missing, begun, n_topics = set(TOPIC_TAGS), 0, 0
    for number, raw in enumerate(look.source.lines(file), start=1):
        line = raw.decode("utf-8", "replace")
        if line.startswith("<top>"):
            missing, begun = set(TOPIC_TAGS), number
        missing -= {tag for tag in TOPIC_TAGS if line.startswith(f"<{tag}>")}
        if line.startswith("</top>"):
            n_topics += 1
            if missing:
                named = ", ".join(tag for tag in TOPIC_TAGS if tag in missing)
                look.say("topic-field-missing", file, begun, f"this topic lacks {named}.")
    if not n_topics:
        look.say("columns", file, 0, "holds no <top> … </top>.")
    look.report.n_queries = n_topics


def _check_trec_qrels(look: Folder) -> None:
    names = [
        name for name in look.members if name.removesuffix(".gz").endswith((".trec", ".qrels"))
    ]
    names += [name for name in look.members if name in ("qrels.txt", "qrels")]
    of_splits = [name for name in names if name.startswith(TSV_QRELS)]
    if not names:
        look.say("file-missing", "qrels.trec", detail="is missing; expected it.")
    split_of: dict[str, str] = {}
    for name in of_splits or names:
        split = Path(name.removesuffix(".gz")).stem
        check_rows(look, name, split, _trec_rows(look, name), split_of)


def _trec_rows(look: Folder, file: str) -> Iterator[Row]:
    is_told = False
    for number, line in look.lines(file):
        columns = line.split()
        if line.startswith("#"):
            look.say("comment", file, number)
        elif number == 1 and tuple(columns) == QRELS_HEADER:
            look.say("header-unexpected", file, 1)
        elif len(columns) != 4:
            look.say("columns", file, number, f"expected 4 columns; found {len(columns)}.")
        elif (grade := read_grade(look, columns[3], file, number)) is not None:
            if not is_told and line != " ".join(columns):
                look.say("separator", file, number)
                is_told = True
            yield number, columns[0], columns[2], grade
