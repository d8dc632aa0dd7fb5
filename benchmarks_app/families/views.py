"""Families: listed, reviewed, changed, grouped anew."""

from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.collections.services import uploading
from benchmarks_app.families import selectors
from benchmarks_app.families.charts import drawn
from benchmarks_app.families.forms import DecisionForm, GroupForm
from benchmarks_app.families.services import changes as family_changes
from benchmarks_app.families.services.grouping import review_preview, start_grouping
from benchmarks_app.models import Benchmark, FamilyChange, Job, Query, QueryFamily
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from benchwright.families import ReviewCost, normalised
from benchwright.families.errors import (
    FamilyChangedError,
    FamilyMemberError,
    SplitChoiceError,
    UnknownFamilyError,
)
from benchwright.formats.numbers import row_key

STATES = {
    "": gettext_noop("All"),
    "review": gettext_noop("Waiting for review"),
    "several": gettext_noop("Several wordings"),
    "reviewed": gettext_noop("Reviewed"),
}
ORDERS = {
    "doubt": gettext_noop("Doubt"),
    "size": gettext_noop("Size"),
    "id": gettext_noop("Number"),
}
PAGE_SIZE = 25
# A family with more wordings than the list shows is not confirmed there: nobody has seen them.
MOST_WORDINGS = 6
NO_SPLIT = "none"


