"""What is drawn anew for each page, and now and then spells a word."""

import re

from django.http import HttpResponse

TOKENS = re.compile(
    r'(?<=name="csrfmiddlewaretoken" value=")\w+|(?<="X-CSRFToken": ")\w+'
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)


def text_without_tokens(answer: HttpResponse) -> str:
    """The text of an answer without the tokens of its forms and without random ids."""
    return TOKENS.sub("TOKEN", answer.content.decode())
