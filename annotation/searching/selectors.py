"""A query's documents with their grades and the runs that rank them; the corpus by words."""

import logging
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Q

from annotation.judging.selectors.own_work import own_judgments
from annotation.judging.selectors.starting import step_before_judging
from annotation.models import Judgment, Pool
from annotation.searching.errors import NotSearchableError, SearchTooLongError
from benchmarks_app.common.selectors.reading import benchmark_documents, run_path
from benchmarks_app.models import Benchmark, Job, Query, Run
from benchmarks_app.permissions import Action, may
from benchmarks_app.store import file_store
from benchwright.retrieval.errors import StoreError
from benchwright.retrieval.languages import language_or_english
from benchwright.retrieval.word_index import excerpt, index_name, search_words
from benchwright.runs.store import ranks_of

log = logging.getLogger(__name__)

INDEX_JOB = "index-words"
PAGE_SIZE = 10
# More runs than this are not opened for one page; the newest are.
MOST_RUNS = 50
# Of a long document, what an excerpt is looked for in.
EXCERPT_CHARACTERS = 20_000
# A document that so many of the first ranks hold and that has grade 0 is worth a second look.
HIGH_RANK = 4


@dataclass
class Grades:
    """What stands in the ledger about a document of a query, as one person may know it."""

    labels: list[int] = field(default_factory=list)
    own: int | None = None
    settled: int | None = None

    @property
    def value(self) -> int | None:
        """The settled grade, or the lower median of the labels."""
        if self.settled is not None:
            return self.settled
        ordered = sorted(self.labels)
        return ordered[(len(ordered) - 1) // 2] if ordered else None

    @property
    def is_disputed(self) -> bool:
        return self.settled is None and len(set(self.labels)) > 1


@dataclass
class DocumentBeside:
    """A document beside a query: its text, its grades, and the ranks that runs give it."""

    docid: str
    title: str
    pieces: list[tuple[str, bool]]
    grades: Grades
    ranks: list[int]
    n_runs: int

    @property
    def best_rank(self) -> int | None:
        return min(self.ranks, default=None)

    @property
    def is_doubtful(self) -> bool:
        """Whether every run has it among its first, and people say that it is not relevant."""
        n_high = sum(rank <= HIGH_RANK for rank in self.ranks)
        return self.grades.value == 0 and 1 < self.n_runs == n_high


def word_index_path(benchmark: Benchmark) -> Path | None:
    """Where the index of the newest version lies, made or not; None without texts.

    Of hosts without a common folder each has the one that any of them has made.
    """
    name = word_index_name(benchmark)
    if name and file_store().folder is None:
        with suppress(FileNotFoundError):
            return file_store().local(name)
    return Path(settings.DATA_DIR) / "cache" / Path(name).name if name else None


def word_index_name(benchmark: Benchmark) -> str:
    """What that index is called in a store of objects; "" without texts."""
    version = benchmark.current_corpus_version
    if version is None or not benchmark.corpus.has_texts:
        return ""
    how = index_name(language_or_english(benchmark.corpus.lang))
    return f"words/words-{version.sha256[:24]}-{benchmark.unit}-{how}.sqlite"


def indexing_job(benchmark: Benchmark) -> Job | None:
    """The newest job that makes the corpus searchable."""
    return benchmark.jobs.filter(kind=INDEX_JOB).order_by("-pk").first()


def grades_of(query: Query, user: Any, *, sees_others: bool) -> dict[str, Grades]:
    """{docid: what people said about it for this query}, without machines and practice.

    Who was asked in two pools has said what they said last. Who may not see what others said gets
    their own grades alone.
    """
    labels = Judgment.objects.wanted().current().filter(query=query, grade__isnull=False)
    labels = labels.order_by("pk")
    grades: dict[str, Grades] = {}
    newest: dict[tuple[str, int, str], int] = {}
    for docid, grade, kind, actor, rater in labels.values_list(
        "docid", "grade", "kind", "actor_id", "rater"
    ):
        is_own = actor == user.pk and not rater
        if not (is_own or sees_others):
            continue
        of_document = grades.setdefault(docid, Grades())
        if kind == Judgment.Kind.ADJUDICATE:
            of_document.settled = grade
        elif grade is not None:
            newest[docid, actor, rater] = grade
            of_document.own = grade if is_own else of_document.own
    for (docid, _, _), grade in newest.items():
        grades[docid].labels.append(grade)
    return grades


def is_permitted(query: Query, user: Any) -> bool:
    """Whether an annotator may search beside a query: the owner lets those of its open pool.

    They have to have read what comes before judging there, and passed its practice.
    """
    pools = Pool.objects.open().filter(
        Q(pool_annotators=None) | Q(pool_annotators__annotator=user),
        benchmark=query.benchmark_id,
        may_search=True,
        entries__query=query,
    )
    return any(step_before_judging(pool, user) is None for pool in pools.distinct().order_by("-pk"))


def own_grades_of(query: Query, user: Any) -> dict[str, Grades]:
    """{docid: what one said oneself}, as *My judgments* tells it.

    Hidden checks stand there like all others, or their absence would tell which they are.
    """
    grades: dict[str, Grades] = {}
    alone = Judgment.objects.current().filter(
        actor=user, query=query, slot=None, rater="", grade__isnull=False
    )
    judged = own_judgments(user).filter(query=query, grade__isnull=False)
    newest_last = sorted([*alone, *judged], key=lambda judgment: judgment.pk)
    for judgment in newest_last:
        if judgment.grade is not None:
            grades[judgment.docid] = Grades([judgment.grade], own=judgment.grade)
    return grades


def grades_as_known(query: Query, user: Any, *, sees_others: bool) -> dict[str, Grades]:
    """{docid: the grades of a query's documents that this person may know}."""
    if not may(user, Action.ADJUDICATE, query.benchmark):
        return own_grades_of(query, user)
    return grades_of(query, user, sees_others=sees_others)


def ranks_in_runs(
    query: Query, user: Any, docids: Collection[str]
) -> tuple[dict[str, list[int]], int]:
    """{docid: the ranks that runs give it}, and of how many runs; of those that the user sees."""
    runs = Run.objects.visible_to(user).standing().filter(benchmark=query.benchmark)
    if not may(user, Action.SEE_POOLS, query.benchmark):
        runs = runs.none()  # who judges is not told what systems think of a document
    newest = list(runs.order_by("-pk")[:MOST_RUNS])
    ranks: dict[str, list[int]] = {}
    for run in newest:
        for docid, rank in ranks_of(run_path(run), query.qid, docids):
            ranks.setdefault(docid, []).append(rank)
    return ranks, len(newest)


def found_documents(
    benchmark: Benchmark, words: str, *, but: Collection[str], number: int
) -> tuple[list[str], bool]:
    """The ids on a page of the corpus' documents with the words, and whether there are more.

    Raises
    ------
    NotSearchableError, SearchTooLongError
        If the corpus was not made searchable, or the search takes too long.
    """
    path = word_index_path(benchmark)
    if path is None or not words:
        return [], False
    if not path.exists():
        raise NotSearchableError
    hits = search_words(path, words, language=language_or_english(benchmark.corpus.lang))
    docids = (hit.docid for hit in hits if hit.docid not in but)
    start = (number - 1) * PAGE_SIZE
    try:
        page = list(islice(docids, start, start + PAGE_SIZE + 1))
    except StoreError as error:  # names the folder of the site, which is for its log
        log.info("%s", error)
        raise SearchTooLongError from error
    return page[:PAGE_SIZE], len(page) > PAGE_SIZE


def documents_beside(
    query: Query, user: Any, *, docids: Collection[str], grades: dict[str, Grades], words: str
) -> list[DocumentBeside]:
    """These documents as they stand beside a query, in the order in which they are named."""
    texts = benchmark_documents(query.benchmark, docids)
    ranks, n_runs = ranks_in_runs(query, user, docids)
    language = language_or_english(query.benchmark.corpus.lang)
    return [
        DocumentBeside(
            docid,
            texts[docid].title if docid in texts else "",
            excerpt(texts[docid].text[:EXCERPT_CHARACTERS], words, language=language)
            if docid in texts
            else [],
            grades.get(docid, Grades()),
            ranks.get(docid, []),
            n_runs,
        )
        for docid in docids
    ]
