"""Which systems of this site have made which runs, and how those stand."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from benchmarks_app.common.selectors.naming import metadata_told
from benchmarks_app.models import Benchmark, CorpusVersion, Job, Run
from benchwright.retrieval.catalog import CATALOG, Entry
from scoring.models import Retrieval, RunLatencies
from scoring.scores.selectors.boards import BoardRow, Interval

DIFFERS = ("system", "language", "depth", "corpus_version")
# Facts of a run with columns of their own on the page.
SHOWN_APART = frozenset({"latency_ms"})


@dataclass(frozen=True)
class BaselineRow:
    """A run of one of our systems: its numbers on a release, and what making it took.

    `stale` says in words what has changed since, empty where nothing has. Runs that an earlier
    version of this site made have neither `retrieval` nor `latencies`.
    """

    run: Run
    retrieval: Retrieval | None
    latencies: RunLatencies | None
    board: BoardRow | None
    stale: str
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def scores(self) -> dict[str, float | None]:
        return self.board.scores if self.board else {}

    @property
    def intervals(self) -> dict[str, Interval]:
        return self.board.intervals if self.board else {}

    @property
    def system(self) -> str:
        return system_of(self.run, self.retrieval)


@dataclass(frozen=True)
class SystemRow:
    """A system of the catalog with the runs it has made here, and the state they are in."""

    entry: Entry
    rows: list[BaselineRow]

    @property
    def state(self) -> str:
        """`made`, `stale`, `missing`, or `unavailable`."""
        if not self.entry.is_available and not self.rows:
            return "unavailable"
        if not self.rows:
            return "missing"
        return "stale" if all(row.stale for row in self.rows) else "made"


def baseline_runs(benchmark: Benchmark, viewer: Any) -> QuerySet[Run]:
    """The baselines that this person may see, with what was kept of their making, by name."""
    runs = Run.objects.visible_to(viewer).standing()
    return (
        runs.filter(benchmark=benchmark, kind=Run.Kind.BASELINE)
        .select_related("retrieval__corpus_version", "latencies", "owner", "team", "benchmark")
        .order_by("name")
    )


def baseline_rows(
    benchmark: Benchmark, viewer: Any, board: Mapping[int, BoardRow]
) -> list[BaselineRow]:
    """A row for each baseline that this person may see; `board` has the numbers by run."""
    n_queries, version = benchmark.queries.committed().count(), benchmark.current_corpus_version
    return [
        BaselineRow(
            run=run,
            retrieval=(retrieval := getattr(run, "retrieval", None)),
            latencies=getattr(run, "latencies", None),
            board=board.get(run.pk),
            stale=staleness(retrieval, version, n_queries),
            facts={
                name: value
                for name, value in metadata_told(run, viewer).items()
                if name not in SHOWN_APART
            },
        )
        for run in baseline_runs(benchmark, viewer)
    ]


def staleness(retrieval: Retrieval | None, version: CorpusVersion | None, n_queries: int) -> str:
    """What has changed since a run was made, in words; empty where nothing has.

    `version` is the newest of the corpus, `n_queries` how many the benchmark has.
    """
    if retrieval is None:
        return _("made before this site kept on which version of the corpus")
    reasons = []
    if retrieval.corpus_version != version:
        of = retrieval.corpus_version
        number, now = of and of.number, version and version.number
        if number and now:
            sentence = _("made on version %(number)s of the corpus, now %(now)s")
        elif number:
            sentence = _("made on version %(number)s of the corpus")
        elif now:
            sentence = _("made on a version that is gone of the corpus, now %(now)s")
        else:
            sentence = _("made on a version that is gone of the corpus")
        reasons.append(sentence % {"number": number, "now": now})
    if retrieval.n_queries != n_queries:
        counts = {"before": f"{retrieval.n_queries:,}", "now": f"{n_queries:,}"}
        reasons.append(_("made for %(before)s queries, now %(now)s") % counts)
    return "; ".join(reasons)


def system_rows(rows: Iterable[BaselineRow]) -> list[SystemRow]:
    """Every system of the catalog, with its own of `rows`."""
    by_system: dict[str, list[BaselineRow]] = {}
    for row in rows:
        by_system.setdefault(row.system, []).append(row)
    return [SystemRow(entry, by_system.get(name, [])) for name, entry in CATALOG.items()]


def system_of(run: Run, retrieval: Retrieval | None) -> str:
    """The catalog's name of what made a run; empty where that is not known."""
    if retrieval is not None:
        return retrieval.system
    system = str(run.metadata.get("system", ""))
    return system if system in CATALOG else ""


def is_made(benchmark: Benchmark, parameters: Mapping[str, Any]) -> bool:
    """Whether there is such a run: of these texts, and of all queries there are."""
    filters = {name: parameters[name] for name in DIFFERS}
    n_queries = benchmark.queries.committed().count()
    return Retrieval.objects.filter(
        run__benchmark=benchmark, run__withdrawn_at=None, n_queries=n_queries, **filters
    ).exists()


def jobs_at_work(
    benchmark: Benchmark, kind: str, parameters: Mapping[str, Any] | None = None
) -> QuerySet[Job]:
    """Jobs that make baselines and have not ended; with `asked` those that make the same one."""
    same = Q()
    if parameters:
        for name in DIFFERS:
            same &= Q(**{f"parameters__{name}": parameters[name]})
    return benchmark.jobs.active().filter(same, kind=kind).order_by("pk")
