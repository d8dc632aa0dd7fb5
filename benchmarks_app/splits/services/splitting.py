"""Splitting a benchmark's families: looked at first, then applied; the grades of a split hidden."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from django.core.cache import cache
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.urls import reverse

from benchmarks_app.common.services import audit
from benchmarks_app.common.services.exposure import exposed_among, refuse_hiding
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import (
    Benchmark,
    Job,
    QrelSet,
    Query,
    QueryFamily,
    Slice,
    SplitPlan,
    User,
)
from benchmarks_app.splits import selectors as reads
from benchwright.errors import Problems
from benchwright.files.external_sort import batched
from benchwright.findings import Finding, Severity
from benchwright.recipes.splits import Mode, Straddling
from benchwright.splits import (
    SPLITS,
    SplitRecipe,
    assignment_sha256,
    described,
    inputs_sha256,
    read_given,
    split_queries,
    strata_sha256,
)
from benchwright.splits.describing import SplitDescription, small_slices
from benchwright.splits.errors import (
    SmallSliceError,
    SplitChangedError,
    UnknownSliceError,
    UnknownSplitError,
)
from benchwright.splits.types import Assignment
from benchwright.texts.counting import counted

SPLIT_KIND = "split-queries"


PREVIEW_KIND = "preview-split"


# What is done while a reader waits: below these numbers of queries it takes less than a second.
SPLIT_AT_ONCE = 10_000


PREVIEW_KEPT_SECONDS = 600


ROWS_PER_STATEMENT = 500


Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class SplitPreview:
    """What a split would be like; nothing is stored.

    `findings` are errors that keep it from being applied, and warnings.
    """

    assignment: Assignment
    description: SplitDescription
    parameters: dict[str, Any]
    inputs_sha256: str
    findings: list[Finding] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            **self.description.as_json(),
            "cuts": self.parameters.get("cuts", {}),
            "inputs_sha256": self.inputs_sha256,
            "assignment_sha256": assignment_sha256(self.assignment.splits),
            "findings": [finding.as_json() for finding in self.findings],
        }


def preview_split(
    *,
    benchmark: Benchmark,
    recipe: SplitRecipe,
    given_splits: Mapping[str, str] | None = None,
    qrel_set: QrelSet | None = None,
    hidden: Collection[str] | None = None,
    accept_small: bool = False,
    document_date: str = "",
) -> SplitPreview:
    """What a split would be like.

    `hidden` are the splits whose grades only keepers see, those of the benchmark where it is None.
    Without `qrel_set` the newest official one tells which documents are relevant.

    Raises
    ------
    SplittingError
        If it cannot be made; the message says what to do.
    """
    _refuse_unknown_slice(benchmark, recipe)
    chosen = qrel_set or reads.default_qrels(benchmark)
    splittable = reads.splittable(benchmark, chosen)
    assignment = split_queries(splittable.queries, recipe, given_splits)
    description = described(splittable.queries, assignment)
    withheld = benchmark.hidden_splits if hidden is None else sorted(hidden)
    parameters = {
        **recipe.as_json(),
        "cuts": {split: cut.isoformat() for split, cut in assignment.cuts},
        "qrels": chosen.name if chosen else None,
        "strata_sha256": strata_sha256(splittable.queries),
        "document_date": document_date,
        "excluded": dict(description.excluded),
    }
    return SplitPreview(
        assignment=assignment,
        description=description,
        parameters=parameters,
        inputs_sha256=inputs_sha256(splittable.queries),
        findings=[
            *_small_slice_findings(benchmark, description, is_accepted=accept_small),
            *_exposure_findings(benchmark, _hidden_keys(splittable, assignment, withheld)),
        ],
    )


def _refuse_unknown_slice(benchmark: Benchmark, recipe: SplitRecipe) -> None:
    if recipe.mode != Mode.LEAVE_SLICE_OUT:
        return
    names = list(benchmark.slices.order_by("name").values_list("name", flat=True)[:8])
    if not benchmark.slices.filter(name=recipe.slice_name).exists():
        advice = f"Choose one of: {', '.join(names)}" if names else "Make a slice first."
        raise UnknownSliceError(name=recipe.slice_name, advice=advice)


def _small_slice_findings(
    benchmark: Benchmark, description: SplitDescription, *, is_accepted: bool
) -> list[Finding]:
    """An error for a registered slice that test has too few queries of, a warning for another."""
    rows = Slice.objects.filter(benchmark=benchmark).values_list("name", "minimum", "is_registered")
    minimums = {name: minimum for name, minimum, _ in rows}
    registered = {name for name, _, is_registered in rows if is_registered}
    return [
        Finding(
            code="split-slice-small",
            severity=Severity.ERROR if name in registered and not is_accepted else Severity.WARNING,
            target="splits",
            where=f"slice {name}",
            message=f"{split} would have {counted(n, 'query')} of the "
            f"{'registered ' if name in registered else ''}slice '{name}'; its minimum is "
            f"{minimum:,}.",
            advice=f"Give {split} a larger share, or add queries to the slice"
            + (", or accept small slices." if name in registered else "."),
            n=n,
        )
        for name, split, n, minimum in small_slices(description, minimums)
    ]


def _exposure_findings(benchmark: Benchmark, hidden: list[int]) -> list[Finding]:
    exposed = exposed_among(benchmark=benchmark, hidden=hidden) if hidden else []
    if not exposed:
        return []
    named = ", ".join(exposed[:5]) + (", …" if len(exposed) > 5 else "")
    queries = counted(len(exposed), "query")
    text = f"{queries} whose grades were public would be in a hidden split: {named}."
    advice = "Do not hide that split, or split so that these queries stay in a public one."
    return [
        Finding("split-exposed", Severity.ERROR, "splits", "hidden", text, advice, len(exposed))
    ]


def _hidden_keys(
    splittable: reads.Splittable, assignment: Assignment, hidden: Collection[str]
) -> list[int]:
    keys = splittable.pk_of
    return [keys[qid] for qid, split in assignment.splits.items() if split in hidden]


def previewed(
    *,
    benchmark: Benchmark,
    recipe: SplitRecipe,
    given_splits: Mapping[str, str] | None,
    **options: Any,
) -> dict[str, Any]:
    """A preview as JSON; computed once for the same recipe and the same state of the benchmark."""
    chosen, hidden = options.get("qrel_set"), options.get("hidden")
    withheld = benchmark.hidden_splits if hidden is None else hidden
    key_facts = [recipe_json(recipe), sorted((given_splits or {}).items()), chosen and chosen.pk]
    key_facts += [sorted(withheld), options.get("accept_small")]
    key = f"split-preview:{benchmark.pk}:{reads.hash_of([reads.fingerprint(benchmark), key_facts])}"
    preview: dict[str, Any] | None = cache.get(key)
    if preview is None:
        facts = preview_split(
            benchmark=benchmark, recipe=recipe, given_splits=given_splits, **options
        )
        preview = facts.as_json()
        cache.set(key, preview, PREVIEW_KEPT_SECONDS)
    return preview


@transaction.atomic
def start_preview(
    *, benchmark: Benchmark, user: User, recipe: SplitRecipe, form: str, **options: Any
) -> Job:
    """Start a job that previews a large split; `form` is what was filled in, as it was sent."""
    _refuse_unknown_slice(benchmark, recipe)
    parameters = {**_job_parameters(recipe, **options), "form": form}
    return jobs.start(
        kind=PREVIEW_KIND,
        title="Preview a split",
        benchmark=benchmark,
        user=user,
        parameters=parameters,
    )


def preview_job(job: jobs.RunningJob) -> None:
    """The handler."""
    job.progress(0, 1, "splitting")
    recipe, options = _of_job(job)
    preview = preview_split(benchmark=job.benchmark, recipe=recipe, **options)
    with job.commit() as result:
        page = reverse("split-detail", args=[job.benchmark.slug])
        url = f"{page}?mode={recipe.mode}&preview={job.row.pk}#preview"
        result.update(preview=preview.as_json(), url=url)


def given_from(benchmark: Benchmark, lines: Iterable[bytes], *, file: str) -> dict[str, str]:
    """{query id: split} of an uploaded file.

    Raises
    ------
    FileProblemsError
        With every wrong line: unknown or missing queries, a family on two sides.
    """
    rows = reads.queries_to_split(benchmark).values_list("qid", "family_id")
    families = {qid: str(family) for qid, family in rows}
    problems = Problems()
    split_of = read_given(lines, file=file, families=families, problems=problems)
    problems.raise_found()
    return split_of


def takes_long(benchmark: Benchmark) -> bool:
    """Whether splitting takes longer than a reader should wait."""
    return reads.queries_to_split(benchmark).count() > SPLIT_AT_ONCE


def apply_split(
    *,
    benchmark: Benchmark,
    user: User,
    recipe: SplitRecipe,
    hidden: Collection[str] | None = None,
    accept_small: bool = False,
    **options: Any,
) -> SplitPlan:
    """Split the benchmark's families; options as of `preview_split`.

    Raises
    ------
    SplittingError
        If it cannot be made, or a registered slice would be too small in test.
    ExposedQueriesError
        If grades that were public would become hidden.
    SplitChangedError
        If queries or families changed meanwhile.
    """
    _refuse_unknown_splits(hidden or ())
    preview = preview_split(
        benchmark=benchmark, recipe=recipe, hidden=hidden, accept_small=accept_small, **options
    )
    _refuse_small(preview)
    with transaction.atomic():
        return store_split(
            benchmark=benchmark, user=user, recipe=recipe, preview=preview, hidden=hidden
        )


def _refuse_small(preview: SplitPreview) -> None:
    for finding in preview.findings:
        if finding.code == "split-slice-small" and finding.severity is Severity.ERROR:
            raise SmallSliceError(message=finding.message, advice=finding.advice)


def store_split(
    *,
    benchmark: Benchmark,
    user: User,
    recipe: SplitRecipe,
    preview: SplitPreview,
    hidden: Collection[str] | None,
) -> SplitPlan:
    """Write a split down; inside the caller's transaction."""
    locked = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    splittable = reads.splittable(locked)
    if inputs_sha256(splittable.queries) != preview.inputs_sha256:
        raise SplitChangedError
    withheld = locked.hidden_splits if hidden is None else _in_order(hidden)
    hidden_keys = _hidden_keys(splittable, preview.assignment, withheld)
    refuse_hiding(benchmark=locked, hidden=hidden_keys)
    _write_families(locked, preview.assignment)
    _write_exclusions(locked, splittable, preview.assignment)
    if withheld != locked.hidden_splits:
        Benchmark.objects.filter(pk=locked.pk).update(hidden_splits=withheld)
        benchmark.hidden_splits = withheld
    plan = SplitPlan.objects.create(
        benchmark=locked,
        mode=recipe.mode,
        seed=recipe.seed,
        parameters=preview.parameters,
        algorithm=recipe.algorithm,
        inputs_sha256=preview.inputs_sha256,
        digest=assignment_sha256(preview.assignment.splits),
        sizes={split: preview.assignment.sizes.get(split, 0) for split in SPLITS},
        n_excluded=len(preview.assignment.excluded),
        created_by=user,
    )
    audit.record(
        actor=user,
        action="split-queries",
        benchmark=locked,
        target=plan.get_mode_display(),
        seed=recipe.seed,
        sizes=plan.sizes,
        hidden=withheld,
        digest=plan.digest,
    )
    return plan


