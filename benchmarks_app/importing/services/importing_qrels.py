"""Qrels of a file become a set of their own, unseen until the import's commit."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from benchmarks_app.collections.services.staging import ROWS_PER_BATCH, Import
from benchmarks_app.common.services.exposure import refuse_hiding
from benchmarks_app.models import Qrel, QrelSet, Query, QueryFamily
from benchwright.files.external_sort import batched
from benchwright.formats.beir import GradedRow
from benchwright.formats.errors import (
    FamilyOnTwoSidesError,
    NothingImportedError,
    QrelSetNameTakenError,
)
from benchwright.formats.numbers import FileGrade, grade_of_file, in_order, words_sentence
from benchwright.formats.unlisted import NOT_RELEVANT
from benchwright.linting.pitfalls import pitfalls
from benchwright.qrels.grade_map import mapped_origins, written_grade_map
from benchwright.qrels.raters import looks_like_a_model
from benchwright.qrels.scales import Relevance
from benchwright.texts.counting import counted

KNOWN_SPLITS = set(QueryFamily.Split.values) - {QueryFamily.Split.NONE.value}
NAMED_AT_MOST = 3
# Of fewer queries each line says enough.
LEAST_TO_COMPARE = 3

DocumentCheck = Callable[[Iterable[str]], set[str]]
NOT_PEOPLES = {
    QrelSet.Kind.MACHINE: "a machine's grades",
    QrelSet.Kind.CLICK: "grades from clicks",
}


@dataclass(frozen=True)
class SplitRows:
    """The grades of one file; `split` is '' where the file does not say."""

    split: str
    file: str
    rows: Iterable[GradedRow]


def stage_qrels(
    work: Import,
    parts: list[SplitRows],
    lacks: DocumentCheck,
    *,
    name: str,
    unlisted: str,
    given_by: str,
    grade_map: Mapping[str, int],
) -> None:
    """Write the grades of all parts as one staged set; the commit makes it ready.

    `lacks` returns the ids, among those given, that the corpus does not hold. `name` and
    `unlisted` are the set's where the import was told none; `grade_map` is what its grades are
    here. What the export says of who gave them (`given_by`) holds, whatever the import was told.
    """
    name = work.options.get("name") or name
    _refuse_taken(work, name)
    kind = QrelSet.Kind(given_by) if given_by else _kind_told(work, name)
    unlisted = work.options.get("unlisted") or unlisted
    staging = _Staging(work, name, unlisted, kind, grade_map)
    for part in parts:
        for batch in batched(work.told(part.rows, "grades"), ROWS_PER_BATCH):
            staging.take(batch, part, lacks)
    staging.tell_words()
    if not staging.n_qrels and not work.problems.found:
        raise NothingImportedError(file=work.file, what="grade")
    staging.check_splits()
    by_grade = ", ".join(f"{grade}: {n:,}" for grade, n in sorted(staging.grades.items()))
    work.outcomes.append(f"qrels '{name}' with {counted(staging.n_qrels, 'grade')} ({by_grade})")
    relevance = Relevance.of(staging.grades, staging.relevant)
    if relevance.n_graded:
        work.notes.insert(0, ("WARNING: " if relevance.is_none else "") + relevance.sentence)
    work.notes += staging.notes(kind)
    work.on_commit.append(staging.commit)


def _kind_told(work: Import, name: str) -> QrelSet.Kind:
    machine = work.options.get("machine")
    is_machine = looks_like_a_model(name) if machine is None else machine
    return QrelSet.Kind.MACHINE if is_machine else QrelSet.Kind.IMPORTED


def _refuse_taken(work: Import, name: str) -> None:
    if QrelSet.objects.ready().filter(benchmark=work.benchmark, name=name).exists():
        raise QrelSetNameTakenError(name=name)


class _Staging:
    """A set of qrels while its rows come in."""

    def __init__(
        self,
        work: Import,
        name: str,
        unlisted: str,
        kind: QrelSet.Kind,
        grade_map: Mapping[str, int],
    ) -> None:
        self.work = work
        self.grade_map = {grade_of_file(grade): value for grade, value in grade_map.items()}
        self.words: Counter[str] = Counter()
        self.first_word = ("", 0)
        self.scale = set(work.benchmark.grades.values_list("value", flat=True))
        self.relevant = set(
            work.benchmark.grades.filter(is_relevant=True).values_list("value", flat=True)
        )
        self.queries = _query_keys(work)
        self.split_of: dict[int, str] = {}
        self.first_places: dict[tuple[int, str], tuple[int, str, int]] = {}
        self.n_qrels = self.n_relevant = self.n_negative = 0
        self.grades: Counter[int] = Counter()
        self.grades_of_file: set[FileGrade] = set()
        self.documents: set[str] = set()
        self.unknown: set[str] = set()
        self.looked_at: set[str] = set()
        with work.job.fenced():
            self.row = QrelSet.objects.create(
                benchmark=work.benchmark,
                name=name,
                kind=kind,
                unlisted=unlisted,
                staged_by=work.job.row,
                parameters={"file": work.upload.name, "sha256": work.upload.sha256},
            )

    def take(self, batch: list[GradedRow], part: SplitRows, lacks: DocumentCheck) -> None:
        if part.file not in self.looked_at:
            self._look_whether_any_meets(batch, part)
        good = [
            (row, grade)
            for row, grade in self._mapped(batch, part)
            if self._is_good(row, grade, part)
        ]
        new = {row.docid for row, _ in good} - self.documents
        self.unknown |= lacks(new)
        self.documents |= new
        if good and not self.work.problems.found:
            with self.work.job.fenced():
                Qrel.objects.bulk_create(self._qrels(good))

    def _look_whether_any_meets(self, batch: list[GradedRow], part: SplitRows) -> None:
        """Where no query of a file's first rows is known, say so with counts, before each line."""
        self.looked_at.add(part.file)
        grades_of: dict[str, dict[str, int]] = {row.qid: {} for row in batch}
        is_met = self.work.lacks_queries or grades_of.keys() & self.queries.keys()
        if len(grades_of) < LEAST_TO_COMPARE or is_met:
            return
        pitfall = pitfalls(self.queries, grades_of, split=part.split)[0]
        text = f"its first {len(batch):,} rows: {pitfall.message} {pitfall.advice}"
        self.work.problems.add(part.file, 0, text)

    def _qrels(self, rows: list[tuple[GradedRow, int]]) -> Iterator[Qrel]:
        for row, grade in rows:
            self.n_qrels += 1
            self.grades[grade] += 1
            self.grades_of_file.add(row.grade)
            self.n_relevant += grade in self.relevant
            self.n_negative += grade < 0
            yield Qrel(
                qrel_set=self.row, query_id=self.queries[row.qid], docid=row.docid, grade=grade
            )

    def _mapped(
        self, rows: Iterable[GradedRow], part: SplitRows
    ) -> Iterator[tuple[GradedRow, int]]:
        """The rows with what their grades are here; words of which nobody said it are counted."""
        for row in rows:
            grade = self.grade_map.get(row.grade, row.grade)
            if isinstance(grade, str):
                self.words[grade] += 1
                self.first_word = self.first_word if self.first_word[0] else (part.file, row.line)
            else:
                yield row, grade

    def tell_words(self) -> None:
        """Tell the words of which nobody has said the grades, all at once."""
        if self.words:
            words = dict(sorted(self.words.items()))
            file, line = self.first_word
            self.work.problems.add(file, line, words_sentence(words), is_whole=True)

    def _is_good(self, row: GradedRow, grade: int, part: SplitRows) -> bool:
        # Of a good row that does not fit here, the answer is a mapping or another split.
        unfit = self._grade_problem(grade)
        reason = self._query_problem(row) or unfit
        if not reason and row.qid not in self.queries:
            return False
        if not reason:
            reason = unfit = self._split_problem(row, part)
        if reason:
            self.work.problems.add(part.file, row.line, reason, is_whole=reason == unfit)
            return False
        return self._is_new(row, grade, part)

    def _query_problem(self, row: GradedRow) -> str:
        if row.qid in self.queries or self.work.lacks_queries:
            return ""
        return f"query '{row.qid}' is not in the benchmark. Import its text first."

    def _grade_problem(self, grade: int) -> str:
        if grade < 0 or grade in self.scale:
            return ""
        scale = ", ".join(str(value) for value in sorted(self.scale))
        return (
            f"grade {grade} is not on the benchmark's scale ({scale}). Map it in the import form, "
            "or as --grade-map 4=3 (in the API `grade_map`), or add the grade in the settings."
        )

    def _split_problem(self, row: GradedRow, part: SplitRows) -> str:
        if not part.split:
            return ""
        earlier = self.split_of.setdefault(self.queries[row.qid], part.split)
        if earlier == part.split:
            return ""
        return f"query '{row.qid}' is in the splits {earlier} and {part.split}; keep it in one."

    def _is_new(self, row: GradedRow, grade: int, part: SplitRows) -> bool:
        """Whether it grades a pair for the first time; a second row with the same grade is told."""
        place = (row.line, part.file, grade)
        line, file, first = self.first_places.setdefault((self.queries[row.qid], row.docid), place)
        if (line, file) == place[:2]:
            return True
        pair, problems = f"document '{row.docid}' of query '{row.qid}'", self.work.problems
        if first == grade:
            problems.warn(part.file, row.line, f"{pair} was graded so in {file}:{line} already.")
        else:
            problems.add(part.file, row.line, f"{pair} was graded in {file}:{line} already.")
        return False

    def commit(self) -> None:
        work = self.work
        _refuse_taken(work, self.row.name)
        self._keep_splits()
        counts = {
            "n_qrels": self.n_qrels,
            "n_relevant": self.n_relevant,
            "n_queries": len({query for query, _ in self.first_places}),
        }
        parameters = self.row.parameters
        if self.grade_map:
            parameters["origins"] = mapped_origins(self.grades_of_file, self.grade_map, {})
        QrelSet.objects.filter(pk=self.row.pk).update(
            state=QrelSet.State.READY,
            staged_by=None,
            digest=self._digest(),
            parameters=parameters,
            **counts,
        )
        work.url = work.url or reverse("qrels-list", args=[work.benchmark.slug])

    def _digest(self) -> str:
        """The file's bytes and the mapping are what the set's content follows from."""
        pairs = [(grade, self.grade_map[grade]) for grade in in_order(self.grade_map)]
        content = f"{self.work.upload.sha256} {pairs}"
        return hashlib.sha256(content.encode()).hexdigest()

    def check_splits(self) -> None:
        """Look whether the families of the queries can be in the splits that the files say.

        Raises
        ------
        FamilyOnTwoSidesError
            If a family would be in two of them.
        ExposedQueriesError
            If grades that were public would be hidden.
        """
        unknown = sorted(set(self.split_of.values()) - KNOWN_SPLITS)
        for split in unknown:
            self.work.notes.append(
                f"'{split}' is none of the splits {', '.join(sorted(KNOWN_SPLITS))}: its queries "
                "stay without one."
            )
        rows = self._families()
        sides: defaultdict[int, dict[str, str]] = defaultdict(dict)
        for pk, qid, family, _ in rows:
            sides[family].setdefault(self.split_of[pk], qid)
        twice = [query_of for query_of in sides.values() if len(query_of) > 1]
        if twice:
            listed = "; ".join(
                " and ".join(f"'{qid}' is in {split}" for split, qid in sorted(query_of.items()))
                for query_of in twice[:NAMED_AT_MOST]
            )
            raise FamilyOnTwoSidesError(examples=listed)
        stay = [pk for pk, _, _, split in rows if split and split != self.split_of[pk]]
        if stay:
            is_one = len(stay) == 1
            self.work.notes.append(
                f"{counted(len(stay), 'query')} {'is' if is_one else 'are'} in another split of "
                f"this benchmark already, and {'stays' if is_one else 'stay'} there. Change it on "
                "the splits page."
            )
        hidden = set(self.work.benchmark.hidden_splits)
        refuse_hiding(
            benchmark=self.work.benchmark,
            hidden=[pk for pk, _, _, split in rows if not split and self.split_of[pk] in hidden],
        )

    def notes(self, kind: QrelSet.Kind) -> Iterator[str]:
        """What is to be known of the set besides its grades."""
        if words := {
            grade: value for grade, value in self.grade_map.items() if isinstance(grade, str)
        }:
            yield f"Words of the file were read as {written_grade_map(words.items())}."
        if self.row.unlisted == NOT_RELEVANT:
            yield "Documents that these qrels do not list count as judged not relevant."
        if kind in NOT_PEOPLES:
            yield (
                f"'{self.row.name}' is kept as {NOT_PEOPLES[kind]}, which is told wherever they "
                "are used; where people gave them, import them as theirs."
            )
        if self.unknown:
            yield (
                f"{len(self.unknown):,} of {counted(len(self.documents), 'graded document')} "
                f"{'is' if len(self.unknown) == 1 else 'are'} not in the corpus, such as "
                f"'{min(self.unknown)}'. It was cut, or is another version: no system can find "
                "them."
            )
        if self.n_negative:
            n_negative = counted(self.n_negative, "pair")
            verb = "is" if self.n_negative == 1 else "are"
            yield f"{n_negative} with a grade below 0 {verb} kept as pooled, not judged."

    def _families(self) -> list[tuple[int, str, int, str]]:
        """Key, id, family and present split of each query that a file puts into a split."""
        splits = {pk for pk, split in self.split_of.items() if split in KNOWN_SPLITS}
        queries = Query.objects.filter(benchmark=self.work.benchmark)
        rows = queries.values_list("pk", "qid", "family_id", "family__split")
        return [row for row in rows.iterator() if row[0] in splits]

    def _keep_splits(self) -> None:
        """A file for each split says where its queries belong; what was split before stays."""
        for split in sorted(set(self.split_of.values()) & KNOWN_SPLITS):
            queries = [query for query, where in self.split_of.items() if where == split]
            for some in batched(queries, ROWS_PER_BATCH):
                # By their keys: of tables that have just been filled the database knows no size,
                # and goes through all families for each query of a join.
                families = set(Query.objects.filter(pk__in=some).values_list("family", flat=True))
                QueryFamily.objects.filter(pk__in=families, split="").update(split=split)


def _query_keys(work: Import) -> dict[str, int]:
    """{qid: primary key} of the benchmark's queries and of those this import has staged."""
    visible: Any = Query.objects.filter(benchmark=work.benchmark, staged_by=None)
    staged = Query.objects.filter(benchmark=work.benchmark, staged_by=work.job.row)
    return dict((visible | staged).values_list("qid", "pk"))
