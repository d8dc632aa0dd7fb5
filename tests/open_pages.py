"""A page with a form that somebody has open while others change what it shows."""

import re
from collections import defaultdict
from html import unescape

FIELD = re.compile(r'<input type="hidden" name="(initial-\w+)"(?: value="([^"]*)")?')


def opened(page: str) -> dict[str, list[str]]:
    """What a form of the page sends of the values that it showed."""
    values = defaultdict(list)
    for name, value in FIELD.findall(page):
        values[name].append(unescape(value))
    return dict(values)
