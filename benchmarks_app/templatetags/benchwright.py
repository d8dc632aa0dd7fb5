"""Template helpers; built in, so no template loads them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from django import template
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from benchmarks_app.charts.chart import HEIGHT, SIZES
from benchmarks_app.charts.drawing import bundle_digest
from benchmarks_app.common.selectors.images import document_images_shown, query_images_shown
from benchmarks_app.common.selectors.naming import owner_name
from benchmarks_app.models import Benchmark, Query, Run, Unit
from benchmarks_app.permissions import Action, may
from benchmarks_app.requests import SiteRequest
from benchwright.texts import counting
from benchwright.texts.counting import number_beside, percent_beside

register = template.Library()
DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
HYPHEN_OF_A_NUMBER = re.compile(r"(?<![\w.-])-(?=[\d.])")
# What the audit trail names, as a sentence about a person tells it.
DEEDS = {
    "account-create": "made an account",
    "account-change": "changed the account of",
    "answer-question": "answered a question on",
    "gold-share": "set the share of hidden checks in",
    "fetch": "fetched",
    "guideline-anchors": "changed what grades mean on",
    "guideline-version": "wrote the guideline's",
    "known-grade-remove": "removed a known grade from",
    "known-grades": "set known grades in",
    "api-token-create": "made an API token",
    "api-token-revoke": "revoked an API token",
    "build-pool": "built the pool",
    "change-corpus": "changed what is known of the corpus",
    "change-settings": "changed the settings of",
    "create-benchmark": "made the benchmark",
    "derive-qrels": "derived grades of documents",
    "discard-snapshot": "discarded the snapshot",
    "download-qrels": "downloaded qrels",
    "email-change": "changed an address",
    "address-verify": "verified an address",
    "export-judgments": "exported the judgments of",
    "import": "imported",
    "import-judgments": "entered judgments into",
    "job-retry": "started again",
    "confirm-family": "confirmed family",
    "grade-clicks": "graded the clicks of",
    "group-family": "grouped families",
    "group-queries": "grouped the queries",
    "make-baselines": "made baselines",
    "make-slice": "made the slice",
    "import-slices": "imported slices from",
    "refresh-slice": "applied the rule of slice",
    "change-slice": "changed the slice",
    "confirm-slice-members": "confirmed queries of slice",
    "reject-slice-members": "took queries out of slice",
    "register-slice": "registered the slice",
    "delete-slice": "deleted the slice",
    "merge-family": "merged families",
    "split-family": "split family",
    "undo-family": "undid a change of families",
    "member-add": "added",
    "member-remove": "removed",
    "member-role": "changed the role of",
    "offer-rejudging": "asked again for stale labels of",
    "password-change": "changed a password",
    "password-reset": "reset a password",
    "pool-people": "named who judges",
    "pool-search": "changed who may search beside",
    "pool-due": "set the due date of",
    "publish-qrels": "published qrels",
    "publish-release": "published release",
    "draft-release": "drafted release",
    "change-draft": "changed the draft of release",
    "delete-draft": "threw away the draft of release",
    "deprecate-release": "deprecated release",
    "read-hidden-grades": "read hidden grades:",
    "read-judgments": "read the judgments of",
    "take-snapshot": "took the snapshot",
    "submit-run": "submitted",
    "report-scores": "reported values of",
    "remove-reported": "removed reported values of",
    "change-reported": "changed the reported value",
    "withdraw-run": "withdrew",
    "ask-system": "asked the live system",
    "make-live-system": "described the live system",
    "change-live-system": "changed the live system",
    "delete-live-system": "removed the live system",
    "make-phase": "made the phase",
    "change-phase": "changed the phase",
    "close-phase": "closed the phase",
    "team-create": "made a team",
    "team-add": "added somebody to a team",
    "team-join": "joined a team",
    "team-leave": "left a team",
    "team-change": "changed a team",
    "release-documents": "gave back documents of",
    "score-runs": "scored the runs on",
    "settle-probing": "settled a flag of probing on",
    "make-example": "made an example of",
    "withdraw-example": "withdrew the example of",
    "import-cases": "imported the cases",
    "delete-cases": "deleted the cases",
    "make-judge": "set up the judge",
    "change-judge": "changed the judge",
    "delete-judge": "deleted the judge",
    "try-judge": "tried the judge",
    "judge-cases": "had judged",
    "open-cases": "asked people about",
    "close-cases": "no longer asked people about",
    "delete-verdicts": "deleted the verdicts on",
    "waive-double-labels": "waived double labels of",
    "split-queries": "split the queries,",
    "leave-out": "left bad records out of",
    "hide-splits": "chose the hidden splits:",
    "tell-apart": "said that these differ:",
    "check-contamination": "compared the queries with",
    "delete-contamination": "deleted the check",
    "factor-add": "set up a second factor of",
    "factor-remove": "took away a second factor of",
    "recovery-code-use": "used a recovery code of",
    "recovery-codes-create": "made recovery codes for",
    "user-anonymise": "anonymised an account",
    "user-delete": "deleted the account of",
    "export-audit": "exported the audit log",
    "export-person": "exported what is known of",
    "sign-in": "signed in",
    "sign-in-fail": "failed to sign in as",
    "sign-in-lock": "was locked out of",
    "code-try": "tried a second factor of",
    "password-try": "gave a wrong password of",
    "member-blindness": "changed whether results are withheld from",
    "adjudicate": "settled",
    "delete-campaign": "deleted the campaign",
    "delete-embeddings": "deleted the embeddings",
    "delete-qrels": "deleted the qrels",
    "delete-webhook": "deleted",
    "discard-log": "discarded the query log",
    "draft-campaign": "drafted the campaign",
    "draw-queries": "drew the queries of",
    "export-release": "exported release",
    "identity-link": "linked a provider with the account of",
    "import-log": "imported the query log",
    "invitation-accept": "accepted",
    "invitation-create": "made",
    "invitation-revoke": "revoked",
    "job-cancel": "cancelled",
    "judge-pool": "started the campaign",
    "make-candidates": "listed documents to judge:",
    "make-policy": "froze the policy",
    "map-qrels": "mapped the grades of",
    "order-queue": "ordered the queue of",
    "pause-campaign": "paused the campaign",
    "pool-closed": "closed the pool",
    "pool-machine": "changed whether machines' grades are shown in",
    "pool-open": "opened the pool",
    "pool-paused": "paused the pool",
    "practice-mark": "set what practice asks for in",
    "record-online-result": "recorded what came online of",
    "retire-policy": "retired the policy",
    "sample-queries": "drew a sample of",
    "set-aggregation-policy": "chose the rule for grades",
    "sparing-audit": "had a machine's zeros audited in",
    "sparing-off": "takes a machine's zeros no longer in",
    "sparing-on": "takes a machine's zeros in",
    "sparing-refused": "takes no machine's zeros in",
    "sparing-stopped": "stopped taking a machine's zeros in",
    "start-gate": "gated",
    "start-rehearsal": "rehearsed the policy",
    "try-campaign": "tried the campaign",
    "upload-embeddings": "uploaded the embeddings",
    "webhook-add": "made",
    "webhook-change": "changed",
    "webhook-secret": "renewed the secret of",
}
# Of what people did to themselves, where a name would end the sentence.
OWN_DEEDS = {
    "account-change": "changed their account",
    "export-person": "exported what is known of them",
    "factor-add": "set up a second factor",
    "factor-remove": "took away a second factor",
    "identity-link": "linked a provider with their account",
    "member-add": "joined",
    "member-blindness": "changed whether results are withheld from them",
    "member-remove": "left",
    "member-role": "changed their role",
    "recovery-code-use": "used a recovery code",
    "recovery-codes-create": "made recovery codes",
}


@register.simple_tag(takes_context=True)
def theme(context: dict[str, Any]) -> str:
    """The colours that the page's reader chose: light or dark, else auto, which is the system's."""
    chosen = context["request"].COOKIES.get("theme") if "request" in context else None
    return chosen if chosen in {"light", "dark"} else "auto"


@register.simple_tag(takes_context=True)
def allowed(context: dict[str, Any], action: str, benchmark: Benchmark | None = None) -> bool:
    """Whether the page's user may do `action`: `{% allowed "edit" as may_edit %}`."""
    request: SiteRequest = context["request"]
    return may(request.user, Action(action), benchmark or request.benchmark)


