"""What judging brings to the overview: steps, what waits, what a release lacks, one's own work."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from operator import itemgetter
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import Exists, OuterRef, Subquery, Sum
from django.urls import reverse
from django.utils import timezone
from django.utils.timesince import timesince

from annotation.agreement.selectors.adjudication import inbox_at_hand
from annotation.agreement.selectors.careless import careless_signs
from annotation.agreement.services.measuring_agreement import kept_report
from annotation.common.selectors.pools import due_of, pool_progress, pools_of
from annotation.common.selectors.questions import n_open_questions, questions_in
from annotation.judging.services.home import home_context
from annotation.models import Judgment, Pool, Slot
from benchmarks_app.homes import Card, Check, Need, card, check, home, need
from benchmarks_app.models import Benchmark
from benchmarks_app.navigation import badge
from benchmarks_app.overview import Step, step
from benchmarks_app.permissions import Action, may
from benchwright.texts.counting import counted, number_beside

badge("annotation:question-list")(n_open_questions)


def _judges(user: Any, benchmark: Benchmark) -> bool:
    return may(user, Action.JUDGE, benchmark)


@home(
    "work",
    "My work",
    order=30,
    template="annotation/judging/_home.html",
    is_for=_judges,
    is_translated=True,
)
def my_work(request: Any, benchmark: Benchmark) -> dict[str, Any]:
    return home_context(benchmark, request.user)


@step
def pool_step(benchmark: Benchmark, user: Any) -> Step:
    n_entries = _built(benchmark).aggregate(n=Sum("n_entries"))["n"] or 0
    has_runs = n_entries or benchmark.runs.exists()
    waits = "the first documents of each run" if has_runs else "needs runs"
    detail = f"{counted(n_entries, 'document')} to judge" if n_entries else waits
    view = "pool-list" if n_entries else "pool-new"
    url = reverse(f"annotation:{view}", args=[benchmark.slug])
    is_needed = n_entries > 0 or _needs_grades(benchmark)
    return Step(40, "Pool", n_entries > 0, detail, url, "Build a pool", is_needed=is_needed)


@step
def judge_step(benchmark: Benchmark, user: Any) -> Step:
    n_wanted = _built(benchmark).aggregate(n=Sum("n_wanted"))["n"] or 0
    # Checks, repeats and practice are labels that nobody counts among the wanted.
    labels = Slot.objects.filter(pool__in=_built(benchmark), kind=Slot.Kind.LABEL)
    done = labels.filter(state=Slot.State.DONE)
    n_done = done.count() if n_wanted else 0
    detail = f"{intcomma(n_done)} of {counted(n_wanted, 'label')}" if n_wanted else "needs a pool"
    url = reverse("annotation:judge-benchmark", args=[benchmark.slug])
    is_done, is_needed = 0 < n_wanted <= n_done, n_wanted > 0 or _needs_grades(benchmark)
    return Step(50, "Judge", is_done, detail, url, "Judge documents", is_needed=is_needed)


@step
def qrels_step(benchmark: Benchmark, user: Any) -> Step:
    n = benchmark.qrel_sets.ready().count()
    detail = f"{n} set{'s' if n != 1 else ''} of qrels" if n else "need labels, or an import"
    view = "qrels-list" if n else "annotation:qrels-publish"
    return Step(60, "Qrels", n > 0, detail, reverse(view, args=[benchmark.slug]), "Publish qrels")


def _needs_grades(benchmark: Benchmark) -> bool:
    """Whether they are to come of a pool: none were imported."""
    return not benchmark.qrel_sets.ready().exists()


def _built(benchmark: Benchmark) -> Any:
    return Pool.objects.built().filter(benchmark=benchmark)


# --- what waits ----------------------------------------------------------------------------------

# Below this, agreement is usually called too low to rely on (Krippendorff, Content Analysis).
ALPHA_FROM = 0.60
POOLS_SHOWN = 4
DUE_SOON = timedelta(days=2)


@need(Action.EDIT)
def questions_need(benchmark: Benchmark, user: Any) -> Iterator[Need]:
    n = n_open_questions(benchmark)
    oldest = questions_in(benchmark).filter(answered_at=None).first() if n else None
    if oldest is None:
        return
    title = f"{intcomma(n)} question{'s' if n != 1 else ''} from annotators"
    text = oldest.text if len(oldest.text) <= 120 else f"{oldest.text[:119]}…"
    is_new = timezone.now() - oldest.asked_at < timedelta(minutes=1)
    since = (
        "Asked just now"
        if is_new
        else f"The oldest waits for {timesince(oldest.asked_at).split(',')[0]}"
    )
    detail = f"{since}: “{text}”. Its document waits with it."
    url = reverse("annotation:question-list", args=[benchmark.slug])
    yield Need(70, "info", title, detail, "Answer", url)


@need(Action.EDIT)
def careless_need(benchmark: Benchmark, user: Any) -> Iterator[Need]:
    """One a person and pool: the strongest sign of work that nobody should rely on unseen."""
    named: set[tuple[int, int]] = set()
    for sign in careless_signs(benchmark):
        if (person := (sign.annotator.pk, sign.pool.pk)) not in named:
            named.add(person)
            title = f"Labels of {sign.annotator} in {sign.pool} look careless"
            detail = f"{sign.annotator} {sign.words}"
            yield Need(90, "bad", title, detail, "Look at them", sign.url)


@need(Action.EDIT)
def due_need(benchmark: Benchmark, user: Any) -> Iterator[Need]:
    """Open pools with labels left that are due within days, or were."""
    today = timezone.now().date()
    soon = Pool.objects.open().filter(benchmark=benchmark, due_on__lte=today + DUE_SOON)
    # Of pools whose labels are all given the database says so at once, however many there are.
    slots = Slot.objects.filter(pool=OuterRef("pk"))
    unfinished = slots.exclude(state__in=(Slot.State.DONE, *Slot.NOT_WANTED))
    soon = soon.filter(Exists(unfinished)).order_by("due_on", "pk")
    pools = ((pool, pool_progress(pool).n_left) for pool in soon.select_related("benchmark"))
    for pool, n_left in islice(filter(itemgetter(1), pools), POOLS_SHOWN):
        if (due := due_of(pool, today)) is None:
            continue
        day = f"{due.on:%a} {due.on.day} {due.on:%b}"
        title = f"{pool} was due {day}" if due.is_past else f"{pool} is due {day}"
        verb = "is" if n_left == 1 else "are"
        detail = f"{intcomma(n_left)} of {counted(pool.n_wanted, 'label')} {verb} left."
        url = pool.get_absolute_url()
        yield Need(60 if due.is_past else 55, "warn", title, detail, "Look at it", url)


@need(Action.ADJUDICATE)
def disagreements_need(benchmark: Benchmark, user: Any) -> Iterator[Need]:
    inbox = inbox_at_hand(benchmark, user)
    if inbox is None or not inbox.cases:
        return
    n = len(inbox.cases)
    title = f"{intcomma(n)} disagreement{'s' if n != 1 else ''} to adjudicate"
    if inbox.may_stop:
        detail = "All of them together could hardly move two runs against each other."
    else:
        detail = f"Together they could move two runs by up to {inbox.mean_effect:.3f} nDCG."
    url = reverse("annotation:adjudicate", args=[benchmark.slug])
    yield Need(45 if inbox.may_stop else 75, "warn", title, detail, "Adjudicate", url)


# --- what a release lacks ------------------------------------------------------------------------


@check
def labels_check(benchmark: Benchmark, user: Any) -> Check | None:
    """Whether pools that are open still want labels; None where nothing is pooled."""
    if not _built(benchmark).exists():
        return None
    wanting = _built(benchmark).filter(state__in=[Pool.State.OPEN, Pool.State.PAUSED])
    n_wanted = wanting.aggregate(n=Sum("n_wanted"))["n"] or 0
    done = Slot.objects.filter(pool__in=wanting, state=Slot.State.DONE, kind=Slot.Kind.LABEL)
    n_left = n_wanted - done.count() if n_wanted else 0
    url = reverse("annotation:pool-list", args=[benchmark.slug])
    if n_left <= 0:
        return Check(30, "good", "Every wanted label is given", "", url, "pools")
    why = f"{intcomma(n_left)} of {intcomma(n_wanted)} are still wanted"
    return Check(30, "wait", "Every wanted label is given", why, url, "pools")


@check
def guideline_check(benchmark: Benchmark, user: Any) -> Check:
    """Whether the guideline is the one that was in force at the first label."""
    url = reverse("annotation:guideline-detail", args=[benchmark.slug])
    versions = list(benchmark.guidelines.order_by("version").values_list("version", "created_at"))
    if not versions:
        why = "People judge without being told what the grades mean."
        return Check(40, "warn", "A guideline", why, url, "write")
    title, begun = "One guideline since the first label", _first_label_at(benchmark)
    newest, _ = versions[-1]
    at_first = max((of for of, at in versions if begun and at <= begun), default=newest)
    if at_first == newest:
        return Check(40, "good", title, "", url, "read")
    why = f"Version {at_first} was in force then; now it is {newest}."
    return Check(40, "warn", title, why, f"{url}?since={at_first}", "changes")


def _first_label_at(benchmark: Benchmark) -> datetime | None:
    """Each pool's first by the index that its charts are drawn from."""
    labels = Judgment.objects.filter(pool=OuterRef("pk")).order_by("created_at")
    first = Subquery(labels.values("created_at")[:1])
    each = _built(benchmark).annotate(first=first).values_list("first", flat=True)
    return min((at for at in each if at is not None), default=None)


