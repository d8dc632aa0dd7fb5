"""What the shared nouns bring to the overview: steps, needs, checks, and the overview itself."""

from collections.abc import Iterator
from typing import Any, cast

from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.cache import cache
from django.urls import reverse

from benchmarks_app.collections.selectors import active_jobs, jobs_failed_lately, latest_events
from benchmarks_app.common.selectors.audit import people_named
from benchmarks_app.families.selectors import n_waiting
from benchmarks_app.homes import Check, Need, cards_of, check, checks_of, home, need, needs_of
from benchmarks_app.models import Benchmark, QrelSet, QueryFamily, Release, Run, Unit
from benchmarks_app.navigation import badge
from benchmarks_app.overview import Step, step, steps_of
from benchmarks_app.permissions import Action, may
from benchmarks_app.releases.services.releasing import proposed_version
from benchmarks_app.splits.selectors import default_qrels
from benchmarks_app.splits.services.leak_reports import kept_leak_report
from benchwright.texts.counting import counted

# Families that wait for somebody to look at them.
badge("family-list")(n_waiting)


@step
def corpus_step(benchmark: Benchmark, user: Any) -> Step:
    version = benchmark.current_corpus_version
    ids_only = not benchmark.corpus.has_texts
    if version:
        rows = "passages" if benchmark.corpus.unit == Unit.PASSAGE else "documents"
        cut = ", cut" if version.cut else ""
        detail = f"{intcomma(version.n_documents)} {rows}{cut}"
    else:
        detail = "ids only: nothing to import" if ids_only else "JSON lines, a table or a BEIR zip"
    url = reverse("corpus-detail" if version else "import-new", args=[benchmark.slug])
    return Step(10, "Corpus", bool(version) or ids_only, detail, url, "Import a corpus")


@step
def queries_step(benchmark: Benchmark, user: Any) -> Step:
    n = benchmark.queries.committed().count()
    counted = f"{intcomma(n)} quer{'ies' if n != 1 else 'y'}"
    detail = counted if n else "a table, JSON lines or topics"
    view = "query-list" if n else "import-new"
    return Step(
        20, "Queries", n > 0, detail, reverse(view, args=[benchmark.slug]), "Import queries"
    )


@step
def runs_step(benchmark: Benchmark, user: Any) -> Step:
    n = Run.objects.visible_to(user).filter(benchmark=benchmark).count()
    detail = f"{n} run{'s' if n != 1 else ''}" if n else "what systems rank: three or more"
    url = reverse("run-list", args=[benchmark.slug])
    return Step(30, "Runs", n > 0, detail, url, "Add runs", Action.SEE_RESULTS)


@step
def release_step(benchmark: Benchmark, user: Any) -> Step:
    newest = benchmark.releases.published().newest_first().first()
    is_possible = newest or benchmark.qrel_sets.ready().exists()
    waits = "pins the grades that runs are scored by" if is_possible else "needs qrels"
    detail = f"{newest.version} published" if newest else waits
    url = reverse("release-list", args=[benchmark.slug])
    call = "Publish a release"
    return Step(70, "Release", newest is not None, detail, url, call, Action.SEE_RESULTS)


# --- the overview itself -------------------------------------------------------------------------

JOBS_NAMED, JOBS_COUNTED = 3, 50
# More grades take too long to look through while somebody waits.
MOST_QRELS = 200_000
KEPT_SECONDS = 24 * 3600


def _keeps_or_only_looks(user: Any, benchmark: Benchmark) -> bool:
    """Keepers and adjudicators, and who has nothing to do here but to look."""
    if may(user, Action.ADJUDICATE, benchmark):
        return True
    return not may(user, Action.JUDGE, benchmark) and not may(user, Action.SUBMIT, benchmark)


@home(
    "owner",
    "Overview",
    order=10,
    template="benchmarks_app/homes/_overview.html",
    is_for=_keeps_or_only_looks,
)
def overview_home(request: Any, benchmark: Benchmark) -> dict[str, Any]:
    user = request.user
    may_edit = may(user, Action.EDIT, benchmark)
    steps = steps_of(benchmark, user)
    is_new = not any(step["is_work"] and step["state"] == "done" for step in steps)
    next_step = next((step for step in steps if step["state"] == "current"), None)
    checks = checks_of(benchmark, user) if may_edit and not is_new else []
    published = benchmark.releases.published().newest_first()
    events = latest_events(benchmark) if may_edit else []
    return {
        "is_new": is_new,
        "steps": steps,
        "next": next_step if may_edit else None,
        "needs": needs_of(benchmark, user),
        "acts": may(user, Action.ADJUDICATE, benchmark),
        "checks": checks,
        "n_good": sum(check.is_good for check in checks),
        "next_version": proposed_version(benchmark) if checks else "",
        "cards": cards_of(benchmark, user),
        "release": published.first() if may(user, Action.SEE_RESULTS, benchmark) else None,
        "may_edit": may_edit,
        "active_jobs": active_jobs(benchmark) if may_edit else [],
        "events": events,
        "people": people_named(events),
        "counts": [step for step in steps if step["is_count"] and step["state"] == "done"],
    }


