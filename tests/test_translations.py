"""The pages of annotators and submitters in every language: complete, and nothing else moved."""

import gettext
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pprint import pformat

import pytest
from django.apps import apps
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import models, transaction
from django.test import override_settings
from django.urls import reverse
from django.utils.translation import trans_real

from benchmarks_app.language import TRANSLATED
from benchmarks_app.templatetags import words
from tests import world as worlds
from tests.world import World, addresses

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("translations")]

PEOPLE = ("ada", "sam", "anonymous")
VOID = {"meta", "link", "input", "img", "br", "hr", "source", "wbr"}
# Whose words are nobody's to translate; `dir="auto"` marks what people wrote.
NOT_WORDS = {"script", "style", "code", "pre", "kbd", "svg"}
SAID_IN = ("aria-label", "title", "placeholder", "alt", "data-confirm", "data-confirm-ok")
# Examples of what may be written, which are of no language.
EXAMPLES = {"bm25-stem k1=0.9", "nDCG(dcg='exp-log2')@20"}
NAMES = re.compile(
    r"\b(Benchwright|API|CSV|JSON|SVG|PNG|UTC|English|Deutsch|MAP|bpref|MRR@10|Recall@100)\b"
)


class Bracketed(gettext.NullTranslations):
    """A language whose words are those of the sources in brackets."""

    def gettext(self, message: str) -> str:
        return "\x04".join(message.split("\x04")[:0]) + f"⟦{message.split(chr(4))[-1]}⟧"

    def ngettext(self, one: str, many: str, n: int) -> str:
        return f"⟦{(one if n == 1 else many).split(chr(4))[-1]}⟧"

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


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("translations")
    hasher = f"{MD5PasswordHasher.__module__}.{MD5PasswordHasher.__name__}"
    with (
        pytest.MonkeyPatch.context() as patch,
        override_settings(MEDIA_ROOT=folder, STAGING_DIR=folder, PASSWORD_HASHERS=[hasher]),
        django_db_blocker.unblock(),
        transaction.atomic(),
    ):
        patch.setattr("benchmarks_app.jobs.services.jobs.send", lambda job: None)
        yield worlds.build(files=folder)
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def in_the_world(request, folders, settings, db) -> None:
    if "world" in request.fixturenames:
        settings.MEDIA_ROOT = request.getfixturevalue("world").files


@pytest.fixture
def bracketed(monkeypatch) -> Iterator[None]:
    monkeypatch.setitem(trans_real._translations, "de", Bracketed())
    words._script_words.cache_clear()
    yield
    words._script_words.cache_clear()


@pytest.fixture
def written(world) -> list[str]:
    """Every text that somebody wrote, the longest first."""
    found: set[str] = set()
    for model in apps.get_models():
        fields = [
            field.attname
            for field in model._meta.concrete_fields
            if isinstance(field, models.CharField | models.TextField) and not field.choices
        ]
        if fields and model._meta.app_label in ("benchmarks_app", "annotation", "scoring"):
            for row in model._base_manager.values_list(*fields):
                found.update(text for text in row if text and len(text) > 1)
    return sorted(found, key=len, reverse=True)


def left_in_english(page: str, written: list[str]) -> list[str]:
    parser = Text()
    parser.feed(page)
    left = []
    for text in unbracketed(parser.texts):
        text = NAMES.sub(" ", text)
        for content in written:
            if content in text:
                text = re.sub(rf"(?<!\w){re.escape(content)}(?!\w)", " ", text)
        if re.search(r"[A-Za-z]{2,}", text):
            left.append(" ".join(text.split()))
    return left


@pytest.mark.parametrize("who", PEOPLE)
def test_no_word_of_a_translated_page_stays_english(world, bracketed, written, who):
    client = world.client(who, headers={"accept-language": "de"})
    left = {}

    for address in addresses():
        response = client.get(reverse(address.name, kwargs=address.arguments(world.arguments)))
        page = b"" if response.streaming else response.content
        is_page = page.startswith(b"<!doctype") or address.name in TRANSLATED
        if not is_page or not response["Content-Type"].startswith("text/html"):
            continue
        if english := left_in_english(page.decode(), written):
            left[f"{address.name} {response.status_code}"] = english

    assert not left, pformat(left, width=200)
