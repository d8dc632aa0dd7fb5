"""A page that somebody has open: what its form sends, and what its parts are called."""

import re
from collections import Counter, defaultdict
from html import unescape

FIELD = re.compile(r'<input type="hidden" name="(initial-\w+)"(?: value="([^"]*)")?')


def opened(page: str) -> dict[str, list[str]]:
    """What a form of the page sends of the values that it showed."""
    values = defaultdict(list)
    for name, value in FIELD.findall(page):
        values[name].append(unescape(value))
    return dict(values)


def misnamed(page: str) -> list[str]:
    """Ids that several elements have, and those that a description is looked for under in vain."""
    ids = re.findall(r'\sid="([^"]+)"', page)
    described = " ".join(re.findall(r'\saria-(?:describedby|labelledby)="([^"]+)"', page)).split()
    return [name for name, n in Counter(ids).items() if n > 1] + sorted({*described} - {*ids})
