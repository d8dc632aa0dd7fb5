"""The files of a release, written into a job's folder: queries, grades, families, slices, splits.

Grades pass through once, sorted, in a file of their own; what stays in memory is one row a query.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks_app.common.selectors.reading import qrels_of
from benchmarks_app.models import Benchmark, CorpusVersion, QrelSet, Query
from benchmarks_app.release_facts import machine_models
from benchmarks_app.releases.selectors import (
    DEFAULT_SPLIT,
    FAMILIES,
    QUERIES,
    SLICES,
    SPLITS,
    WEIGHTS,
    SourceQuery,
    qrels_name,
)
from benchmarks_app.slices.selectors import slices_of
from benchwright.formats.beir_writing import MetadataShape, metadata_shape, qrels_tsv, queries_jsonl
from benchwright.releases.canonical import family_names
from benchwright.releases.errors import MachineLabelsError
from benchwright.releases.machines import HASH_SHOWN, LABELS, MachineLabel, label_lines
from benchwright.releases.options import ReleaseOptions

SAID_OF_JUDGES = ("prompt_version", "prompt_hash")
Row = tuple[str, str, int]
Facts = dict[str, Any]
UNJUDGED = -1


@dataclass(slots=True)
class Graded:
    """What is known of one query's grades; a pair with -1 was pooled and not judged."""

    n: int = 0
    n_relevant: int = 0
    n_unjudged: int = 0
    highest: int = UNJUDGED

    def add(self, grade: int, threshold: int) -> None:
        """Take one row into account."""
        self.highest = max(self.highest, grade)
        self.n_unjudged += grade < 0
        self.n += grade >= 0
        self.n_relevant += grade >= threshold

    @property
    def is_all_zero(self) -> bool:
        return self.n > 0 and self.highest == 0


@dataclass
class Contents:
    """What goes into a release, read from the database once and from then on from files.

    `split_of` has every query of the release; `without_split` those that no split was made for,
    where there are splits; `dropped` those that were left out for having no grade above 0.
    """

    benchmark: Benchmark
    qrel_set: QrelSet
    options: ReleaseOptions
    folder: Path
    queries: list[SourceQuery] = field(default_factory=list)
    split_of: dict[str, str] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    exposed: frozenset[str] = frozenset()
    without_split: list[str] = field(default_factory=list)
    graded: dict[str, Graded] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    machine_labels: list[Facts] = field(default_factory=list)
    files: dict[str, Facts] = field(default_factory=dict)

    @cached_property
    def corpus_version(self) -> CorpusVersion | None:
        """The documents as they are when somebody asks first: others may be taken meanwhile."""
        return self.benchmark.current_corpus_version

    @cached_property
    def grades(self) -> list[dict[str, Any]]:
        """The scale, with the draft's threshold if it has one."""
        scale: list[dict[str, Any]] = [
            dict(grade) for grade in self.benchmark.grades.values("value", "name", "is_relevant")
        ]
        chosen = self.options.threshold
        if chosen is not None:
            scale = [{**grade, "is_relevant": grade["value"] >= chosen} for grade in scale]
        return scale

    @cached_property
    def threshold(self) -> int:
        """The lowest grade that counts as relevant."""
        return min((grade["value"] for grade in self.grades if grade["is_relevant"]), default=1)

    @cached_property
    def families(self) -> dict[str, str]:
        """Each query's family, called by the smallest id in it."""
        families = {query.qid: query.metadata["family"] for query in self.queries}
        return family_names(families, families)

    @cached_property
    def slices(self) -> dict[str, list[str]]:
        """The queries of each slice that has any in this release."""
        qids_of = {
            name: [qid for qid in qids if qid in self.split_of]
            for name, qids in slices_of(self.benchmark).items()
        }
        return {name: qids for name, qids in qids_of.items() if qids}

    @cached_property
    def query_shape(self) -> MetadataShape:
        return metadata_shape(query.metadata for query in self.queries)

    @cached_property
    def hidden(self) -> tuple[str, ...]:
        """The hidden splits among those of this release."""
        return tuple(sorted(set(self.benchmark.hidden_splits) & set(self.split_of.values())))

    def is_public(self, qid: str) -> bool:
        """Whether the grades of a query may be seen."""
        return self.split_of[qid] not in self.hidden

    def of_split(self, split: str) -> list[str]:
        """The queries of a split."""
        return [qid for qid, of in self.split_of.items() if of == split]

    def grades_of(self, qid: str) -> Graded:
        """What is known of a query's grades."""
        return self.graded.get(qid) or Graded()