def _write_families(benchmark: Benchmark, assignment: Assignment) -> None:
    """Every family's split; one that has no query to split has none."""
    families_of: dict[str, list[int]] = {split: [] for split in (*SPLITS, "")}
    for family, split in assignment.families.items():
        families_of[split].append(int(family))
    of_benchmark = QueryFamily.objects.filter(benchmark=benchmark)
    of_benchmark.exclude(split="").filter(~_has_query_to_split(benchmark)).update(split="")
    for split, families in families_of.items():
        for keys in batched(families, ROWS_PER_STATEMENT):
            of_benchmark.filter(pk__in=keys).exclude(split=split).update(split=split)


def _has_query_to_split(benchmark: Benchmark) -> Exists:
    return Exists(reads.queries_to_split(benchmark).filter(family=OuterRef("pk")))


def _write_exclusions(
    benchmark: Benchmark, splittable: reads.Splittable, assignment: Assignment
) -> None:
    keys = splittable.pk_of
    queries_of: dict[str, list[int]] = {}
    for qid, reason in assignment.excluded.items():
        queries_of.setdefault(reason, []).append(keys[qid])
    left_out = [key for row in queries_of.values() for key in row]
    stays = set(left_out)
    back = [
        row["pk"] for row in splittable.rows if row["excluded_reason"] and row["pk"] not in stays
    ]
    for batch in batched(back, ROWS_PER_STATEMENT):
        Query.objects.filter(pk__in=batch).update(excluded_reason="")
    for reason, queries in queries_of.items():
        for batch in batched(queries, ROWS_PER_STATEMENT):
            Query.objects.filter(pk__in=batch).update(excluded_reason=reason)