@require_safe
@benchmark_view(Action.VIEW)
def family_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Families by size and doubt; what waits for a person comes first."""
    state = request.GET.get("state", "several")
    order = request.GET.get("order", "doubt")
    split = request.GET.get("split", "")
    wanted = request.GET.get("q", "").strip()
    rows = selectors.listed_families(
        benchmark,
        state=state,
        split="" if split == NO_SPLIT else split or None,
        wanted=wanted,
        order=order,
    )
    page = page_of(request, rows, PAGE_SIZE)
    page.object_list = selectors.with_wordings(page.object_list, MOST_WORDINGS)
    context = {
        "page": page,
        "counts": selectors.family_counts(benchmark),
        "grouping": selectors.last_grouping(benchmark),
        "state": state,
        "order": order,
        "split": split,
        "wanted": wanted,
        "states": STATES.items(),
        "orders": ORDERS.items(),
        "splits": [(NO_SPLIT, gettext_noop("Not split")), *QueryFamily.Split.choices[1:]],
    }
    return render(request, "benchmarks_app/families/family_list.html", context)


@require_safe
@benchmark_view(Action.VIEW)
def family_detail(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    family = get_object_or_404(selectors.families_of(benchmark), pk=pk)
    return render(request, "benchmarks_app/families/family_detail.html", _detail(request, family))


def _detail(request: HttpRequest, family: QueryFamily) -> dict[str, Any]:
    sees_grades = may(request.user, Action.EDIT, family.benchmark)
    picture = selectors.family_picture(family, sees_grades=sees_grades)
    number = {query.pk: n for n, query in enumerate(picture.members, start=1)}
    sure_from = selectors.options_in_force(family.benchmark).merge_at
    return {
        "family": family,
        "picture": picture,
        "links": [
            (number[link.query_a_id], number[link.query_b_id], link) for link in picture.links
        ],
        "drawing": drawn(picture.members, picture.links, sure_from=sure_from),
        "sure_from": sure_from,
        "near": _near(family, sees_grades=sees_grades),
        "changes": selectors.changes_of(family) if sees_grades else [],
    }


def _near(family: QueryFamily, *, sees_grades: bool) -> list[dict[str, Any]]:
    """Links to queries of other families: our query, theirs, and the link."""
    near = []
    for link in selectors.links_out_of(family, sees_grades=sees_grades):
        ours, theirs = link.query_a, link.query_b
        if theirs.family_id == family.pk:
            ours, theirs = theirs, ours
        near.append({"ours": ours, "theirs": theirs, "link": link})
    return near


# --- review ----------------------------------------------------------------------------------


@never_cache
@require_safe
@benchmark_view(Action.EDIT)
def family_review(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """The family most in doubt, two wordings side by side; `?family=` shows a certain one."""
    family_pk = row_key(request.GET.get("family", ""))
    if family_pk is None:
        after = row_key(request.GET.get("after", ""))
        family = selectors.next_to_review(benchmark, after)
    else:
        family = get_object_or_404(selectors.families_of(benchmark), pk=family_pk)
    return _review(request, benchmark, family)


def _review(
    request: HttpRequest,
    benchmark: Benchmark,
    family: QueryFamily | None,
    *,
    form: DecisionForm | None = None,
    choices: list[str] | None = None,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        "n_waiting": selectors.n_waiting(benchmark),
        "last": selectors.last_change(benchmark, request.user),
        "form": form,
        "choices": choices,
        "family": family,
    }
    if family is None:
        context["counts"] = selectors.family_counts(benchmark)
    else:
        picture = selectors.family_picture(family, sees_grades=True)
        pair = picture.pair
        context |= {
            "picture": picture,
            "sides": _sides(*pair) if pair else [],
            "near": _near(family, sees_grades=True)[:5],
            "sure_from": selectors.options_in_force(benchmark).merge_at,
        }
    return render(request, "benchmarks_app/families/family_review.html", context, status=status)


def _sides(a: Query, b: Query) -> list[tuple[Query, list[tuple[str, bool]]]]:
    """Each of two queries with its words, and of each word whether the other lacks it."""
    words = {query.pk: {normalised(word) for word in query.text.split()} for query in (a, b)}
    return [
        (query, [(word, normalised(word) not in words[other.pk]) for word in query.text.split()])
        for query, other in ((a, b), (b, a))
    ]


# --- changes ---------------------------------------------------------------------------------


@require_POST
@benchmark_view(Action.EDIT)
def family_decide(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """One decision about a family; then the next one, or the page of the family."""
    family = get_object_or_404(selectors.families_of(benchmark), pk=pk)
    members = [query.pk for query in selectors.members_of(family)]
    form = DecisionForm(request.POST, members=members)
    if not form.is_valid():
        return _review(request, benchmark, family, form=form, status=422)
    try:
        data = _decided(benchmark, family, form.cleaned_data, request.user)
    except SplitChoiceError as error:
        form.add_error(None, str(error))
        return _review(
            request, benchmark, family, form=form, choices=error.choices, status=error.status
        )
    except BenchmarkError as error:
        form.add_error(None, str(error))
        return _review(request, benchmark, family, form=form, status=error.status)
    messages.success(request, data)
    return redirect(_after(benchmark, pk, form.cleaned_data))


def _after(benchmark: Benchmark, pk: int, data: dict[str, Any]) -> str:
    """Stay with a family that still waits, or where somebody works on its page."""
    family = QueryFamily.objects.filter(pk=pk).first()
    if data["then"] == "detail":
        if family is None:
            return reverse("family-list", args=[benchmark.slug])
        return reverse("family-detail", args=[benchmark.slug, pk])
    review = reverse("family-review", args=[benchmark.slug])
    return f"{review}?family={pk}" if family and family.is_flagged else review


def _decided(benchmark: Benchmark, family: QueryFamily, data: dict[str, Any], actor: Any) -> str:
    """Do what was said, and tell it."""
    options = {"actor": actor, "seen": data["seen"]}
    if data["act"] in ("same", "different"):
        a, b = (_member(family, data[side]) for side in "ab")
        is_same = data["act"] == "same"
        family_changes.judge_pair(a=a, b=b, is_same=is_same, **options)
        return f"{a.qid} and {b.qid}: {'one need' if is_same else 'different needs, taken apart'}."
    if data["act"] == "confirm":
        family_changes.confirm_family(family=family, **options)
        return "All wordings of this family are one need."
    if data["act"] == "split":
        family_changes.split_family(family=family, take_out=data["queries"], **options)
        n = len(data["queries"])
        return f"{n} {'query is' if n == 1 else 'queries are'} a family of their own now."
    other = selectors.family_named(benchmark, data["other"].strip())
    if other is None:
        raise UnknownFamilyError(told=data["other"], benchmark=benchmark.name)
    family_changes.merge_families(
        family=family, other=other, split=data["split"] or None, **options
    )
    return "The two families are one now."


@require_POST
@benchmark_view(Action.EDIT)
def family_confirm_several(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Each of the ticked families is one need; `family` is its number and the queries seen."""
    back = f"{reverse('family-list', args=[benchmark.slug])}?state=review"
    ticked = dict(word.partition(":")[::2] for word in request.POST.getlist("family"))
    keys = [key for pk in ticked if (key := row_key(pk)) is not None]
    named = selectors.families_of(benchmark).filter(pk__in=keys)
    families = {family: ticked[str(family.pk)] for family in named}
    try:
        if len(families) < len(ticked):
            gone = next(pk for pk in ticked if pk not in {str(family.pk) for family in families})
            raise FamilyChangedError(family=gone)
        family_changes.confirm_families(families=families, actor=request.user)
    except BenchmarkError as error:
        messages.error(request, str(error))
        return redirect(back)
    n = len(families)
    messages.success(request, f"{n} {'family is' if n == 1 else 'families are'} one need each.")
    return redirect(back)


