"""Template helpers; built in, so no template loads them."""

from typing import Any

from django import template
from django.http import HttpRequest

from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, may

register = template.Library()
DASH = "\N{EN DASH}"
# What the audit trail names, as a sentence about a person tells it.
DEEDS = {
    "account-create": "made an account",
    "build-pool": "built the pool",
    "change-settings": "changed the settings of",
    "create-benchmark": "made the benchmark",
    "download-qrels": "downloaded qrels",
    "email-change": "changed an address",
    "import": "imported",
    "import-judgments": "entered judgments into",
    "job-retry": "started again",
    "make-baselines": "made baselines",
    "member-add": "added",
    "member-remove": "removed",
    "member-role": "changed the role of",
    "password-change": "changed a password",
    "password-reset": "reset a password",
    "publish-qrels": "published qrels",
    "publish-release": "published release",
    "submit-run": "submitted",
    "score-runs": "scored the runs on",
    "user-anonymise": "anonymised an account",
}


@register.simple_tag(takes_context=True)
def allowed(context: dict[str, Any], action: str, benchmark: Benchmark | None = None) -> bool:
    """Whether the page's user may do `action`: `{% allowed "edit" as may_edit %}`."""
    request: HttpRequest = context["request"]
    return may(request.user, Action(action), benchmark or request.benchmark)


@register.filter
def score(value: float | None, digits: int = 4) -> str:
    """A measure's value as boards show it; what is not defined is a dash."""
    return DASH if value is None or value != value else f"{value:.{digits}f}"


@register.filter
def percent(value: float | None, digits: int = 0) -> str:
    return DASH if value is None or value != value else f"{100 * value:.{digits}f} %"


@register.filter
def deed(action: str) -> str:
    """What an audit event's action says about who did it: "published qrels"."""
    return DEEDS.get(action, action.replace("-", " "))


@register.filter
def at(mapping: dict[Any, Any], key: Any) -> Any:
    """`mapping|at:key`, for keys that are variables."""
    return mapping.get(key)