@check
def agreement_check(benchmark: Benchmark, user: Any) -> Check | None:
    """The last measured alpha; nothing is measured for it."""
    if not _built(benchmark).exists():
        return None
    title = f"Agreement (alpha) of {ALPHA_FROM:.2f} or more"
    url = reverse("annotation:agreement", args=[benchmark.slug])
    report = kept_report(benchmark)
    alpha = report["overall"]["alpha_ordinal"] if report else {"value": None}
    if alpha["value"] is None:
        why = "Nothing is labelled twice." if report else "Not measured since the last label."
        return Check(50, "wait", title, why, url, "measure")
    why = f"now {number_beside(alpha['value'], ALPHA_FROM, decimals=2)}"
    if alpha.get("low") is not None:
        why += f", 95 % interval {alpha['low']:.2f} to {alpha['high']:.2f}"
    state = "good" if alpha["value"] >= ALPHA_FROM else "warn"
    return Check(50, state, title, why, url, "see")


@check
def disputes_check(benchmark: Benchmark, user: Any) -> Check | None:
    """Whether documents that people disagree about are settled; None without labels."""
    url = reverse("annotation:adjudicate", args=[benchmark.slug])
    inbox = inbox_at_hand(benchmark, user)
    if inbox is None:
        return Check(60, "wait", "Agreed on disputed documents", "Not counted yet.", url, "count")
    n_open = len(inbox.cases) + inbox.n_own + inbox.n_waiting
    if not n_open and not inbox.n_settled:
        return None
    n = n_open + inbox.n_settled
    title = f"Agreed on {intcomma(n)} disputed document{'s' if n != 1 else ''}"
    why = f"{intcomma(inbox.n_settled)} of {intcomma(n)} settled"
    return Check(60, "warn" if n_open else "good", title, why, url, "do" if n_open else "see")


@card(Action.SEE_POOLS)
def judging_card(benchmark: Benchmark, user: Any) -> Card | None:
    """How far the open pools are; the rest of the card is asked for by the page."""
    pools = pools_of(benchmark).filter(state__in=[Pool.State.OPEN, Pool.State.PAUSED])
    rows = [(pool, _share(pool)) for pool in pools[:POOLS_SHOWN]]
    if not rows:
        return None
    return Card(10, "annotation/pools/_home_judging.html", context={"pools": rows})


def _share(pool: Any) -> float:
    return pool.n_done / pool.n_wanted if pool.n_wanted else 0.0