def write_contents(
    *, benchmark: Benchmark, qrel_set: QrelSet, options: ReleaseOptions, folder: Path
) -> Contents:
    """Read what goes into a release, and write the files that hold it."""
    contents = Contents(benchmark, qrel_set, options, folder)
    _spool_grades(contents)
    _read_queries(contents)
    _write_queries(contents)
    _write_grades(contents)
    _write_tables(contents)
    _write_machine_labels(contents)
    return contents


def write_file(contents: Contents, name: str, pieces: Iterable[bytes]) -> None:
    """Write one file of the release, and note its hash and size."""
    path = contents.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    digest, n_bytes = hashlib.sha256(), 0
    with path.open("wb") as out:
        for piece in pieces:
            digest.update(piece)
            n_bytes += len(piece)
            out.write(piece)
    contents.files[name] = {"sha256": digest.hexdigest(), "n_bytes": n_bytes}


def trec_lines(rows: Iterable[Row]) -> Iterator[bytes]:
    """TREC qrels: `qid 0 docid grade`, one space, no header."""
    for qid, docid, grade in rows:
        yield f"{qid} 0 {docid} {grade}\n".encode()


# --- reading ---------------------------------------------------------------------------------


def spool_path(contents: Contents) -> Path:
    """Every row of the set: query, document and grade, with tabs between them."""
    return contents.folder / ".grades"


def _spool_grades(contents: Contents) -> None:
    """Put the set's rows into one file, sorted, and count what each query has."""
    with spool_path(contents).open("wb") as out:
        for qid, docid, grade in qrels_of(contents.qrel_set):
            contents.graded.setdefault(qid, Graded()).add(grade, contents.threshold)
            out.write(f"{qid}\t{docid}\t{grade}\n".encode())


def _rows(contents: Contents) -> Iterator[Row]:
    """The rows of queries that are in the release, by the bytes of both ids."""
    with spool_path(contents).open("rb") as stream:
        for line in stream:
            qid, docid, grade = line.decode().rstrip("\n").split("\t")
            if qid in contents.split_of:
                yield qid, docid, int(grade)


def _read_queries(contents: Contents) -> None:
    """Every query that is not excluded, by the bytes of its id, and what is known of it.

    Of a hidden split none is dropped for its grades: that it is not there would tell them.
    """
    rows = Query.objects.committed().filter(benchmark=contents.benchmark, excluded_reason="")
    queries = sorted(rows.select_related("family"), key=lambda row: row.qid.encode())
    is_split = any(row.family.split for row in queries)
    exposed = []
    for row in queries:
        split = row.family.split or DEFAULT_SPLIT
        may_drop = contents.options.drops_all_zero and split not in contents.benchmark.hidden_splits
        if may_drop and contents.grades_of(row.qid).is_all_zero:
            contents.dropped.append(row.qid)
            continue
        contents.queries.append(SourceQuery(row.qid, row.text, _metadata(row)))
        contents.split_of[row.qid] = split
        contents.keys[row.qid] = row.pk
        if is_split and not row.family.split:
            contents.without_split.append(row.qid)
        if row.weight is not None:
            contents.weights[row.qid] = row.weight
        if row.exposed_at:
            exposed.append(row.qid)
    contents.exposed = frozenset(exposed)


def _metadata(row: Query) -> dict[str, Any]:
    """What a query says of itself, and whatever else the file it came from said of it."""
    own = {
        "family": str(row.family_id),
        "description": row.description,
        "narrative": row.narrative,
        "frequency": row.frequency,
        "first_seen": row.first_seen_at.isoformat() if row.first_seen_at else None,
    }
    return {**row.metadata, **({"lang": row.lang} if row.lang else {}), **own}


# --- writing ---------------------------------------------------------------------------------


def _write_queries(contents: Contents) -> None:
    families = contents.families
    contents.queries = [
        SourceQuery(query.qid, query.text, {**query.metadata, "family": families[query.qid]})
        for query in contents.queries
    ]
    write_file(contents, QUERIES, queries_jsonl(contents.queries, shape=contents.query_shape))


