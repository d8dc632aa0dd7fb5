"""Queries of a file become rows, unseen until the import's commit."""

from collections.abc import Iterable

from django.db import IntegrityError
from django.db.models import QuerySet
from django.urls import reverse

from benchmarks_app.collections.services.staging import ROWS_PER_BATCH, Import
from benchmarks_app.families.services.importing_groups import Said
from benchmarks_app.models import Query, QueryFamily
from benchwright.files.external_sort import batched_by_weight
from benchwright.formats.beir import QueryRow
from benchwright.formats.errors import ConcurrentImportError, NothingImportedError
from benchwright.formats.numbers import LONGEST_LANGUAGE, count_of, moment_of
from benchwright.texts.counting import counted
from benchwright.texts.images import IMAGE_KEY, digests_in

# A line may have 64 MB.
CHARACTERS_PER_BATCH = 8 << 20
CLASH = (
    "query '{qid}' is in {where} already, with {other}. Choose another id; the same queries "
    "in another language need a benchmark of their own."
)
LIKE_A_COMMENT = (
    "with #: lines of TREC runs and qrels that do so are passed over as comments. Give other ids."
)
# What has a column of its own; the other keys of a query's metadata stay metadata.
OF_COLUMNS = ("family", "lang", "description", "narrative", "first_seen", "frequency")


def stage_queries(
    work: Import, rows: Iterable[QueryRow], file: str, statements: Said | None = None
) -> None:
    """Write the queries as staged rows; one that is here already with the same text is skipped.

    `statements` are families and weights that other files of the same import tell.

    Raises
    ------
    NothingImportedError
        If the file holds no query.
    """
    staging = _Staging(work, file, statements or Said())
    rows_read = work.told(rows, "queries")
    for batch in batched_by_weight(rows_read, ROWS_PER_BATCH, _size, CHARACTERS_PER_BATCH):
        staging.take(batch)
    if not staging.n_new and not staging.n_same and not work.problems.found:
        raise NothingImportedError(file=file, what="query")
    work.outcomes.append(counted(staging.n_new, "query"))
    if staging.n_same:
        verb = "was" if staging.n_same == 1 else "were"
        work.notes.append(f"{counted(staging.n_same, 'query')} {verb} here already.")
    if staging.n_like_comments:
        verb = "has an id that begins" if staging.n_like_comments == 1 else "have ids that begin"
        work.notes.append(f"{counted(staging.n_like_comments, 'query')} {verb} {LIKE_A_COMMENT}")
    work.on_commit.append(lambda: _show(work))


def _size(row: QueryRow) -> int:
    return len(row.text) + len(row.description) + len(row.narrative) + len(str(row.metadata))


class _Staging:
    """The queries of one file while they come in."""

    def __init__(self, work: Import, file: str, statements: Said) -> None:
        self.work = work
        self.file = file
        self.statements = statements
        here = Query.objects.filter(benchmark=work.benchmark)
        self.here = _asked(here.filter(staged_by=None))
        self.staged = _asked(here.filter(staged_by=work.job.row))
        self.n_new = self.n_same = self.n_like_comments = 0

    def take(self, batch: list[QueryRow]) -> None:
        new = [row for row in batch if self._is_new(row)]
        if new and not self.work.problems.found:
            self._write(new)
        self.n_new += len(new)
        self.n_like_comments += sum(row.qid.startswith("#") for row in new)

    def _is_new(self, row: QueryRow) -> bool:
        for rows, where in ((self.here, "the benchmark"), (self.staged, "this import")):
            if row.qid in rows:
                text, images = rows[row.qid]
                if (text, images) == (row.text, digests_in(row.metadata)):
                    self.n_same += 1
                else:
                    other = "another text" if text != row.text else "other images"
                    clash = CLASH.format(qid=row.qid, where=where, other=other)
                    self.work.problems.add(self.file, row.line, clash)
                return False
        return True

    def _write(self, rows: list[QueryRow]) -> None:
        """Insert a batch, each query with the family a file names or one of its own."""
        families, work = self.statements.rows, self.work
        keys = [
            self.statements.family_of(row.qid, row.family or _text(row, "family")) for row in rows
        ]
        unknown = [key for key in dict.fromkeys(keys) if key not in families]
        with work.job.fenced():
            new_families = QueryFamily.objects.bulk_create(
                QueryFamily(benchmark=work.benchmark) for _ in unknown
            )
            families.update(zip(unknown, new_families, strict=True))
            _insert([self._query(row, families[key]) for row, key in zip(rows, keys, strict=True)])
        work.staged_qids.update(row.qid for row in rows)

    def _query(self, row: QueryRow, family: QueryFamily) -> Query:
        lang = row.lang or _text(row, "lang")
        return Query(
            benchmark=self.work.benchmark,
            qid=row.qid,
            text=row.text,
            lang=lang if len(lang) <= LONGEST_LANGUAGE else "",
            description=row.description or _text(row, "description"),
            narrative=row.narrative or _text(row, "narrative"),
            first_seen_at=moment_of(row.first_seen or _text(row, "first_seen")),
            last_seen_at=moment_of(row.last_seen),
            frequency=count_of(row.metadata.get("frequency"))
            if row.frequency is None
            else row.frequency,
            clicks=row.clicks,
            metadata={
                key: value
                for key, value in row.metadata.items()
                if key not in OF_COLUMNS and value is not None
            },
            weight=self.statements.weights.get(row.qid),
            family=family,
            staged_by=self.work.job.row,
        )


def _asked(queries: QuerySet[Query]) -> dict[str, tuple[str, list[str]]]:
    """By query id: the text, and the digests of the images."""
    rows = queries.values_list("qid", "text", f"metadata__{IMAGE_KEY}")
    return {qid: (text, digests_in({IMAGE_KEY: images})) for qid, text, images in rows}


def _insert(queries: list[Query]) -> None:
    try:
        Query.objects.bulk_create(queries)
    except IntegrityError as error:
        # Two imports of the same ids at the same time: the other one was first.
        raise ConcurrentImportError from error


def _text(row: QueryRow, key: str) -> str:
    value = row.metadata.get(key)
    return value if isinstance(value, str) else ""


def _show(work: Import) -> None:
    Query.objects.filter(staged_by=work.job.row).update(staged_by=None)
    work.url = work.url or reverse("query-list", args=[work.benchmark.slug])