@need(Action.EDIT)
def failed_jobs(benchmark: Benchmark, user: Any) -> Iterator[Need]:
    failed = list(jobs_failed_lately(benchmark, user)[:JOBS_COUNTED])
    for job in failed[:JOBS_NAMED]:
        problem = next((each.get("text", "") for each in job.problems), "")
        why = (problem or job.error).strip() or "It says no more."
        yield Need(
            60,
            "bad",
            f"“{job.title}” failed",
            why.splitlines()[0][:240],
            "See why",
            job.get_absolute_url(),
        )
    if len(failed) > JOBS_NAMED:
        n_more = len(failed) - JOBS_NAMED
        more = f"{n_more} more job{'s' if n_more != 1 else ''} failed"
        more = f"At least {more}" if len(failed) == JOBS_COUNTED else more
        url = reverse("job-list", args=[benchmark.slug])
        yield Need(59, "bad", more, "Of the last two weeks, and not made good since.", "Jobs", url)


@need(Action.EDIT)
def families_to_look_at(benchmark: Benchmark, user: Any) -> Iterator[Need]:
    n = n_waiting(benchmark)
    if n:
        what = f"{intcomma(n)} famil{'ies' if n != 1 else 'y'} of queries to look at"
        why = "Wordings of one need must not be on two sides of a split."
        yield Need(30, "info", what, why, "Look", reverse("family-list", args=[benchmark.slug]))


@check
def leaks_check(benchmark: Benchmark, user: Any) -> Check | None:
    """The leak report, where one is kept; None where there is but one split."""
    splits = QueryFamily.objects.filter(benchmark=benchmark).exclude(split="")
    if len(set(splits.values_list("split", flat=True).distinct()[:2])) < 2:
        return None
    url = reverse("leak-report-detail", args=[benchmark.slug])
    report = kept_leak_report(benchmark)
    if report is None:
        why = "Queries, families or grades changed since it was looked for."
        return Check(10, "wait", "No leaks between splits", why, url, "look")
    findings = report["findings"]
    if not findings:
        return Check(10, "good", "No leaks between splits", "", url, "proof")
    worst = "bad" if any(finding["severity"] == "error" for finding in findings) else "warn"
    return Check(10, worst, "No leaks between splits", findings[0]["message"], url, "see")


@check
def relevant_check(benchmark: Benchmark, user: Any) -> Check | None:
    """Queries that are graded and have no relevant document, by the newest set of qrels."""
    chosen = default_qrels(benchmark)
    title = "A relevant document for every query"
    url = reverse("query-list", args=[benchmark.slug])
    if chosen is None:
        why = "There are no qrels yet."
        return Check(20, "wait", title, why, reverse("qrels-list", args=[benchmark.slug]), "qrels")
    if chosen.n_qrels > MOST_QRELS:
        return None
    n_graded, has_one = _n_graded_and_relevant(benchmark, chosen)
    if n_graded == has_one:
        why = f"{counted(n_graded, 'graded query')} of “{chosen}”"
        return Check(20, "good", title, why, url, "queries")
    why = f"{intcomma(n_graded - has_one)} of {intcomma(n_graded)} in “{chosen}” have none"
    return Check(20, "warn", title, why, url, "see")


def _n_graded_and_relevant(benchmark: Benchmark, qrel_set: QrelSet) -> tuple[int, int]:
    """Queries with a grade, and those with a relevant one; a ready set never changes."""
    relevant = list(benchmark.grades.filter(is_relevant=True).values_list("value", flat=True))

    def count() -> tuple[int, int]:
        graded = qrel_set.qrels.filter(grade__gte=0)
        has_one = graded.filter(grade__in=relevant)
        n_graded, n_relevant = (
            qrels.values("query").distinct().count() for qrels in (graded, has_one)
        )
        return n_graded, n_relevant

    key = f"graded-{qrel_set.pk}-{qrel_set.created_at.timestamp()}-{relevant}".replace(" ", "")
    return cast(tuple[int, int], cache.get_or_set(key, count, KEPT_SECONDS))


@check
def licence_check(benchmark: Benchmark, user: Any) -> Check:
    url = reverse("benchmark-settings", args=[benchmark.slug])
    if benchmark.licence.strip():
        return Check(80, "good", "A licence", benchmark.licence, url, "change")
    return Check(80, "warn", "A licence", "Nobody knows whether they may use it.", url, "write one")


@check
def draft_check(benchmark: Benchmark, user: Any) -> Check | None:
    """What the linter found in the newest draft; None without one."""
    draft = Release.objects.drafts().filter(benchmark=benchmark).order_by("-pk").first()
    if draft is None:
        return None
    n_errors = sum(finding.get("severity") == "error" for finding in draft.findings)
    n_warnings = sum(finding.get("severity") == "warning" for finding in draft.findings)
    title, url = f"Draft {draft.version} has no errors", draft.get_absolute_url()
    if not draft.manifest:
        return Check(90, "wait", title, "It is being looked over, or changed since.", url, "draft")
    why = f"{n_errors} error{'s' if n_errors != 1 else ''}, {n_warnings} warning"
    why += "" if n_warnings == 1 else "s"
    return Check(90, "bad" if n_errors else "good", title, why, url, "draft")