@register.simple_tag
@cache
def icon(name: str) -> SafeString:
    """A small picture of static/benchmarks_app/icons.svg beside a word: `{% icon "home" %}`."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>',
        static("benchmarks_app/icons.svg"),
        name,
    )


@register.simple_tag(takes_context=True)
def run_by(context: dict[str, Any], run: Run) -> str:
    """Who a run is by, as the page's user may know it: `{% run_by run %}`."""
    request: HttpRequest = context["request"]
    return owner_name(run, request.user)


@register.inclusion_tag("_chart.html", takes_context=True)
def chart(
    context: dict[str, Any],
    url: str,
    title: str,
    description: str,
    size: str = "column",
    height: int = HEIGHT,
) -> dict[str, Any]:
    """A figure of the chart whose SVG has this address: `{% chart url title description %}`."""
    request: SiteRequest = context["request"]
    names = request.__dict__.setdefault("chart_names", Counter())
    needs_script, name = not names, url.rpartition("/")[2].removesuffix(".svg")
    names[name] += 1
    return {
        "url": url,
        "base": url.removesuffix("svg"),
        # Of several of one kind, as the latencies of runs, each has an id of its own.
        "name": name if names[name] == 1 else f"{name}-{names[name]}",
        "title": title,
        "description": description,
        "size": size,
        "width": SIZES[size],
        "narrow_width": SIZES["narrow"],
        "height": height,
        "bundle_url": reverse("chart-bundle", args=[bundle_digest()]),
        "needs_script": needs_script,
    }


