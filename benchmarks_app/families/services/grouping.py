"""Grouping a benchmark's queries into families, as a job.

The families that people reviewed and the verdicts they gave stay; every other link is made anew.
Families keep their numbers where most of their queries stay. No grade goes from one query to
another: grades belong to queries.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.db import transaction
from django.db.models import Count
from django.urls import reverse

from benchmarks_app.collections.services import uploading
from benchmarks_app.common.services import audit, reading_apart
from benchmarks_app.common.services.exposure import refuse_hiding
from benchmarks_app.families.selectors import exposed_queries, known_of, texts_to_group
from benchmarks_app.families.services.changes import STATES, states_of
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import (
    Benchmark,
    FamilyChange,
    FamilyLink,
    Grouping,
    Job,
    QrelSet,
    Query,
    QueryFamily,
    Upload,
    User,
)
from benchmarks_app.splits.selectors import WITHOUT_SPLIT
from benchwright.families import (
    ALGORITHM,
    Embeddings,
    Family,
    GroupedQueries,
    GroupingOptions,
    Known,
    Link,
    QueryText,
    ReviewCost,
    grouped,
    review_costs,
    static_embeddings,
)
from benchwright.families.embeddings import check_embeddings, sent_embeddings
from benchwright.families.errors import (
    EmbeddingsError,
    GroupingChangedError,
    NothingToGroupError,
    ParaphraseExtraError,
    TooManyToPreviewError,
)
from benchwright.families.grouping import SHOWN as REVIEWS_SHOWN
from benchwright.files.external_sort import batched
from benchwright.matrices import static_vectors
from benchwright.texts.counting import counted

JOB_KIND = "group-queries"
ROWS_PER_BATCH = 500
MOST_PREVIEWED = 20_000
SPLITS = [value for value in QueryFamily.Split.values if value]


def grouping_arguments(
    *,
    benchmark: Benchmark,
    options: GroupingOptions,
    qrel_set: QrelSet | None = None,
    embeddings: Upload | None = None,
    ids: Upload | None = None,
    paraphrases: bool = False,
) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to group a benchmark's queries.

    Raises
    ------
    NothingToGroupError
        If the benchmark has no queries.
    EmbeddingsError
        If the file of embeddings cannot be used.
    ParaphraseExtraError
        If paraphrases are to count, and the extra for them is not installed.
    """
    if paraphrases and not static_vectors.is_installed():
        raise ParaphraseExtraError
    if not benchmark.queries.committed().exists():
        raise NothingToGroupError(benchmark=benchmark.name)
    if embeddings:
        reading_apart.call(check_embeddings, *_places(embeddings, ids), file=embeddings.name)
    return {
        "kind": JOB_KIND,
        "title": "Group queries into families",
        "parameters": {
            "options": options.as_json(),
            "qrels": qrel_set.pk if qrel_set else None,
            "embeddings": embeddings.pk if embeddings else None,
            "ids": ids.pk if ids else None,
            "paraphrases": paraphrases,
        },
    }


@transaction.atomic
def start_grouping(*, benchmark: Benchmark, user: User, **options: Any) -> Job:
    """Start a job that groups the queries; arguments and errors as of `grouping_arguments`."""
    arguments = grouping_arguments(benchmark=benchmark, **options)
    job = jobs.start(benchmark=benchmark, user=user, **arguments)
    audit.record(actor=user, action="group-queries", benchmark=benchmark, **arguments["parameters"])
    return job


def review_preview(
    *,
    benchmark: Benchmark,
    options: GroupingOptions,
    qrel_set: QrelSet | None = None,
    paraphrases: bool = False,
    most: int | None = MOST_PREVIEWED,
) -> tuple[ReviewCost, ...]:
    """How many reviews grouping would cost, at the wanted `merge_at` and others, with no write.

    Raises
    ------
    NothingToGroupError
        If the benchmark has no queries.
    TooManyToPreviewError
        If it has more than `most`: nobody waits so long for a page.
    """
    n = benchmark.queries.committed().count()
    if most is not None and n > most:
        raise TooManyToPreviewError(n=n, most=most)
    if not n:
        raise NothingToGroupError(benchmark=benchmark.name)
    _, texts = texts_to_group(benchmark, qrel_set)
    static = static_embeddings(texts) if paraphrases else None
    grouped_queries = grouped(texts, options, known=known_of(benchmark), paraphrases=static)
    thresholds = {at for at in REVIEWS_SHOWN if at >= options.review_at} | {options.merge_at}
    return review_costs(grouped_queries, sorted(thresholds))


