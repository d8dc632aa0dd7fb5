"""How cases are judged and scored: `Options`."""

from dataclasses import dataclass
from typing import Literal

from benchwright.judges.errors import JudgeSettingError


@dataclass(frozen=True, slots=True)
class Options:
    """How a case is judged and scored.

    `threshold` None gives no verdict on success; `strict_mode` makes it 1 and every lower score 0.
    `remote_images`: images given by address are passed on to the judge, fetched by us (public
    addresses only unless `may_fetch_private`), or refused.

    Raises
    ------
    JudgeSettingError
        If the threshold is not between 0 and 1.
    """

    threshold: float | None = 0.5
    include_reason: bool = True
    strict_mode: bool = False
    remote_images: Literal["pass", "fetch", "refuse"] = "pass"
    may_fetch_private: bool = False

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise JudgeSettingError(
                name="threshold", value=self.threshold, expected="a number from 0 to 1, or None"
            )


OPTIONS = Options()
