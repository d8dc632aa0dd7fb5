"""The pages of annotators and submitters in every language: complete, and nothing else moved."""

import ast
import gettext
import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from html.parser import HTMLParser
from pprint import pformat

import pytest
from babel.messages import Catalog, Message
from django.apps import apps
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db import connection, models
from django.forms import DateField
from django.template import Context, Template
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import translation
from django.utils.formats import localize_input
from django.utils.translation import trans_real
from pytest_django.asserts import assertContains

from annotation.judging.protocol.errors import SignedOutError
from benchmarks_app.errors import BlindError
from benchmarks_app.language import TRANSLATED, told
from benchmarks_app.templatetags import words
from tests import catalogues, factories
from tests.test_access import PEOPLE as COLUMNS
from tests.test_access import ROWS
from tests.world import addresses

pytestmark = pytest.mark.xdist_group("translations")

PEOPLE = ("ada", "sam", "anonymous")
# Pages that say in the view whether they are translated, or whose frame alone is.
FRAMED = {
    "benchmark-detail",
    "corpus-detail",
    "docs",
    "job-list",
    "run-list",
    "system",
}
OF_TWO_RUNS = {"scoring:comparison", "scoring:comparison-robustness", "scoring:side-by-side"}
# What annotators and submitters may open in English, by the reason why; all else is translated.
ENGLISH = {
    "no pages: files, pictures and answers to programs": """
        annotation:judge-session annotation:my-hours-csv api-docs api-schema chart-bundle
        contamination-clean document-image document-thumbnail healthz leak-report-file readyz
        release-export-format release-file
        run-export scoring:ann-chart scoring:contextual-chart scoring:contextual-export
        scoring:contextual-image scoring:contextual-verdict-image scoring:contrastive-chart
        scoring:contrastive-ranks-csv
        scoring:freshness-csv scoring:gate-chart scoring:gate-report scoring:leaderboard-csv
        scoring:leaderboard-history-chart scoring:leaderboard-json scoring:leaderboard-markdown
        scoring:leaderboard-slices-csv scoring:moves-file scoring:planner-chart
        scoring:reusability-chart scoring:run-chart scoring:run-holes-csv scoring:run-latency-chart
        scoring:run-queries-csv scoring:slice-reach-chart split-assignment split-chart
    """,
    "the view says which language it is in": "benchmark-detail",
    "documentation is written in English": "docs docs-page",
    "who makes a benchmark owns it, and owners read English": "benchmark-new",
    "tools of engineers and keepers, whose verdicts and reasons the library writes in English": """
        contamination-detail contamination-list leak-report-detail release-export
        scoring:freshness scoring:moves scoring:planner scoring:reliability scoring:rescoring
        scoring:reusability scoring:run-top-up scoring:top-up-new
    """,
}
WORD = re.compile(r"[A-Za-z]{2,}")
VOID = {"meta", "link", "input", "img", "br", "hr", "source", "wbr"}
# Whose words are nobody's to translate; `dir="auto"` marks what people wrote.
NOT_WORDS = {"script", "style", "code", "pre", "kbd", "svg"}
SAID_IN = ("aria-label", "title", "placeholder", "alt", "data-confirm", "data-confirm-ok")
# Examples of what may be written, which are of no language.
EXAMPLES = {"bm25-stem k1=0.9", "nDCG(dcg='exp-log2')@20"}
NAMES = re.compile(
    r"\b(Benchwright|API|CSV|JSON|JUnit|Markdown|SHA-256|SVG|PNG|UTC|ms|English|Deutsch|dev|MAP|bpref|MRR@10|Recall@\d+)\b"
)


gathered = cache(catalogues.gathered)  # every source is read for it: once, for all tests here


class Bracketed(gettext.NullTranslations):
    """A language whose words are those of the sources in brackets; what is none of them stays."""

    def __init__(self) -> None:
        super().__init__()
        self.known = {message.id for message in gathered()}
        self.of_django = trans_real.DjangoTranslation("de")

    def gettext(self, message: str) -> str:
        words = message.rpartition("\x04")[2]
        is_known = words in self.known or self.of_django.gettext(message) != message
        return f"⟦{words}⟧" if is_known else words

    def ngettext(self, one: str, many: str, n: int) -> str:
        return f"⟦{(one if n == 1 else many).rpartition(chr(4))[2]}⟧"

    def language(self) -> str:
        return "de"

    def to_language(self) -> str:
        return "de"