@transaction.atomic
def start_split(*, benchmark: Benchmark, user: User, recipe: SplitRecipe, **options: Any) -> Job:
    """Start a job that splits a large benchmark; options as of `apply_split`, no `given_splits`."""
    _refuse_unknown_slice(benchmark, recipe)
    recipe.check()
    return jobs.start(
        kind=SPLIT_KIND,
        title="Split queries",
        benchmark=benchmark,
        user=user,
        parameters=_job_parameters(recipe, **options),
    )


def split_job(job: jobs.RunningJob) -> None:
    """The handler."""
    recipe, options = _of_job(job)
    job.progress(0, 2, "reading queries")
    preview = preview_split(benchmark=job.benchmark, recipe=recipe, **options)
    _refuse_small(preview)
    job.progress(1, 2, "writing splits")
    with job.commit() as result:
        plan = store_split(
            benchmark=job.benchmark,
            user=job.user,
            recipe=recipe,
            preview=preview,
            hidden=options["hidden"],
        )
        sizes = ", ".join(f"{split} {n:,}" for split, n in plan.sizes.items() if n)
        page = reverse("split-detail", args=[job.benchmark.slug])
        result.update(made=[f"splits: {sizes}"], url=page)


def _job_parameters(
    recipe: SplitRecipe,
    *,
    hidden: Collection[str] | None = None,
    accept_small: bool = False,
    qrel_set: QrelSet | None = None,
    document_date: str = "",
) -> dict[str, Any]:
    _refuse_unknown_splits(hidden or ())
    return {
        "recipe": recipe_json(recipe),
        "hidden": None if hidden is None else _in_order(hidden),
        "accept_small": accept_small,
        "qrels": qrel_set.pk if qrel_set else None,
        "document_date": document_date,
    }


