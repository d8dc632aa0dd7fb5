"""What people are called where their names are not told."""

from typing import Protocol

from django.conf import settings

from benchmarks_app.models import Benchmark
from benchwright.qrels.raw_judgments import pseudonym


class Pseudonyms(Protocol):
    """Who entered a label, and whom its file names, as one pseudonym."""

    def __call__(self, actor: int, rater: str = "") -> str: ...


def pseudonyms_in(benchmark: Benchmark) -> Pseudonyms:
    """A function that says who gave a label.

    A person of the site and one of a file are two, even if they are called the same.
    """
    pseudonyms: dict[int | str, str] = {}

    def name(actor: int, rater: str = "") -> str:
        person = f"rater {rater}" if rater else actor
        if person not in pseudonyms:
            pseudonyms[person] = pseudonym(
                person, benchmark=benchmark.pk, secret=settings.SECRET_KEY
            )
        return pseudonyms[person]

    return name