def _write_grades(contents: Contents) -> None:
    """A table for each split with grades; hidden ones apart, and in no other file."""
    for split in sorted(set(contents.split_of.values())):
        if split in contents.hidden:
            write_file(contents, qrels_name(split, is_hidden=True), _hidden_tsv(contents, split))
        elif any(contents.grades_of(qid).n for qid in contents.of_split(split)):
            name = qrels_name(split)
            judged = (row for row in _rows_of(contents, split) if row[2] >= 0)
            write_file(contents, name, qrels_tsv(judged, file=name))
    public = (row for row in _rows(contents) if contents.is_public(row[0]))
    write_file(contents, "qrels.trec", trec_lines(public))


def _rows_of(contents: Contents, split: str) -> Iterator[Row]:
    return (row for row in _rows(contents) if contents.split_of[row[0]] == split)


def _hidden_tsv(contents: Contents, split: str) -> Iterator[bytes]:
    """As the other tables, with pairs that were pooled and not judged: there is no TREC file."""
    yield b"query-id\tcorpus-id\tscore\n"
    for qid, docid, grade in _rows_of(contents, split):
        yield f"{qid}\t{docid}\t{grade}\n".encode()


def _write_tables(contents: Contents) -> None:
    write_file(contents, FAMILIES, _table("family", contents.families.items()))
    pairs = [(qid, name) for name, qids in contents.slices.items() for qid in qids]
    if pairs:
        write_file(contents, SLICES, _table("slice", pairs))
    if contents.weights:
        weights = [(qid, repr(weight)) for qid, weight in contents.weights.items()]
        write_file(contents, WEIGHTS, _table("weight", weights))
    splits = {split: contents.of_split(split) for split in sorted(set(contents.split_of.values()))}
    write_file(contents, SPLITS, [json_bytes({"hidden": list(contents.hidden), "splits": splits})])


def _write_machine_labels(contents: Contents) -> None:
    """A machine's labels of public queries beside the grades; of hidden ones they would tell."""
    benchmark, own = contents.benchmark, contents.qrel_set
    sets = [
        row for row in machine_sets(benchmark, contents.options.machine_labels) if row.pk != own.pk
    ]
    if sets:
        labels = (label for row in sets for label in _labels_of(contents, row))
        write_file(contents, LABELS, label_lines(labels))


def machine_sets(benchmark: Benchmark, names: Iterable[str]) -> list[QrelSet]:
    """The sets of a machine's grades by these names, in their order.

    Raises
    ------
    MachineLabelsError
        If one of them is none.
    """
    rows = QrelSet.objects.ready().filter(benchmark=benchmark, kind=QrelSet.Kind.MACHINE)
    set_of_name = {row.name: row for row in rows.order_by("name")}
    unknown = next((name for name in names if name not in set_of_name), None)
    if unknown is not None:
        raise MachineLabelsError(name=unknown, known=", ".join(set_of_name) or "none")
    return [set_of_name[name] for name in dict.fromkeys(names)]


def _labels_of(contents: Contents, qrel_set: QrelSet) -> Iterator[MachineLabel]:
    """The labels of a set, by the bytes of both ids; they are counted as they pass."""
    parameters = qrel_set.parameters
    models = parameters.get("models") or []
    model_of = machine_models(qrel_set) if len(models) > 1 else {}
    judge, prompt = parameters.get("judge") or qrel_set.name, _prompt(parameters)
    facts = {name: parameters[name] for name in SAID_OF_JUDGES if name in parameters}
    counted = {"name": qrel_set.name, "judge": judge, "models": models, **facts, "n": 0}
    contents.machine_labels.append(counted)
    for qid, docid, grade in qrels_of(qrel_set):
        if grade >= 0 and qid in contents.split_of and contents.is_public(qid):
            counted["n"] += 1
            model = model_of.get((qid, docid), ", ".join(models))
            yield MachineLabel(qid, docid, grade, judge, model, prompt)


def _prompt(parameters: Mapping[str, Any]) -> str:
    """The version of a prompt by its number and its hash: `2 (0123456789ab)`."""
    number, digest = parameters.get("prompt_version"), parameters.get("prompt_hash")
    return f"{number} ({digest[:HASH_SHOWN]})" if number and digest else ""


def _table(column: str, rows: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    """A header and `query-id<TAB>value` lines, by the bytes of both."""
    yield f"query-id\t{column}\n".encode()
    yield from sorted(f"{qid}\t{value}\n".encode() for qid, value in rows)


def json_bytes(value: Mapping[str, Any]) -> bytes:
    """JSON as releases have it: keys sorted, the same bytes for the same value."""
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
