"""What scoring adds to the shared pages: steps, needs, cards, one's own runs, what queries show."""

from collections.abc import Iterator
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse

from benchmarks_app.homes import Card, Check, Need, card, check, home, need
from benchmarks_app.models import Benchmark
from benchmarks_app.navigation import badge
from benchmarks_app.overview import Step, step
from benchmarks_app.permissions import Action, may
from benchwright.comparison.comparability import PROVISIONAL, ROUNDING
from benchwright.texts.counting import number_beside, percent_beside
from scoring.models import ScoreSet
from scoring.scores.selectors.boards import judged_shares_on
from scoring.scores.selectors.releases import SCORER_VERSION, newest_release
from scoring.submissions.selectors.submissions import n_open_flags

badge("scoring:probing-list")(n_open_flags)


@step
def leaderboard_step(benchmark: Benchmark, user: Any) -> Step:
    release = newest_release(benchmark)
    n = _n_scored(release) if release else 0
    return Step(
        order=80,
        title="Leaderboard",
        is_done=bool(n),
        detail=_detail(release, n),
        url=reverse("scoring:leaderboard", args=[benchmark.slug]),
        call="See the leaderboard" if n else "Submit a run",
        action=Action.SEE_RESULTS,
    )


def _n_scored(release: Any) -> int:
    return ScoreSet.objects.filter(release=release, scorer_version=SCORER_VERSION).count()


def _detail(release: Any, n: int) -> str:
    if release is None:
        return "scores need a release"
    return f"{n} {'run' if n == 1 else 'runs'} on {release.version}"


# --- what waits, and what a release lacks --------------------------------------------------------

RUNS_NAMED = 10


@need(Action.EDIT)
def comparability_need(benchmark: Benchmark, user: Any) -> Iterator[Need]:
    """Runs whose first ten documents are judged too little to compare them."""
    release = newest_release(benchmark)
    shares = judged_shares_on(release) if release else {}
    low = {run: share for run, share in shares.items() if share < PROVISIONAL - ROUNDING}
    if not low or release is None:
        return
    n = len(low)
    several = "Runs are" if n > 1 else "A run is"
    title = f"{several} not comparable yet: {intcomma(n)} of {intcomma(len(shares))}"
    ends = min(low.values()), max(low.values())
    least, most = (percent_beside(share, 0, PROVISIONAL, decimals=0) for share in ends)
    span = least if least == most else f"{least} to {most}"
    detail = (
        f"{span} % of their first ten documents are judged on {release.version}; "
        f"from {100 * PROVISIONAL:.0f} % on runs are compared provisionally."
    )
    worst = sorted(low, key=lambda run: (low[run], run))[:RUNS_NAMED]
    runs = ",".join(str(run) for run in worst)
    url = f"{reverse('scoring:top-up-new', args=[benchmark.slug])}?runs={runs}"
    yield Need(80, "warn", title, detail, "Top it up", url)


@need(Action.EDIT)
def probing_need(benchmark: Benchmark, user: Any) -> Iterator[Need]:
    n = n_open_flags(benchmark)
    if n:
        title = f"{intcomma(n)} submission{'s look' if n != 1 else ' looks'} like probing"
        detail = "Sent to read hidden grades, or by chance so: say which."
        url = reverse("scoring:probing-list", args=[benchmark.slug])
        yield Need(85, "warn", title, detail, "Look", url)


@check
def judged_check(benchmark: Benchmark, user: Any) -> Check | None:
    """The smallest judged share of a run's first ten on the newest release; None without runs."""
    release = newest_release(benchmark)
    shares = judged_shares_on(release) if release else {}
    if not shares or release is None:
        return None
    least = min(shares.values())
    state = "good" if least >= PROVISIONAL - ROUNDING else "warn"
    why = f"now {number_beside(least, PROVISIONAL, decimals=2)} on {release.version}"
    url = reverse("scoring:top-up-new", args=[benchmark.slug])
    title = f"Judged@10 of every run {PROVISIONAL:.2f} or more"
    return Check(45, state, title, why, url, "why")


@card(Action.SEE_RESULTS)
def board_card(benchmark: Benchmark, user: Any) -> Card | None:
    """The top of the newest board; its rows are asked for by the page."""
    release = newest_release(benchmark)
    if release is None:
        return None
    return Card(20, "scoring/boards/_home_board.html", context={"release": release})


@card(Action.SEE_RESULTS)
def reach_card(benchmark: Benchmark, user: Any) -> Card | None:
    release = newest_release(benchmark)
    is_told = release is not None or may(user, Action.EDIT, benchmark)
    template, context = "scoring/planning/_home_reach.html", {"release": release}
    return Card(30, template, is_aside=True, context=context) if is_told else None


# --- one's own runs ------------------------------------------------------------------------------


def _submits(user: Any, benchmark: Benchmark) -> bool:
    return may(user, Action.SUBMIT, benchmark)


@home(
    "runs",
    "My runs",
    order=20,
    template="scoring/submissions/_home.html",
    is_for=_submits,
    is_translated=True,
)
def my_runs(request: Any, benchmark: Benchmark) -> dict[str, Any]:
    # Numpy and scipy are not needed before somebody asks.
    from scoring.submissions.services.home import home_context

    return home_context(benchmark, request.user, phase_key=request.GET.get("phase", ""))