def _member(family: QueryFamily, pk: int) -> Query:
    query = family.queries.committed().select_related("family").filter(pk=pk).first()
    if query is None:
        raise FamilyMemberError(query=pk, family=family.pk)
    return query


@require_POST
@benchmark_view(Action.EDIT)
def family_undo(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Undo a change, or the last one of whoever asks."""
    key = row_key(request.POST.get("change", ""))
    if key is not None:
        changes = FamilyChange.objects.filter(benchmark=benchmark)
        change = get_object_or_404(changes, pk=key)
        undone = family_changes.undo_change(change=change, actor=request.user)
    else:
        undone = family_changes.undo_last_change(benchmark=benchmark, actor=request.user)
    earlier = cast(FamilyChange, undone.undoes)  # it is an undoing
    what = earlier.get_kind_display()
    messages.success(request, f"Undone: families {what} at {earlier.created_at:%H:%M}.")
    return redirect(_undone_at(benchmark, earlier, request.POST.get("then", "")))


def _undone_at(benchmark: Benchmark, change: FamilyChange, then: str) -> str:
    """The review of the family that is back, or the list where many are."""
    families = [key for key in change.before if key.isdecimal()]
    if then == "review" and 0 < len(families) <= 2:
        return f"{reverse('family-review', args=[benchmark.slug])}?family={families[0]}"
    return reverse("family-list", args=[benchmark.slug])


# --- grouping --------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def family_group(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    form = GroupForm(request.POST or None, request.FILES or None, benchmark=benchmark)
    costs = None
    if request.method == "POST" and form.is_valid():
        if "preview" in request.POST:
            costs = _costs(benchmark, form)
        elif job := _started(request, benchmark, form):
            return redirect(job)
    context = {
        "form": form,
        "costs": costs,
        "grouping": selectors.last_grouping(benchmark),
        "n_queries": benchmark.queries.committed().count(),
        "n_verdicts": benchmark.family_links.exclude(verdict="").count(),
    }
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/families/family_group.html", context, status=status)


def _costs(benchmark: Benchmark, form: GroupForm) -> tuple[ReviewCost, ...] | None:
    try:
        return review_preview(
            benchmark=benchmark,
            options=form.options,
            qrel_set=form.cleaned_data["qrel_set"],
            paraphrases=form.cleaned_data["paraphrases"],
        )
    except BenchmarkError as error:
        form.add_error(None, str(error))
        return None


def _started(request: PersonRequest, benchmark: Benchmark, form: GroupForm) -> Job | None:
    data = form.cleaned_data
    try:
        files = {
            name: uploading.receive_upload(benchmark=benchmark, owner=request.user, file=data[name])
            for name in ("embeddings", "ids")
            if data[name]
        }
        return start_grouping(
            benchmark=benchmark,
            user=request.user,
            options=form.options,
            qrel_set=data["qrel_set"],
            paraphrases=data["paraphrases"],
            **files,
        )
    except BenchmarkError as error:
        form.add_error(None, str(error))
        return None