@register.inclusion_tag("_images.html")
def query_images(benchmark: Benchmark, query: Query) -> dict[str, Any]:
    """The images that a query is asked with: `{% query_images benchmark query %}`."""
    images = query_images_shown(benchmark, {query.qid: query})[query.qid]
    return {"images": images, "without_words": _("Image of the query")}


@register.inclusion_tag("_images.html")
def document_images(benchmark: Benchmark, docid: str) -> dict[str, Any]:
    """The images of a document, whole: `{% document_images benchmark docid %}`."""
    images = document_images_shown(benchmark, [docid]).get(docid, [])
    return {"images": images, "without_words": _("Image of the document")}


@register.simple_tag
def thumbnails(benchmark: Benchmark, rows: Iterable[Any], path: str = "") -> dict[str, Any]:
    """{document id: its first image} of all rows of a list, read at once.

    `path` leads from a row to the id: `{% thumbnails benchmark page "document.docid" as small %}`.
    """
    if benchmark.corpus.unit != Unit.IMAGE:
        return {}
    place = template.Variable(f"row.{path}" if path else "row")
    docids = [place.resolve(template.Context({"row": row})) for row in rows or ()]
    images = document_images_shown(benchmark, docids)
    return {docid: of_document[0] for docid, of_document in images.items() if of_document}


@register.filter
def counted(n: int | None, noun: str) -> str:
    """A number and its noun; what is not there yet is none.

    >>> counted(1, "query"), counted(None, "label")
    ('1 query', '0 labels')
    """
    return counting.counted(n or 0, noun)


@register.filter
def score(value: float | None, digits: int = 4) -> str:
    """A measure's value as boards show it; what is not defined is a dash."""
    if value is None or value != value:
        return DASH
    return f"{value:.{digits}f}".replace("-", MINUS)


@register.filter
def minus(text: str) -> str:
    """A sentence with the sign that negative numbers have on pages."""
    return HYPHEN_OF_A_NUMBER.sub(MINUS, text)


@register.filter
def percent(value: float | None, digits: int = 0) -> str:
    """A share; never rounded to none or all where there is something on the other side."""
    return share_beside(value, 0, 1, digits=digits)


@register.simple_tag
def score_beside(value: float | None, *limits: float, digits: int = 4) -> str:
    """A value with as many decimals as keep it on its side of the limits beside it."""
    if value is None or value != value:
        return DASH
    return number_beside(value, *limits, decimals=digits).replace("-", MINUS)


@register.simple_tag(name="percent_beside")
def share_beside(share: float | None, *limits: float, digits: int = 0) -> str:
    """A share with as many decimals as keep it on its side of the limits, which are shares, too."""
    if share is None or share != share:
        return DASH
    return f"{percent_beside(share, *limits, decimals=digits)} %"


@register.filter
def in_hours(minutes: float) -> str:
    """Minutes as hours and tens of minutes (2 h 10 min); from ten hours on hours alone."""
    hours, tens = divmod(round(minutes / 10), 6)
    if hours >= 10:
        return _("{h} h").format(h=f"{round(minutes / 60):,}")
    if not tens:
        return _("{h} h").format(h=hours)
    return _("{h} h {min} min").format(h=hours, min=10 * tens)


@register.filter
def listed(values: Sequence[object], most: int = 6) -> str:
    """Numbers as they are and words in quotes, with "and" before the last; the rest as a count.

    >>> listed([0, 7, 9]), listed(["E", "so, so"]), listed(["I"])
    ('0, 7 and 9', "'E' and 'so, so'", "'I'")
    >>> listed([1, 2, 3], most=2)
    '1, 2 and 1 more'
    """
    words = [f"'{value}'" if isinstance(value, str) else f"{value}" for value in values]
    *first, last = words if len(words) <= most else [*words[:most], f"{len(words) - most} more"]
    return f"{', '.join(first)} and {last}" if first else last


@register.filter
def deed(action: str) -> str:
    """What an audit event's action says about who did it: "published qrels"."""
    return DEEDS.get(action, action.replace("-", " "))


@register.filter
def own_deed(action: str) -> str:
    """The same where it was done to oneself: "joined"."""
    return OWN_DEEDS.get(action, deed(action))


@register.filter
def at(mapping: dict[Any, Any], key: Any) -> Any:
    """`mapping|at:key`, for keys that are variables."""
    return mapping.get(key)
