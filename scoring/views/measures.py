"""The measure that an address asks for."""

from dataclasses import dataclass

from django.http import HttpRequest

from scoring.core.errors import ScoringError
from scoring.shown import FIRST_MEASURE, Shown, any_measure

# Computing takes seconds, which not everybody who comes along may have as often as they like.
SIGN_IN = (
    "Other measures are computed for people who are signed in. Sign in, or choose a listed one."
)


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
    first = FIRST_MEASURE.on(threshold)
    text = request.GET.get("measure", "").strip()
    if text and not request.user.is_authenticated:
        return Asked(first, text=text, error=SIGN_IN)
    try:
        return Asked(any_measure(text or request.GET.get("m", "") or first.name, threshold))
    except ScoringError as error:
        return Asked(first, text=text, error=str(error)) if text else Asked(first)
