"""Tags and filters of pages in several languages; built in, so no template loads them."""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from django import template
from django.contrib.staticfiles import finders
from django.template.base import NodeList, Parser, Token
from django.utils import translation
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext

from benchmarks_app.language import ENGLISH, readers_language, translated

register = template.Library()
STRING = r'"((?:[^"\\]|\\.)*)"'
# What a script says: `word("…")`, and `several("one", "many", n)`.
WORD = re.compile(rf"\bword\({STRING}")
SEVERAL = re.compile(rf"\bseveral\({STRING}, {STRING}")
# Numbers of which a script takes the one that is counted like its own.
SAMPLES = (1, 2, 5)
JSON_IN_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


@register.filter(name="translated")
def translated_filter(text: Any) -> str:
    """A text that is declared in Python, in the page's language: `{{ tab.label|translated }}`."""
    return translated(str(text)) if text else ""


@register.simple_tag(takes_context=True, name="readers_language")
def readers_language_tag(context: dict[str, Any]) -> str:
    """The code of the language that the page's frame is in."""
    return readers_language(context.get("request"))


class FrameNode(template.Node):
    def __init__(self, nodes: NodeList) -> None:
        self.nodelist = nodes

    def render(self, context: Any) -> SafeString:
        with translation.override(readers_language(context.get("request"))):
            return self.nodelist.render(context)


@register.tag
def frame(parser: Parser, token: Token) -> FrameNode:
    """`{% frame %}…{% endframe %}`: in the reader's language, whatever the page's is."""
    nodes = parser.parse(("endframe",))
    parser.delete_first_token()
    return FrameNode(nodes)


class PartNode(template.Node):
    def __init__(self, name: str, nodes: NodeList) -> None:
        self.name, self.nodelist = name, nodes

    def render(self, context: Any) -> str:
        context[self.name] = mark_safe(self.nodelist.render(context).strip())
        return ""


@register.tag
def part(parser: Parser, token: Token) -> PartNode:
    """`{% part when %}…{% endpart %}`: a piece of the page that stands in a sentence as `when`."""
    _, name = token.split_contents()
    nodes = parser.parse(("endpart",))
    parser.delete_first_token()
    return PartNode(name, nodes)


@register.simple_tag
def script_words(*scripts: str) -> SafeString:
    """What the scripts say, in the page's language; nothing where that is English."""
    language = translation.get_language() or ENGLISH
    return _script_words(scripts, language) if language != ENGLISH else mark_safe("")


@lru_cache(maxsize=64)
def _script_words(scripts: tuple[str, ...], language: str) -> SafeString:
    translations: dict[str, str | list[str]] = {}
    for script in scripts:
        singulars, plurals = said_by(script)
        translations |= {text: gettext(text) for text in singulars}
        translations |= {text: [ngettext(text, many, n) for n in SAMPLES] for text, many in plurals}
    text = json.dumps(translations, ensure_ascii=False).translate(JSON_IN_HTML)
    return format_html('<script type="application/json" data-words>{}</script>', mark_safe(text))


def said_by(script: str) -> tuple[list[str], list[tuple[str, str]]]:
    """What a script says, and what it says of one and of several; by its name below static/."""
    path = finders.find(script)
    source = Path(path).read_text(encoding="utf-8") if path else ""
    singulars = [json.loads(f'"{text}"') for text in WORD.findall(source)]
    counted = [
        (json.loads(f'"{singular}"'), json.loads(f'"{many}"'))
        for singular, many in SEVERAL.findall(source)
    ]
    return singulars, counted