def _places(embeddings: Upload, ids: Upload | None) -> tuple[Path, Path | None, str]:
    """Where the files are, and what messages call them."""
    return uploading.local(embeddings), uploading.local(ids) if ids else None, embeddings.name


def _read(embeddings: Upload, ids: Upload | None) -> Embeddings:
    with TemporaryDirectory(prefix="benchwright-vectors-") as folder:
        target = Path(folder, "vectors.bin")
        stream = reading_apart.stream(
            sent_embeddings, *_places(embeddings, ids), target, file=embeddings.name
        )
        listed, where = reading_apart.items_and_result(stream)
        return Embeddings(tuple(listed), where.opened().copy())


# --- the job ---------------------------------------------------------------------------------


@dataclass
class Inputs:
    """What is grouped: queries with their keys, what is known of pairs, embeddings."""

    key: dict[str, tuple[int, int]]
    texts: list[QueryText]
    known: Known
    embeddings: Embeddings | None = None
    paraphrases: Embeddings | None = None

    @property
    def sha256(self) -> str:
        """Of everything that the families follow from, but the options."""
        digest = hashlib.sha256()
        for text in sorted(self.texts, key=lambda text: text.qid.encode()):
            digest.update(json.dumps([text.qid, text.text, sorted(text.positives)]).encode())
        decisions = [
            sorted(self.known.links),
            sorted(self.known.same),
            sorted(self.known.different),
        ]
        digest.update(json.dumps(decisions).encode())
        if self.embeddings:
            digest.update(json.dumps(self.embeddings.ids).encode())
            digest.update(self.embeddings.vectors.tobytes())
        if self.paraphrases:
            digest.update(f"wordllama {static_vectors.version()}".encode())
        return digest.hexdigest()


def group_queries(job: jobs.RunningJob) -> None:
    """The handler: read, group, then write families and links in one transaction.

    Raises
    ------
    GroupingChangedError
        If queries, families or verdicts changed while the job was at work.
    ExposedQueriesError
        If no split but a hidden one is left for queries whose grades were public.
    """
    parameters = job.parameters
    options = GroupingOptions.from_json(parameters["options"])
    qrel_set = (
        QrelSet.objects.ready().filter(pk=parameters["qrels"], benchmark=job.benchmark).first()
    )
    job.progress(0, 0, "Reading queries")
    inputs = _inputs(job.benchmark, qrel_set, parameters)
    grouped_queries = grouped(
        inputs.texts,
        options,
        known=inputs.known,
        embeddings=inputs.embeddings,
        paraphrases=inputs.paraphrases,
        on_progress=lambda what, done, total: job.progress(min(done, total - 1), total, what),
    )
    job.progress(0, 0, "Writing families")
    with job.commit() as result:
        benchmark = Benchmark.objects.select_for_update().get(pk=job.benchmark.pk)
        _refuse_changed(benchmark, qrel_set, inputs)
        written = _Writing(benchmark, job, inputs, grouped_queries, options).done()
        result.update(written, url=reverse("family-list", args=[benchmark.slug]))


def _inputs(
    benchmark: Benchmark, qrel_set: QrelSet | None, parameters: Mapping[str, Any]
) -> Inputs:
    key, texts = texts_to_group(benchmark, qrel_set)
    uploads = Upload.objects.filter(benchmark=benchmark)
    upload_pks = {name: parameters[name] for name in ("embeddings", "ids") if parameters.get(name)}
    files = {name: uploads.filter(pk=pk).first() for name, pk in upload_pks.items()}
    embeddings = files.get("embeddings")
    vectors = _read(embeddings, files.get("ids")) if embeddings else None
    if embeddings and vectors and not key.keys() & set(vectors.ids):
        reason = (
            "not one of its ids is a query of this benchmark. Write the query ids as the queries "
            "page shows them."
        )
        raise EmbeddingsError(file=embeddings.name, reason=reason)
    static = static_embeddings(texts) if parameters.get("paraphrases") else None
    return Inputs(key, texts, known_of(benchmark), vectors, static)


def _refuse_changed(benchmark: Benchmark, qrel_set: QrelSet | None, inputs: Inputs) -> None:
    key, texts = texts_to_group(benchmark, qrel_set)
    now = Inputs(key, texts, known_of(benchmark), inputs.embeddings, inputs.paraphrases)
    if now.key != inputs.key or now.sha256 != inputs.sha256:
        raise GroupingChangedError


