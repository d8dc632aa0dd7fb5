"""The measure that an address asks for."""

from dataclasses import dataclass

from django.http import HttpRequest

from benchmarks_app.models import Release
from benchwright.errors import ScoringError
from scoring.scores.services.firewall import MeasureWithheldError, measure_seen
from scoring.scores.shown import Shown

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


def asked_measure(request: HttpRequest, release: Release) -> Asked:
    """The measure typed into `measure`, or else the one chosen in `m`, as far as it is told.

    A choice that is none is an old or a wrong address: it shows the first measure.
    """
    first = measure_seen(request.user, release)
    text, chosen = (request.GET.get(name, "").strip() for name in ("measure", "m"))
    if text and not request.user.is_authenticated:
        return Asked(first, text=text, error=SIGN_IN)
    try:
        return Asked(measure_seen(request.user, release, text or chosen))
    except MeasureWithheldError as error:
        return Asked(first, text=text or chosen, error=str(error))
    except ScoringError as error:
        return Asked(first, text=text, error=str(error)) if text else Asked(first)
