"""What stands against publishing a release, beyond formats and leaks: sizes, pools, the version.

`RULES` is the one list of codes; each has a heading in docs/linter.md.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchwright.findings import Finding, Severity
from benchwright.releases.machines import TELLS_OF_MACHINE
from benchwright.releases.versions import Needed, Version, is_enough, next_version, written_version
from benchwright.statistics.reliability import reach_in_words
from benchwright.texts.counting import counted, first_of, percent_beside

TARGET = "release"
NAMED_AT_MOST = 5
# A mean over fewer families says too much about each of them.
SMALLEST_HIDDEN_SPLIT = 30
RELIABLE_FROM = 200
# Below this share of judged documents among the first ten, a low score may be a missing label.
JUDGED_FROM = 0.8
TELLS_OF_DRAW = re.compile(r"drawn|sampl|estimat", re.IGNORECASE)

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
RULES: dict[str, Severity] = {
    "release-no-relevant": ERROR,
    "release-version-order": ERROR,
    "release-version-step": ERROR,
    "release-exposed": ERROR,
    "release-hidden-apart": ERROR,
    "release-hidden-small": ERROR,
    "release-weighted-withheld": WARNING,
    "release-split-unjudged": WARNING,
    "release-slice-small": WARNING,
    "release-slice-registered-small": WARNING,
    "release-split-outdated": WARNING,
    "release-split-missing": WARNING,
    "release-query-all-zero": WARNING,
    "release-query-no-relevant": WARNING,
    "release-pool-open": WARNING,
    "release-judged-share": WARNING,
    "release-size": WARNING,
    "release-machine-untold": WARNING,
    "release-machine-share-untold": WARNING,
    "release-drawn-untold": WARNING,
    "release-licence-missing": WARNING,
    "release-card-missing": WARNING,
    "release-query-unjudged": NOTE,
    "release-pair-unjudged": NOTE,
    "release-corpus-cut": NOTE,
    "release-texts-withheld": NOTE,
    "release-all-zero-dropped": NOTE,
}


@dataclass(frozen=True, slots=True)
class SliceSize:
    """A slice of a release: how many of its queries are graded, and how many it should have.

    Those of hidden splits are not among the graded; all of them are counted.
    """

    name: str
    n_graded: int
    minimum: int
    is_registered: bool
    n_hidden: int = 0


@dataclass(frozen=True)
class SplitSize:
    """A split of a release, by its queries; `n_families` are those of graded ones."""

    name: str
    n_queries: int
    n_graded: int
    n_families: int
    is_hidden: bool


@dataclass(frozen=True)
class ReleaseFacts:
    """Everything the rules look at; whoever has no answer leaves the default, which says nothing.

    Query ids are those of queries that a rule would name: of hidden splits none. `judged_shares` is
    the share judged among the first ten, by run. What the leak
    report found is its own to say; `told_apart` names means that tell too much together.
    """

    version: Version
    parent: Version | None = None
    needed: Needed | None = None
    n_relevant: int = 1
    splits: Sequence[SplitSize] = ()
    slices: Sequence[SliceSize] = ()
    exposed: Sequence[str] = ()
    told_apart: Sequence[str] = ()
    withholds_weighted: bool = False
    without_split: Sequence[str] = ()
    is_split_outdated: bool = False
    all_zero: Sequence[str] = ()
    no_relevant: Sequence[str] = ()
    unjudged: Sequence[str] = ()
    n_pairs_unjudged: int = 0
    n_dropped: int = 0
    threshold: int = 1
    pools: Sequence[Mapping[str, Any]] = ()
    judged_shares: Mapping[str, float] = field(default_factory=dict)
    n_graded: int = RELIABLE_FROM
    detectable: float | None = None
    is_reach_assumed: bool = False
    licence: str = ""
    description: str = ""
    cut: Mapping[str, Any] = field(default_factory=dict)
    are_texts_withheld: bool = False
    is_machine_judged: bool = False
    # Grades of people, and labels of machines beside them.
    n_grades: int = 0
    n_machine_labels: int = 0
    # Documents that are judged only as they were drawn to estimate runs; None where how many they
    # are would tell of hidden grades.
    n_drawn: int | None = 0
    # Where one would read it: name of the qrels, description, notes.
    words: str = ""


def release_findings(facts: ReleaseFacts) -> list[Finding]:
    """What is to be said about publishing this, errors first, in the order of `RULES`."""
    findings = [
        *_content(facts),
        *_version(facts),
        *_sizes_of_splits(facts),
        *_told_of_hidden_splits(facts),
        *_queries_beside_splits(facts),
        *_slices(facts),
        *_queries(facts),
        *_pools(facts),
        *_words(facts),
        *_corpus(facts),
    ]
    order = list(RULES)
    return sorted(findings, key=lambda finding: order.index(finding.code))


def _finding(code: str, where: str, message: str, advice: str, n: int = 1) -> Finding:
    return Finding(code, RULES[code], TARGET, where, message, advice, n)


def _content(facts: ReleaseFacts) -> Iterator[Finding]:
    if not facts.n_relevant:
        yield _finding(
            "release-no-relevant",
            "qrels",
            f"No document has a grade of {facts.threshold} or above, so no run could score "
            "above 0.",
            "Judge more, or lower the relevance threshold.",
        )


def _version(facts: ReleaseFacts) -> Iterator[Finding]:
    if facts.parent is None:
        return
    version, parent = written_version(facts.version), written_version(facts.parent)
    if facts.version <= facts.parent:
        yield _finding(
            "release-version-order",
            f"version {version}",
            f"{version} is not later than {parent}, the newest release.",
            f"Choose {written_version(next_version(facts.parent, _step(facts)))} or a later one.",
        )
    elif facts.needed and not is_enough(facts.parent, facts.version, facts.needed.step):
        proposed = written_version(next_version(facts.parent, facts.needed.step))
        yield _finding(
            "release-version-step",
            f"version {version}",
            f"Since {parent}: {'; '.join(facts.needed.reasons)}. That is a {facts.needed.step} "
            f"step, and {version} says less.",
            f"Call it {proposed}.",
        )


def _step(facts: ReleaseFacts) -> str:
    return facts.needed.step if facts.needed else "minor"


def _sizes_of_splits(facts: ReleaseFacts) -> Iterator[Finding]:
    for split in facts.splits:
        if not split.n_graded:
            yield _finding(
                "release-split-unjudged",
                f"split {split.name}",
                f"The split '{split.name}' has {counted(split.n_queries, 'query')} without a "
                "grade; it is released without qrels.",
                "Judge documents of its queries, or split anew without it.",
            )
        elif split.is_hidden and split.n_families < SMALLEST_HIDDEN_SPLIT:
            yield _finding(
                "release-hidden-small",
                f"split {split.name}",
                f"The hidden split '{split.name}' has {counted(split.n_families, 'family')} of "
                f"graded queries; a mean over fewer than {SMALLEST_HIDDEN_SPLIT} would tell what "
                "is hidden.",
                f"Give it at least {SMALLEST_HIDDEN_SPLIT} graded families, or make it public.",
            )


def _told_of_hidden_splits(facts: ReleaseFacts) -> Iterator[Finding]:
    for part in facts.told_apart:
        yield _finding(
            "release-hidden-apart",
            "hidden splits",
            f"{part} would together tell of fewer than {SMALLEST_HIDDEN_SPLIT} families of hidden "
            "queries: a difference of means is one over what they do not share.",
            "Let hidden splits differ in none or in that many families from what is shown already.",
        )
    if facts.withholds_weighted:
        yield _finding(
            "release-weighted-withheld",
            "weights",
            "Weighted means are shown to keepers alone: beside the plain ones they would tell of "
            f"fewer than {SMALLEST_HIDDEN_SPLIT} families of hidden queries.",
            "Hide more queries, or let their weights differ less.",
        )
    if facts.exposed:
        yield _finding(
            "release-exposed",
            f"query {first_of(facts.exposed, NAMED_AT_MOST)}",
            f"The grades of {counted(len(facts.exposed), 'query')} of a hidden split were public "
            "in an earlier release.",
            "Keep these queries in a public split, or hide others.",
            len(facts.exposed),
        )


def _queries_beside_splits(facts: ReleaseFacts) -> Iterator[Finding]:
    if facts.is_split_outdated:
        yield _finding(
            "release-split-outdated",
            "splits",
            "Families or queries have changed since the splits were made.",
            "Split anew, or look at the leak report once more.",
        )
    if facts.without_split:
        yield _finding(
            "release-split-missing",
            f"query {first_of(facts.without_split, NAMED_AT_MOST)}",
            f"{counted(len(facts.without_split), 'query')} in no split, while others are in one: "
            "released as test.",
            "Split anew, so that they get one.",
            len(facts.without_split),
        )


def _slices(facts: ReleaseFacts) -> Iterator[Finding]:
    for slice_facts in facts.slices:
        if slice_facts.n_graded + slice_facts.n_hidden >= slice_facts.minimum:
            continue
        code = (
            "release-slice-registered-small" if slice_facts.is_registered else "release-slice-small"
        )
        kind = "registered slice" if slice_facts.is_registered else "slice"
        hidden = f" and {slice_facts.n_hidden:,} of hidden splits" if slice_facts.n_hidden else ""
        yield _finding(
            code,
            f"slice {slice_facts.name}",
            f"The {kind} '{slice_facts.name}' has {counted(slice_facts.n_graded, 'graded query')}"
            f"{hidden}; "
            f"its minimum is {slice_facts.minimum:,}.",
            "Add queries (its page says how many), or do not compare systems by it.",
        )


def _queries(facts: ReleaseFacts) -> Iterator[Finding]:
    rules = {
        "release-query-all-zero": (
            facts.all_zero,
            "without a grade above 0: every system scores 0 there.",
            "Judge more of their documents, or drop them from this release; kept, they lower "
            "every mean alike.",
        ),
        "release-query-no-relevant": (
            facts.no_relevant,
            f"with graded documents and none from grade {facts.threshold} on.",
            "Judge more of their documents, or look whether the threshold is meant so.",
        ),
        "release-query-unjudged": (
            facts.unjudged,
            "without any grade, which no score counts.",
            "Nothing needs to be done; a later release may grade them.",
        ),
    }
    for code, (qids, message, advice) in rules.items():
        if qids:
            where = f"query {first_of(qids, NAMED_AT_MOST)}"
            yield _finding(
                code, where, f"{counted(len(qids), 'query')} {message}", advice, len(qids)
            )
    if facts.n_dropped:
        yield _finding(
            "release-all-zero-dropped",
            "queries",
            f"Dropped, as was asked for: {counted(facts.n_dropped, 'query')} without a grade "
            "above 0.",
            "The manifest says so; scores are over the other queries.",
            facts.n_dropped,
        )
    if facts.n_pairs_unjudged:
        yield _finding(
            "release-pair-unjudged",
            "qrels.trec",
            f"In qrels.trec only: {counted(facts.n_pairs_unjudged, 'pair')} pooled, not judged.",
            "Formats without a grade of -1 leave them out.",
            facts.n_pairs_unjudged,
        )


def _pools(facts: ReleaseFacts) -> Iterator[Finding]:
    for pool in facts.pools:
        if pool.get("n_open"):
            yield _finding(
                "release-pool-open",
                f"pool {pool['name']}",
                f"The pool '{pool['name']}' still wants {counted(pool['n_open'], 'label')}.",
                "Finish it first, or publish what there is; later labels need a new release.",
                pool["n_open"],
            )
    low = {run: share for run, share in facts.judged_shares.items() if share < JUDGED_FROM}
    if low:
        worst = sorted(low, key=lambda run: (low[run], run))
        listed = ", ".join(
            f"{run} {percent_beside(low[run], JUDGED_FROM, decimals=0)}%"
            for run in worst[:NAMED_AT_MOST]
        )
        yield _finding(
            "release-judged-share",
            "runs",
            f"Of {counted(len(low), 'run')} less than {JUDGED_FROM:.0%} of the first 10 documents "
            f"are judged: {listed}.",
            "Top up the pool with these runs; until then their scores are lower bounds.",
            len(low),
        )
    if facts.n_graded < RELIABLE_FROM:
        are = "is" if facts.n_graded == 1 else "are"
        graded = counted(facts.n_graded, "graded query")
        few = f"{graded} {are} too few to rely on small differences."
        reach = reach_in_words(facts.detectable, is_assumed=facts.is_reach_assumed)
        yield _finding(
            "release-size",
            "queries",
            " ".join(filter(None, [few, reach])),
            f"Grade {RELIABLE_FROM:,} queries or more, or compare with care.",
        )


def _words(facts: ReleaseFacts) -> Iterator[Finding]:
    if facts.is_machine_judged and not TELLS_OF_MACHINE.search(facts.words):
        yield _finding(
            "release-machine-untold",
            "qrels",
            "A machine gave the grades, and neither description nor notes say so.",
            "Write in the notes of the draft which model judged, and how far it was checked.",
        )
    if facts.n_machine_labels and not TELLS_OF_MACHINE.search(facts.words):
        n = facts.n_grades + facts.n_machine_labels
        yield _finding(
            "release-machine-share-untold",
            "machine_labels.tsv",
            f"Beside {counted(facts.n_grades, 'grade')} of people: "
            f"{counted(facts.n_machine_labels, 'label')} of a machine "
            f"({facts.n_machine_labels / n:.0%} of all), and neither description nor notes say so.",
            "Write in the notes of the draft which model they are of, and how many.",
            facts.n_machine_labels,
        )
    if facts.n_drawn != 0 and not TELLS_OF_DRAW.search(facts.words):
        yield _finding(
            "release-drawn-untold",
            "qrels",
            f"Drawn to estimate runs: {_drawn(facts.n_drawn)}, and neither description nor notes "
            "say so: what runs have beside them is mostly unjudged.",
            "Judge their queries whole, or write in the notes that documents were drawn.",
            facts.n_drawn or 1,
        )
    if not facts.licence.strip():
        yield _finding(
            "release-licence-missing",
            "licence",
            "There is no licence, so nobody knows whether they may use it.",
            "Write one on the draft, such as CC-BY-4.0.",
        )
    if not facts.description.strip():
        yield _finding(
            "release-card-missing",
            "card",
            "The card has no description: what is searched, who asks, what counts as relevant.",
            "Write a few sentences on the draft.",
        )


def _drawn(n: int | None) -> str:
    return "graded documents" if n is None else counted(n, "graded document")


def _corpus(facts: ReleaseFacts) -> Iterator[Finding]:
    if facts.cut:
        n_kept, total = facts.cut.get("n", 0), facts.cut.get("of", 0)
        yield _finding(
            "release-corpus-cut",
            "corpus",
            f"The corpus was cut to {n_kept:,} of {total:,} documents; scores on it are higher "
            "than on all of them.",
            "Card and page say so; compare only with scores on the same corpus.",
        )
    if facts.are_texts_withheld:
        yield _finding(
            "release-texts-withheld",
            "corpus",
            "The documents' texts are not passed on; exports hold ids and hashes of texts.",
            "Say on the card where the corpus can be had.",
        )
