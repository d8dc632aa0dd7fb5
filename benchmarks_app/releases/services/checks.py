"""What is looked at before a release is published, from the parts that know."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from benchmarks_app.models import Benchmark, Release, Slice
from benchmarks_app.releases.selectors import hidden_parts, hidden_queries, release_weights
from benchmarks_app.releases.services.files import Contents
from benchmarks_app.result_facts import reach_of
from benchmarks_app.splits.selectors import current_plan, is_outdated
from benchmarks_app.splits.services.leak_reports import current_leak_report
from benchwright.findings import Finding, errors_in
from benchwright.linting import release_rules
from benchwright.linting.release_rules import SliceSize, SplitSize
from benchwright.linting.rules import TARGETS
from benchwright.linting.sources import lint
from benchwright.releases.source import Qrels, ReleaseSource
from benchwright.slices.showing import is_safe

# Below each number of graded queries, what a benchmark is good for.
TIERS = ((200, "unreliable"), (500, "minimal"), (1_000, "fair"), (5_000, "production"))
LARGEST_TIER = "high confidence"
WHOLE = "all"
# What the rules of releases say themselves, with numbers.
SAID_BY_RELEASE_RULES = ("query-all-zero",)


def split_sizes(contents: Contents) -> list[SplitSize]:
    """The splits of a release, by name."""
    sizes = []
    for split in sorted(set(contents.split_of.values())):
        qids = contents.of_split(split)
        graded = [qid for qid in qids if contents.grades_of(qid).n > 0]
        n_families = len({contents.families[qid] for qid in graded})
        is_hidden = split in contents.hidden
        sizes.append(SplitSize(split, len(qids), len(graded), n_families, is_hidden))
    return sizes


def slice_sizes(contents: Contents) -> list[SliceSize]:
    """Every slice of the benchmark, with how many of its queries are graded in this release.

    All of hidden splits are counted: what is found is published, and which of them are graded is
    not.
    """
    sizes = []
    for row in Slice.objects.filter(benchmark=contents.benchmark).order_by("name"):
        qids = contents.slices.get(row.name, ())
        n_hidden = sum(not contents.is_public(qid) for qid in qids)
        n_graded = sum(contents.is_public(qid) and contents.grades_of(qid).n > 0 for qid in qids)
        sizes.append(SliceSize(row.name, n_graded, row.minimum, row.is_registered, n_hidden))
    return sizes


def told_apart(contents: Contents) -> list[str]:
    """Means that tell of few families of hidden queries when they are shown together, in words.

    Of this release the means over each hidden split and all of them; of earlier ones those over
    what is hidden still.
    """
    together = _hidden_parts(contents)
    if not any(together):
        return []
    smallest = release_rules.SMALLEST_HIDDEN_SPLIT
    parts = []
    public = {qid for qid in contents.split_of if contents.is_public(qid)}
    for release in Release.objects.published().filter(benchmark=contents.benchmark).newest_first():
        earlier = [part - public for part in hidden_parts(release)]
        if earlier and not is_safe(
            [*together, *earlier], families=contents.families, smallest=smallest
        ):
            parts.append(f"This release and {release.version}")
        together += earlier
    return parts


def withholds_weighted(contents: Contents) -> bool:
    """Whether weighted means tell of few families of hidden queries.

    Beside the plain ones, and those of earlier releases, in which queries had other weights.
    """
    parts = _hidden_parts(contents)
    weights = {qid: contents.weights[qid] for qid in parts[-1] if qid in contents.weights}
    if not weights:
        return False
    public = {qid for qid in contents.split_of if contents.is_public(qid)}
    weighted = [
        {
            qid: weight
            for qid, weight in release_weights(release).items()
            if qid in hidden_queries(release) - public
        }
        for release in Release.objects.published().filter(benchmark=contents.benchmark)
    ]
    smallest = release_rules.SMALLEST_HIDDEN_SPLIT
    return not is_safe(
        parts, families=contents.families, smallest=smallest, weights=weights, weighted=weighted
    )


def _hidden_parts(contents: Contents) -> list[frozenset[str]]:
    """The graded queries of each hidden split, and of all of them."""
    parts = [
        frozenset(qid for qid in contents.of_split(split) if contents.grades_of(qid).n)
        for split in contents.hidden
    ]
    return [*parts, frozenset[str]().union(*parts)]


def leaks_of(contents: Contents) -> dict[str, Any] | None:
    """The leak report that goes with a release; None where there is but one split.

    Of relevant documents of hidden splits nothing is in it.
    """
    if len(set(contents.split_of.values())) < 2:
        return None
    return current_leak_report(contents.benchmark, qrel_set=contents.qrel_set)


def is_split_outdated(benchmark: Benchmark) -> bool:
    """Whether queries, families or dates are others than when the splits were made."""
    plan = current_plan(benchmark)
    return plan is not None and is_outdated(benchmark, plan)


def reliability_of(contents: Contents) -> dict[str, Any]:
    """What the graded queries of a release can show."""
    graded = [qid for qid in contents.split_of if contents.grades_of(qid).n]
    reach = reach_of(contents.benchmark, {WHOLE: graded}).get(WHOLE) if graded else None
    return {
        "n_queries": len(graded),
        "tier": tier(len(graded)),
        "detectable": reach.detectable if reach else None,
        "is_assumed": reach.is_assumed if reach else None,
    }


def tier(n_queries: int) -> str:
    """What a benchmark of this size is called."""
    return next((name for below, name in TIERS if n_queries < below), LARGEST_TIER)


def format_findings(source: ReleaseSource, left_out: Collection[str]) -> list[Finding]:
    """What the readers of its formats make of a release; `left_out` are formats it is not given in.

    Findings are published with it, so those that lie in hidden splits are told only where they keep
    it from being published. Pairs that were pooled and not judged are left out by every writer that
    has no way to say so, and so here.
    """
    targets = [name for name in TARGETS if name not in left_out]
    written = replace(source, qrels=lambda split: _judged(source, split))
    public = tuple(split for split in source.splits if split not in source.hidden)
    findings = lint(replace(written, splits=public), targets)
    if source.hidden:
        findings += [
            finding for finding in errors_in(lint(written, targets)) if finding not in findings
        ]
    return [finding for finding in findings if finding.code not in SAID_BY_RELEASE_RULES]


def _judged(source: ReleaseSource, split: str) -> Qrels:
    return (row for row in source.qrels(split) if row[2] >= 0)