class Text(HTMLParser):
    """What a page says: its texts and labels, but for what people wrote and names of programs."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.texts: list[str] = []

    @property
    def is_silent(self) -> bool:
        return any(silent for _, silent in self.open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if not self.is_silent and known.get("placeholder") not in EXAMPLES:
            self.texts += [known[name] or "" for name in SAID_IN if name in known]
        if tag not in VOID:
            self.open.append(
                (
                    tag,
                    tag in NOT_WORDS
                    or bool({"dir", "data-find"} & known.keys())
                    or known.get("lang") == "en",
                )
            )

    def handle_endtag(self, tag: str) -> None:
        while self.open:
            if self.open.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        if not self.is_silent:
            self.texts.append(data)


def unbracketed(texts: list[str]) -> Iterator[str]:
    """Texts outside of brackets; a bracket may begin in one text and end in another."""
    depth, rest = 0, ""
    for text in texts:
        for part in re.split(r"([⟦⟧])", text):
            if part == "⟦":
                depth += 1
            elif part == "⟧":
                depth -= 1
            elif depth == 0:
                rest += part
        if depth == 0:
            yield rest
            rest = ""


@pytest.fixture
def bracketed(monkeypatch) -> Iterator[None]:
    monkeypatch.setitem(trans_real._translations, "de", Bracketed())
    words._script_words.cache_clear()
    yield
    words._script_words.cache_clear()


@pytest.fixture
def written(world) -> list[str]:
    """Every text that somebody wrote, the longest first."""
    result: set[str] = set()
    for model in apps.get_models():
        fields = [
            field.attname
            for field in model._meta.concrete_fields
            if isinstance(field, models.CharField | models.TextField) and not field.choices
        ]
        if fields and model._meta.app_label in ("benchmarks_app", "annotation", "scoring"):
            for row in model._base_manager.values_list(*fields):
                result.update(text for text in row if text and len(text) > 1)
    return sorted(result, key=len, reverse=True)


def left_in_english(page: str, written: list[str]) -> list[str]:
    parser = Text()
    parser.feed(page)
    left = []
    for text in unbracketed(parser.texts):
        text = NAMES.sub(" ", text)
        # All that was written is looked for in what has a word left, which is little.
        for content in written if WORD.search(text) else ():
            if content in text:
                text = re.sub(rf"(?<!\w){re.escape(content)}(?!\w)", " ", text)
        if WORD.search(text):
            left.append(" ".join(text.split()))
    return left


@pytest.mark.django_db
@pytest.mark.parametrize("who", PEOPLE)
def test_no_word_of_a_translated_page_stays_english(world, bracketed, written, in_the_world, who):
    client = world.client(who, headers={"accept-language": "de"})
    left = {}

    two = (world.arguments["run"], world.arguments["reference"])
    pair = {"runs": ",".join(str(run) for run in two)}
    index = dict(zip(("exact", "approximate"), two, strict=True))
    for address in addresses():
        if address.name not in TRANSLATED | FRAMED:
            continue
        url = reverse(address.name, kwargs=address.arguments(world.arguments))
        query = (
            pair if address.name in OF_TWO_RUNS else index if address.name == "scoring:ann" else {}
        )
        response = client.get(url, query)
        page = b"" if response.streaming else response.content
        is_page = page.startswith(b"<!doctype") or address.name in TRANSLATED
        if not is_page or not response["Content-Type"].startswith("text/html"):
            continue
        if english := left_in_english(page.decode(), written):
            left[f"{address.name} {response.status_code}"] = english

    assert not left, pformat(left, width=200)


def test_page_of_annotators_and_submitters_is_translated_or_says_why_not():
    readers = [COLUMNS.index(who) for who in ("ada", "sam")]
    opened = {
        name
        for (name, method), answers in ROWS.items()
        if method == "GET" and "200" in {answers[column] for column in readers}
    }
    names = [name for group in ENGLISH.values() for name in group.split()]

    assert len(names) == len(set(names))
    assert opened - TRANSLATED == set(names), "Translate the page, or name it in ENGLISH."


# --- the catalogues ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sources() -> Catalog:
    return gathered()


def said(message: Message) -> list[tuple[str, str]]:
    """Each form of a message beside what it translates: of one the singular, of more the plural."""
    if not message.pluralizable:
        return [(message.id, message.string)]
    forms = list(message.string)
    originals = [*message.id[:1], *[message.id[1]] * (len(forms) - 1)]
    return list(zip(originals if len(forms) > 1 else message.id[1:], forms, strict=True))


PLACEHOLDER = re.compile(r"%\(\w+\)s|%%|\{[^{}]*\}|</?\w[^>]*>|\b%")


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_catalogue_has_every_word_of_the_sources_and_no_other(sources, language):
    catalog = catalogues.read(language)

    assert {message.id for message in catalog} == {message.id for message in sources}, (
        "The sources say something else than the catalogues: make messages, then translate."
    )
    lacking = [message.id for message in catalogues.untranslated(catalog)]
    assert lacking == [], "Not translated (docs/translating.md)."


def test_no_word_is_said_inside_an_f_string():
    """Up to Python 3.11 what gathers the words sees nothing of what stands in one."""
    inside = [
        f"{path.name}:{call.lineno}"
        for path in catalogues.sources()
        if path.suffix == ".py"
        for text in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(text, ast.JoinedStr)
        for call in ast.walk(text)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in catalogues.KEYWORDS
    ]

    assert inside == []


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_translations_keep_placeholders_and_markup(language):
    changed = [
        (original, text)
        for message in catalogues.read(language)
        for original, text in said(message)
        if message.id and sorted(PLACEHOLDER.findall(original)) != sorted(PLACEHOLDER.findall(text))
    ]

    # A key is called otherwise on keyboards of another language; its element stays.
    assert [pair for pair in changed if "<kbd>" not in pair[0]] == []


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_compiled_catalogue_is_what_its_source_says(language):
    compiled = catalogues.catalogue_file(language, "mo").read_bytes()

    assert compiled == catalogues.as_mo(catalogues.read(language)), "make messages"


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_catalogue_is_written_as_make_messages_writes_it(sources, language):
    written = catalogues.as_po(catalogues.renewed(language, sources))

    assert catalogues.catalogue_file(language).read_bytes() == written, "make messages"


COUNTED = re.compile(r"count counter=(\w+)\S* with ([^%]*)%\}")


def test_no_sentence_hides_the_number_it_is_counted_by():
    """`count counter=n with n=n|intcomma`: the text hides the number, and the page breaks."""
    hidden = [
        f"{path.name}: {number}"
        for path in sorted((catalogues.ROOT / "templates").rglob("*.html"))
        for number, names in COUNTED.findall(path.read_text(encoding="utf-8"))
        if re.search(rf"\b{number}=", names)
    ]

    assert hidden == []


# --- which language ------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("accepted", "language", "heading"),
    [
        ("de", "de", "Anmelden"),
        ("de-AT,de;q=0.8,en;q=0.5", "de", "Anmelden"),
        ("zh-CN", "zh-hans", "登录"),
        ("zh", "zh-hans", "登录"),
        ("fr,de;q=0.5", "de", "Anmelden"),
        ("en,de;q=0.9", "en", "Sign in"),
        ("fr", "en", "Sign in"),
        ("*", "en", "Sign in"),
        ("", "en", "Sign in"),
        ("not a language;q=x", "en", "Sign in"),
    ],
)
def test_browser_chooses_the_language_of_who_has_no_account(client, accepted, language, heading):
    response = client.get(reverse("sign-in"), headers={"accept-language": accepted})

    assertContains(response, f'<html lang="{language}"')
    assertContains(response, f"<h1>{heading}</h1>")
    assert response["Content-Language"] == language
    assert "Accept-Language" in response["Vary"]


@pytest.mark.django_db
def test_language_of_the_account_comes_before_that_of_the_browser(client):
    lin = factories.user("lin")
    client.force_login(lin)
    profile = {"first_name": "Lin", "email": lin.email, "language": "zh-hans"}

    saved = client.post(reverse("account-detail"), profile, headers={"accept-language": "de"})
    page = client.get(reverse("annotation:queue"), headers={"accept-language": "de"})

    lin.refresh_from_db()
    assert (saved.status_code, lin.language) == (302, "zh-hans")
    assertContains(page, "您的资料已保存。")
    assertContains(page, '<html lang="zh-hans"')
    assertContains(page, "目前没有您的工作")


@pytest.mark.django_db
def test_language_that_the_site_has_not_is_refused(client):
    lin = factories.user("lin")
    client.force_login(lin)

    response = client.post(reverse("account-detail"), {"email": lin.email, "language": "tlh"})

    lin.refresh_from_db()
    assert (response.status_code, lin.language) == (422, "")


@pytest.mark.django_db
def test_page_that_is_not_translated_is_english_in_a_translated_frame(client):
    response = client.get(reverse("docs"), headers={"accept-language": "de"})

    assertContains(response, '<html lang="de"')
    assertContains(response, '<main id="main" tabindex="-1" lang="en"')
    assertContains(response, "Zum Inhalt springen")


@pytest.mark.django_db
def test_refusal_is_in_the_language_of_who_is_refused(client):
    client.force_login(factories.user("ada"))

    forbidden = client.get(reverse("system"), headers={"accept-language": "de"})
    missing = client.get("/nowhere/", headers={"accept-language": "de"})

    assertContains(forbidden, "Nicht für Sie bestimmt", status_code=403)
    assertContains(missing, "Unter dieser Adresse ist nichts", status_code=404)


# --- what no language changes --------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["de", "zh-hans"])
def test_numbers_and_days_of_inputs_are_written_as_in_english(language):
    with translation.override(language):
        assert Template("{{ n }} {{ n|floatformat:2 }} {{ big|floatformat:'2g' }}").render(
            Context({"n": 0.512, "big": 12345.678})
        ) == ("0.512 0.51 12,345.68")
        assert localize_input(date(2026, 11, 25)) == "2026-11-25"
        assert intcomma(1234567) == "1,234,567"
        field = DateField()
        assert field.widget.format_value(field.clean("2026-11-25")) == "2026-11-25"


def test_whoever_reads_jobs_and_commands_write_english():
    """Nothing chooses a language but a request for a page."""
    assert translation.get_language() == "en"
    assert told(BlindError()) == BlindError.message


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["benchmarks/", "benchmarks/none/", "me/", "schema/"])
def test_api_answers_byte_for_byte_the_same_in_every_language(client, path):
    client.force_login(factories.user("ada", language="de"))
    answers = [
        client.get(f"/api/v1/{path}", headers={"accept-language": language})
        for language in ("en", "de", "zh-hans")
    ]

    assert len({(answer.status_code, answer.content) for answer in answers}) == 1
    assert not any("Accept-Language" in answer.get("Vary", "") for answer in answers)


@pytest.mark.django_db
def test_code_of_an_error_is_the_same_and_its_sentence_the_readers(client):
    headers = {"accept-language": "de"}
    url = reverse("annotation:judge-exchange", args=[1])

    english = client.post(url, b"{}", content_type="application/json", headers=headers)
    german = client.post(f"{url}?lang=de", b"{}", content_type="application/json")

    assert english.json()["message"] == SignedOutError.message
    assert german.json()["message"].startswith("Sie sind abgemeldet.")
    assert english.json()["code"] == german.json()["code"] == "signed-out"


@pytest.mark.django_db
def test_language_costs_no_query(client):
    client.force_login(factories.user("ada"))
    url = reverse("password-change")
    client.get(url)

    with CaptureQueriesContext(connection) as english:
        client.get(url)
    with CaptureQueriesContext(connection) as german:
        client.get(url, headers={"accept-language": "de"})

    assert len(german) == len(english)


def test_scripts_of_an_english_page_bring_no_words():
    page = Template('{% script_words "annotation/judge.js" "annotation/outbox.js" %}')

    assert page.render(Context()) == ""
    with translation.override("de"):
        words = page.render(Context())
    assert "Alles gespeichert" in words
    assert len(words) < 8_000