def _of_job(job: jobs.RunningJob) -> tuple[SplitRecipe, dict[str, Any]]:
    parameters = job.parameters
    return recipe_from(parameters["recipe"]), {
        "hidden": parameters["hidden"],
        "accept_small": parameters["accept_small"],
        "qrel_set": QrelSet.objects.filter(pk=parameters["qrels"], benchmark=job.benchmark).first(),
        "document_date": parameters["document_date"],
    }


def recipe_json(recipe: SplitRecipe) -> dict[str, Any]:
    """A recipe as a job keeps it: every field."""
    return {
        **{key: getattr(recipe, key) for key in ("mode", "seed", "gap_days", "straddling")},
        "shares": dict(recipe.shares),
        "slice_name": recipe.slice_name,
        "test_from": recipe.test_from.isoformat() if recipe.test_from else None,
        "dev_from": recipe.dev_from.isoformat() if recipe.dev_from else None,
    }


def recipe_from(parameters: Mapping[str, Any]) -> SplitRecipe:
    return SplitRecipe(
        mode=Mode(parameters["mode"]),
        shares=parameters["shares"],
        seed=parameters["seed"],
        test_from=reads.moment_of(parameters["test_from"]),
        dev_from=reads.moment_of(parameters["dev_from"]),
        gap_days=parameters["gap_days"],
        straddling=Straddling(parameters["straddling"]),
        slice_name=parameters["slice_name"],
    )


@transaction.atomic
def choose_hidden(*, benchmark: Benchmark, user: User, hidden: Collection[str]) -> None:
    """Say whose grades only keepers see, without splitting again.

    Raises
    ------
    UnknownSplitError
        If there is no such split.
    ExposedQueriesError
        If grades that were public would become hidden.
    """
    _refuse_unknown_splits(hidden)
    locked = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    splittable = reads.splittable(locked)
    assignment = reads.current_assignment(locked, splittable)
    refuse_hiding(benchmark=locked, hidden=_hidden_keys(splittable, assignment, hidden))
    Benchmark.objects.filter(pk=locked.pk).update(hidden_splits=_in_order(hidden))
    benchmark.hidden_splits = _in_order(hidden)
    audit.record(
        actor=user,
        action="hide-splits",
        benchmark=locked,
        target=", ".join(_in_order(hidden)) or "none",
    )


def _in_order(splits: Collection[str]) -> list[str]:
    return [split for split in SPLITS if split in splits]


def _refuse_unknown_splits(splits: Collection[str]) -> None:
    unknown = sorted(set(splits) - set(SPLITS))
    if unknown:
        raise UnknownSplitError(split=unknown[0])


def current_description(benchmark: Benchmark) -> dict[str, Any]:
    """What the split in force is like, without anything that is counted from grades; JSON."""
    key = f"split-described:{benchmark.pk}:{reads.fingerprint(benchmark)}"
    described = cache.get_or_set(key, lambda: _described(benchmark), PREVIEW_KEPT_SECONDS)
    return cast(dict[str, Any], described)


def _described(benchmark: Benchmark) -> dict[str, Any]:
    splittable = reads.splittable(benchmark)
    return described(splittable.queries, reads.current_assignment(benchmark, splittable)).as_json()