@dataclass
class _Target:
    """A family to be written: its members, and the row it becomes."""

    family: Family
    members: list[int]
    row: QueryFamily = field(default_factory=QueryFamily)


class _Writing:
    """Families, links and the record of a grouping, written inside one transaction."""

    def __init__(
        self,
        benchmark: Benchmark,
        job: jobs.RunningJob,
        inputs: Inputs,
        grouped_queries: GroupedQueries,
        options: GroupingOptions,
    ) -> None:
        self.benchmark = benchmark
        self.job = job
        self.inputs = inputs
        self.grouped_queries = grouped_queries
        self.options = options
        rows = QueryFamily.objects.filter(benchmark=benchmark)
        self.rows = {row.pk: row for row in rows.iterator()}
        self.split_of = {pk: row.split for pk, row in self.rows.items()}
        self.old: dict[int, list[int]] = {}
        for pk, family in sorted(inputs.key.values()):
            self.old.setdefault(family, []).append(pk)
        self.targets = self._targets()
        self.n_moved_splits = 0

    def _targets(self) -> list[_Target]:
        """Each new family with the row it keeps: that of which it has the most queries."""
        family_of = dict(self.inputs.key.values())
        targets = [
            _Target(family, sorted(self.inputs.key[qid][0] for qid in family.members))
            for family in self.grouped_queries.families
        ]
        claims = [
            (-n, old, number)
            for number, target in enumerate(targets)
            for old, n in Counter(family_of[pk] for pk in target.members).items()
        ]
        taken_rows: set[int] = set()
        settled: set[int] = set()
        for _, old, number in sorted(claims):
            if old not in taken_rows and number not in settled:
                targets[number].row = self.rows[old]
                taken_rows.add(old)
                settled.add(number)
        return targets

    def done(self) -> dict[str, Any]:
        self._judge()
        before = self._memberships(self.old)
        self._write_families()
        n_moved, gone = self._move()
        grouping = self._record()
        self._change(grouping, before)
        # One in which a sample has put a query that nobody sees yet is still that query's.
        QueryFamily.objects.filter(benchmark=self.benchmark, pk__in=gone, queries=None).delete()
        n_links = self._write_links()
        lines = [
            f"{counted(grouping.n_families, 'family')} of {counted(grouping.n_queries, 'query')}",
            counted(n_links, "link"),
        ]
        if n := grouping.n_flagged:
            lines.append(f"{counted(n, 'family')} {'waits' if n == 1 else 'wait'} for review")
        if n := self.n_moved_splits:
            were, are = ("was", "is") if n == 1 else ("were", "are")
            lines.append(f"{counted(n, 'family')} {were} on two splits and {are} on one now")
        if n := self.grouped_queries.n_without_embedding:
            lines.append(f"{counted(n, 'query')} {'has' if n == 1 else 'have'} no embedding")
        return {
            "made": lines,
            "grouping": grouping.pk,
            "n_moved": n_moved,
            "n_moved_splits": self.n_moved_splits,
            "n_refused": len(self.grouped_queries.refused),
            "n_recut": self.grouped_queries.n_recut,
            "is_sampled": self.grouped_queries.is_sampled,
        }

    # --- what each family becomes ------------------------------------------------------------

    def _judge(self) -> None:
        """Split, doubt and flag of each family; one that a person reviewed stays reviewed."""
        exposed = exposed_queries(
            pk for target in self.targets for pk in target.members if len(target.members) > 1
        )
        family_of = dict(self.inputs.key.values())
        hidden = []
        for target in self.targets:
            row, family = target.row, target.family
            is_as_it_was = row.pk is not None and self.old[row.pk] == target.members
            split = self._split_of(target, family_of, exposed)
            if (split or WITHOUT_SPLIT) in self.benchmark.hidden_splits and not is_as_it_was:
                hidden += target.members
            is_kept = is_as_it_was and row.reviewed_at is not None
            row.benchmark, row.split = self.benchmark, split
            row.doubt = min(family.doubt, row.doubt) if is_kept else family.doubt
            row.is_flagged = family.is_flagged and not is_kept
            if not is_kept:
                row.reviewed_by, row.reviewed_at = None, None
        refuse_hiding(benchmark=self.benchmark, hidden=hidden)

    def _split_of(self, target: _Target, family_of: Mapping[int, int], exposed: set[int]) -> str:
        """The split that most of its queries are on; never a hidden one if any was public."""
        counts = Counter(self.split_of[family_of[pk]] for pk in target.members)
        present = [split for split in counts if split]
        if len(present) > 1:
            self.n_moved_splits += 1
        elif len(counts) == 1:
            return next(iter(counts))
        hidden = self.benchmark.hidden_splits
        if not exposed.isdisjoint(target.members):
            public = [split for split in present if split not in hidden]
            present = public or [split for split in SPLITS if split not in hidden] or present
        return min(present, key=lambda split: (-counts[split], SPLITS.index(split)))

    # --- writing -----------------------------------------------------------------------------

    def _write_families(self) -> None:
        new = [target.row for target in self.targets if target.row.pk is None]
        kept_rows = [target.row for target in self.targets if target.row.pk is not None]
        QueryFamily.objects.bulk_create(new, ROWS_PER_BATCH)
        changes = ["split", "doubt", "is_flagged", "reviewed_by", "reviewed_at"]
        stored = {
            row["pk"]: row
            for row in QueryFamily.objects.filter(benchmark=self.benchmark).values(
                "pk", "split", "doubt", "is_flagged", "reviewed_by", "reviewed_at"
            )
        }
        changed = [row for row in kept_rows if _state(row) != stored[row.pk]]
        QueryFamily.objects.bulk_update(changed, changes, 200)

    def _move(self) -> tuple[int, list[int]]:
        """Put queries that change their family there; how many, and the families left empty."""
        family_of = dict(self.inputs.key.values())
        moved = [
            Query(pk=pk, family_id=target.row.pk)
            for target in self.targets
            for pk in target.members
            if family_of[pk] != target.row.pk
        ]
        Query.objects.bulk_update(moved, ["family"], 200)
        stay = {target.row.pk for target in self.targets}
        return len(moved), sorted(set(self.old) - stay)

    def _memberships(self, families: Mapping[int, Sequence[int]]) -> dict[str, Any]:
        """Families that change, as the record of changes keeps them; asked before writing."""
        new = {t.row.pk: t.members for t in self.targets if t.row.pk is not None}
        touched = [pk for pk, members in families.items() if new.get(pk) != members]
        self.touched = touched
        return {**{str(pk): families[pk] for pk in touched}, STATES: states_of(touched)}

    def _record(self) -> Grouping:
        return Grouping.objects.create(
            benchmark=self.benchmark,
            parameters=self.job.parameters,
            algorithm=ALGORITHM,
            inputs_sha256=self.inputs.sha256,
            n_queries=len(self.inputs.texts),
            n_links=len(self.grouped_queries.links),
            n_families=len(self.targets),
            n_flagged=sum(target.row.is_flagged for target in self.targets),
            job=self.job.row,
            created_by=self.job.user,
        )

    def _change(self, grouping: Grouping, before: dict[str, Any]) -> None:
        """Write down what changed of memberships, if anything did."""
        touched = set(self.touched)
        after = {
            str(target.row.pk): target.members
            for target in self.targets
            if target.row.pk in touched or target.row.pk not in self.old
        }
        if after or touched:
            FamilyChange.objects.create(
                benchmark=self.benchmark,
                kind=FamilyChange.Kind.GROUP,
                before=before,
                after={**after, STATES: states_of(map(int, after))},
                grouping=grouping,
                actor=self.job.user,
            )

    def _write_links(self) -> int:
        """Links anew, except those that a person or a file made, or somebody has decided."""
        links = FamilyLink.objects.filter(benchmark=self.benchmark)
        stays = [FamilyLink.Reason.HAND, FamilyLink.Reason.GIVEN]
        links.filter(verdict="").exclude(reason__in=stays).delete()
        for rows in batched(self._link_rows(self.grouped_queries.links), ROWS_PER_BATCH):
            FamilyLink.objects.bulk_create(rows, ignore_conflicts=True)
        return int(links.aggregate(n=Count("pk"))["n"])

    def _link_rows(self, links: Iterable[Link]) -> Iterable[FamilyLink]:
        for link in links:
            a, b = sorted((self.inputs.key[link.a][0], self.inputs.key[link.b][0]))
            yield FamilyLink(
                benchmark=self.benchmark,
                query_a_id=a,
                query_b_id=b,
                reason=link.reason.value,
                similarity=link.similarity,
            )


def _state(row: QueryFamily) -> dict[str, Any]:
    return {
        "pk": row.pk,
        "split": row.split,
        "doubt": row.doubt,
        "is_flagged": row.is_flagged,
        "reviewed_by": row.reviewed_by_id,
        "reviewed_at": row.reviewed_at,
    }
