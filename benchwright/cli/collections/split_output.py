"""What `benchwright split` reads and writes."""

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.errors import Problems
from benchwright.files.sources import open_lines
from benchwright.formats.beir import CORPUS, QUERIES, BeirSource, open_beir
from benchwright.formats.beir_writing import qrels_tsv
from benchwright.leaks import as_json, as_markdown, hard_violations, leak_report
from benchwright.leaks.folders import (
    FAMILIES,
    SLICES,
    SPLITS_FILE,
    WEIGHTS,
    FolderQueries,
    group_families,
    moment_of,
    read_folder,
    said,
)
from benchwright.leaks.types import LeakQuery
from benchwright.recipes.splits import Mode
from benchwright.retrieval.languages import language_code
from benchwright.splits import (
    SPLITS,
    Assignment,
    SplitQuery,
    SplitRecipe,
    assignment_sha256,
    inputs_sha256,
    read_given,
    split_queries,
    strata_sha256,
)
from benchwright.splits.types import family_names


@dataclass(frozen=True)
class MadeSplit:
    folder: FolderQueries
    assignment: Assignment
    report: dict[str, Any]

    @property
    def is_leaking(self) -> bool:
        return bool(hard_violations(self.report))


def make_split(
    source: Path, output: Path, recipe: SplitRecipe, chosen: Mapping[str, Any]
) -> MadeSplit:
    """Split a folder or zip and write the folder of it.

    Raises
    ------
    FileProblemsError
        With every line that cannot be read.
    SplittingError
        If it cannot be split so.
    """
    problems = Problems()
    with open_beir(source) as beir:
        folder = read_folder(beir, problems)
        grades = _merged(folder, problems)
        problems.raise_found()
        folder.threshold = chosen["threshold"] or folder.threshold
        if chosen["language"]:
            folder.language = language_code(chosen["language"])
        if chosen["regroup"] or not folder.has_families:
            group_families(folder)
        queries = _queries(folder, grades)
        given_splits = _given(chosen["given"], queries) if recipe.mode == Mode.GIVEN else None
        assignment = split_queries(queries, recipe, given_splits)
        plan = _plan(folder, recipe, queries, assignment)
        report = _report(folder, grades, assignment, plan)
        try:
            _write(beir, output, folder, grades, assignment, plan, report)
        except BaseException:
            # Half a folder would be taken for a whole one.
            shutil.rmtree(output, ignore_errors=True)
            raise
    return MadeSplit(folder, assignment, report)


Grades = dict[str, dict[str, int]]


def _merged(folder: FolderQueries, problems: Problems) -> Grades:
    """{query: {document: grade}} of all splits there were; one pair may have one grade."""
    merged: Grades = {}
    for split, graded in folder.grades.items():
        for qid, documents in graded.items():
            if qid not in folder.queries:
                problems.add(f"qrels/{split}.tsv", 0, f"query '{qid}' is not in {QUERIES}; add it")
                continue
            grade_of = merged.setdefault(qid, {})
            for docid, grade in documents.items():
                if grade_of.setdefault(docid, grade) != grade:
                    text = (
                        f"'{docid}' has grade {grade} for query '{qid}', and {grade_of[docid]} in "
                        "another split; make them one"
                    )
                    problems.add(f"qrels/{split}.tsv", 0, text)
    return merged


def _queries(folder: FolderQueries, grades: Grades) -> list[SplitQuery]:
    return [
        SplitQuery(
            qid=qid,
            family=folder.family_of(qid),
            slices=tuple(folder.slices.get(qid, ())),
            n_relevant=sum(grade >= folder.threshold for grade in grades.get(qid, {}).values()),
            first_seen=moment_of(said(row, "first_seen")),
        )
        for qid, row in folder.queries.items()
    ]


def _given(path: Path, queries: list[SplitQuery]) -> dict[str, str]:
    problems = Problems()
    families = {query.qid: query.family for query in queries}
    split_of = read_given(open_lines(path), file=path.name, families=families, problems=problems)
    problems.raise_found()
    return split_of


def _plan(
    folder: FolderQueries, recipe: SplitRecipe, queries: list[SplitQuery], assignment: Assignment
) -> dict[str, Any]:
    """What splits.json says: how to make the same split again."""
    return {
        "mode": recipe.mode.value,
        "seed": recipe.seed,
        "algorithm": recipe.algorithm,
        "parameters": {**recipe.as_json(), "strata_sha256": strata_sha256(queries)},
        "cuts": {split: cut.isoformat() for split, cut in assignment.cuts},
        "inputs_sha256": inputs_sha256(queries),
        "assignment_sha256": assignment_sha256(assignment.splits),
        "sizes": {split: assignment.sizes.get(split, 0) for split in SPLITS},
        "n_excluded": len(assignment.excluded),
        "threshold": folder.threshold,
        "lang": folder.language,
    }


def _report(
    folder: FolderQueries,
    grades: Grades,
    assignment: Assignment,
    plan: dict[str, Any],
) -> dict[str, Any]:
    queries = [
        LeakQuery(
            qid=qid,
            text=folder.queries[qid].text,
            family=folder.family_of(qid),
            split=split,
            slices=tuple(folder.slices.get(qid, ())),
            relevant=frozenset(
                docid for docid, grade in grades.get(qid, {}).items() if grade >= folder.threshold
            ),
            first_seen=moment_of(said(folder.queries[qid], "first_seen")),
        )
        for qid, split in assignment.splits.items()
    ]
    return leak_report(queries, plan=plan, language=folder.language)


# --- writing -------------------------------------------------------------------------------


def _write(
    beir: BeirSource,
    output: Path,
    folder: FolderQueries,
    grades: Grades,
    assignment: Assignment,
    plan: dict[str, Any],
    report: dict[str, Any],
) -> None:
    (output / "qrels").mkdir(parents=True)
    for member, name in ((beir.corpus, CORPUS), (beir.queries, QUERIES)):
        if member:
            _lines_to(output / name, beir.source.lines(member))
    for name in (SLICES, WEIGHTS):
        if member := beir.source.plain_or_gz(name):
            _lines_to(output / name, beir.source.lines(member))
    for split in SPLITS:
        rows = _rows(grades, assignment, split)
        if rows:
            name = f"qrels/{split}.tsv"
            _lines_to(output / name, qrels_tsv(rows, file=name))
    _lines_to(output / FAMILIES, _family_lines(folder))
    text = json.dumps(plan, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    (output / SPLITS_FILE).write_text(text, encoding="utf-8")
    (output / "leaks.json").write_text(as_json(report), encoding="utf-8")
    (output / "leaks.md").write_text(as_markdown(report), encoding="utf-8")


def _rows(grades: Grades, assignment: Assignment, split: str) -> list[tuple[str, str, int]]:
    rows = [
        (qid, docid, grade)
        for qid, documents in grades.items()
        if assignment.splits.get(qid) == split
        for docid, grade in documents.items()
        if grade >= 0
    ]
    return sorted(rows, key=lambda row: (row[0].encode(), row[1].encode()))


def _family_lines(folder: FolderQueries) -> Iterable[bytes]:
    named = family_names([SplitQuery(qid, folder.family_of(qid)) for qid in folder.queries])
    yield b"query-id\tfamily\n"
    for qid in sorted(folder.queries, key=str.encode):
        yield f"{qid}\t{named[folder.family_of(qid)]}\n".encode()


def _lines_to(path: Path, lines: Iterable[bytes]) -> None:
    with path.open("wb") as out:
        out.writelines(lines)
