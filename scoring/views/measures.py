"""The measure that an address asks for."""

from dataclasses import dataclass

from django.http import HttpRequest

from scoring.core.errors import ScoringError
from scoring.shown import FIRST_MEASURE, Shown, any_measure


@dataclass(frozen=True)
class Asked:
    """A measure; where what was typed is none, `error` says why and the first one is shown."""

    measure: Shown
    text: str = ""
    error: str = ""

    @property
    def is_added(self) -> bool:
        return not self.measure.is_standard


def asked_measure(request: HttpRequest, threshold: int) -> Asked:
    """The measure typed into `measure`, or else the one chosen in `m`.

    A choice that is none is an old or a wrong address: it shows the first measure.
    """
    text = request.GET.get("measure", "").strip()
    try:
        return Asked(any_measure(text or request.GET.get("m", "") or FIRST_MEASURE.name, threshold))
    except ScoringError as error:
        first = FIRST_MEASURE.on(threshold)
        return Asked(first, text=text, error=str(error)) if text else Asked(first)
