"""What people are called where their names are not told."""

from collections.abc import Iterable
from typing import Any, Protocol

from django.conf import settings

from benchmarks_app.models import Benchmark, User
from benchmarks_app.permissions import Action, may
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


def people_told(
    keys: Iterable[int | str], benchmark: Benchmark, viewer: Any
) -> dict[int | str, User | str]:
    """{a person of the site by their number, one of a file by their name: who that is}.

    Who keeps the benchmark reads names, and everybody else pseudonyms. People who are gone are left
    out of the former.
    """
    if not may(viewer, Action.EDIT, benchmark):
        name = pseudonyms_in(benchmark)
        return {key: name(0, key) if isinstance(key, str) else name(key) for key in keys}
    people: dict[int | str, User | str] = {key: key for key in keys if isinstance(key, str)}
    return people | User.objects.in_bulk([key for key in keys if isinstance(key, int)])
