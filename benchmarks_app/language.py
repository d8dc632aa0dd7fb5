"""In which language a page is: as its reader's account says, else the browser, else English.

Only pages whose words are all in the catalogues are translated: `TRANSLATED` names them. What is
read by programs stays English for everybody: the API, exports, charts, commands, jobs, the audit
log. The frame around a page (`base.html`) is always in its reader's language (ADR 42).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import (
    get_supported_language_variant,
    parse_accept_lang_header,
)

from benchwright.errors import BenchmarkError

ENGLISH = "en"
# Views whose pages and messages are translated; other apps' are named as strings.
TRANSLATED = frozenset(
    {
        "home",
        "search",
        "site-search",
        # accounts
        "account-delete",
        "account-detail",
        "address-link",
        "address-verify",
        "api-token-create",
        "api-token-revoke",
        "factor-list",
        "factor-remove",
        "invitation-accept",
        "mail-choices",
        "mail-stop",
        "password-change",
        "password-reset",
        "password-reset-confirm",
        "password-reset-sent",
        "provider-callback",
        "provider-sign-in",
        "recovery-codes-create",
        "security-key-create",
        "sign-in",
        "sign-in-second",
        "sign-out",
        "team-add",
        "team-detail",
        "team-join",
        "team-leave",
        "team-link",
        "team-list",
        "totp-create",
        # comparisons
        "scoring:comparison",
        "scoring:comparison-corrected",
        "scoring:comparison-robustness",
        "scoring:comparison-start",
        "scoring:side-by-side",
        # boards
        "scoring:board-top",
        "scoring:leaderboard",
        "scoring:leaderboard-corrected",
        "scoring:leaderboard-history",
        "scoring:leaderboard-release",
        "scoring:leaderboard-slices",
        "scoring:reported-delete",
        "scoring:reported-edit",
        "scoring:reported-list",
        "scoring:reported-new",
        # gates
        "scoring:gate-detail",
        "scoring:gate-list",
        "scoring:gate-online",
        "scoring:gate-online-log",
        "scoring:gate-state",
        "scoring:policy-detail",
        "scoring:policy-new",
        "scoring:policy-retire",
        "scoring:rehearsal-detail",
        "scoring:rehearsal-state",
        # systems that are run or asked
        "scoring:ann",
        "scoring:baseline-list",
        "scoring:baseline-progress",
        "scoring:baselines-create",
        "scoring:live-ask",
        "scoring:live-delete",
        "scoring:live-detail",
        "scoring:live-list",
        "scoring:live-try",
        # what is asked and found
        "corpus-detail",
        "corpus-list",
        "document-detail",
        "family-detail",
        "family-list",
        "query-detail",
        "query-list",
        "release-card",
        "release-detail",
        "release-exports",
        "release-files",
        "release-list",
        # embeddings side by side, and answers judged in their context
        "scoring:contextual-cancel",
        "scoring:contextual-case",
        "scoring:contextual-compare",
        "scoring:contextual-evaluation",
        "scoring:contextual-evaluation-delete",
        "scoring:contextual-list",
        "scoring:contextual-progress",
        "scoring:contextual-retry",
        "scoring:contextual-run",
        "scoring:contextual-set",
        "scoring:contextual-set-people",
        "scoring:contextual-verdict-case",
        "scoring:contextual-verdicts",
        "scoring:contextual-set-delete",
        "scoring:contrastive-delete",
        "scoring:contrastive-detail",
        "scoring:contrastive-list",
        "scoring:contrastive-new",
        "scoring:contrastive-state",
        # how queries are cut
        "slice-add",
        "slice-decide",
        "slice-delete",
        "slice-detail",
        "slice-list",
        "slice-refresh",
        "slice-register",
        "split-detail",
        "split-hide",
        "split-preview",
        # runs
        "run-detail",
        "run-list",
        "scoring:run-holes",
        "scoring:run-latency",
        "scoring:run-queries",
        "scoring:run-query",
        "scoring:run-reading",
        "scoring:run-scores",
        "scoring:run-slices",
        "scoring:runs-score",
        # submitting
        "scoring:embedding-new",
        "scoring:phase-detail",
        "scoring:phase-list",
        "scoring:submission-send-on",
        "scoring:submission-state",
        "scoring:submission-detail",
        "scoring:submission-leave-out",
        "scoring:submission-list",
        "scoring:submission-new",
        "scoring:submission-withdraw",
        # judging
        "annotation:cant-judge-create",
        "annotation:guideline-detail",
        "annotation:judge",
        "annotation:judge-ask",
        "annotation:judge-benchmark",
        "annotation:judge-keys",
        "annotation:judge-later",
        "annotation:judgment-create",
        "annotation:judgment-undo",
        "annotation:my-hours",
        "annotation:my-judgment-detail",
        "annotation:my-judgment-list",
        "annotation:my-question-list",
        "annotation:practice",
        "annotation:query-search",
        "annotation:queue",
        "annotation:start",
        "annotation:stop",
    }
)


def readers_language(request: HttpRequest | None) -> str:
    """The language of the person who asks, one of `LANGUAGES`; found once per request."""
    if request is None:
        return translation.get_language() or ENGLISH
    language: str | None = getattr(request, "readers_language", None)
    if language is None:
        language = _chosen(request) or _accepted(request.headers.get("Accept-Language", ""))
        request.readers_language = language  # type: ignore[attr-defined]
    return language


def _chosen(request: HttpRequest) -> str:
    user = getattr(request, "user", None)
    chosen = user.language if user is not None and user.is_authenticated else ""
    return chosen if chosen in dict(settings.LANGUAGES) else ""


@cache
def _variant(code: str) -> str:
    """The language of the site that serves who asks for `code`, or nothing."""
    try:
        return get_supported_language_variant(code)
    except LookupError:
        return ""


def _accepted(header: str) -> str:
    for code, _ in parse_accept_lang_header(header):
        if code == "*":
            break
        if language := _variant(code):
            return language
    return ENGLISH


def translated(text: str) -> str:
    """A text that is declared in Python, in the page's language where a catalogue has it."""
    return translation.gettext(text) if text else ""


def told(error: BenchmarkError) -> str:
    """What an error says, in the page's language where a catalogue has it; its code stays."""
    template = type(error).message
    text = translated(template)
    return str(error) if text == template else text.format(**error.facts)


def is_translated(error: BenchmarkError, request: HttpRequest) -> bool:
    """Whether what an error says is known in the language of who asks."""
    with translation.override(readers_language(request)):
        return translated(type(error).message) != type(error).message


def speak(request: HttpRequest) -> None:
    """Write what follows of this answer in the language of who asks."""
    translation.activate(readers_language(request))


def speak_anew(request: HttpRequest, language: str) -> None:
    """As `speak`, once the person who asks has chosen another language, or none."""
    request.user.language = language  # type: ignore[union-attr]
    request.__dict__.pop("readers_language", None)
    speak(request)


def say_in(language: str) -> None:
    """Write what follows of this answer in a language of the site; in English where it is none."""
    languages = dict(settings.LANGUAGES)
    translation.activate(language if language in languages else ENGLISH)


class LanguageMiddleware:
    """English, but for views that are translated; which language it became is said in headers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with translation.override(ENGLISH):
            response = self.get_response(request)
        if hasattr(request, "readers_language"):
            patch_vary_headers(response, ["Accept-Language"])
            response.headers.setdefault("Content-Language", request.readers_language)
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> None:
        match = request.resolver_match
        if match and match.view_name in TRANSLATED:
            speak(request)
