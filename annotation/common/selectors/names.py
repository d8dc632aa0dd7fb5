"""What people are called where their names are not told."""

from collections.abc import Callable

from django.conf import settings

from benchmarks_app.models import Benchmark
from benchwright.qrels.raw_judgments import pseudonym


def pseudonyms_in(benchmark: Benchmark) -> Callable[[int, str], str]:
    """A function of (who entered a label, whom its file names) that says who gave the label.

    A person of the site and one of a file are two, even if they are called the same.
    """
    known: dict[int | str, str] = {}

    def name(actor: int, rater: str = "") -> str:
        person = f"rater {rater}" if rater else actor
        if person not in known:
            known[person] = pseudonym(person, benchmark=benchmark.pk, secret=settings.SECRET_KEY)
        return known[person]

    return name
