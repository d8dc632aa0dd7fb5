"""What a draft is to become: everything its owner chooses, as JSON keeps it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

LISTS = ("left_out", "accepted", "measures", "machine_labels")


@dataclass(frozen=True, slots=True)
class ReleaseOptions:
    """The choices of a draft.

    With `is_version_proposed` the version follows the step that the difference needs, until
    somebody writes one. `threshold` is None where the scale itself says what is relevant.
    `left_out` are formats that it is not given in. `accepted` are the codes of warnings that
    somebody has seen. `measures` are those whose means all see of hidden splits; without any those
    of every board. `machine_labels` are the names of sets of a machine's grades that lie beside
    the release's own, in a file of their own.
    """

    is_version_proposed: bool = False
    description: str = ""
    licence: str = ""
    citation: str = ""
    threshold: int | None = None
    drops_all_zero: bool = False
    passes_on_texts: bool = True
    left_out: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    machine_labels: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """Options as a row keeps them; what it does not say has its default."""
        names = {field.name for field in fields(cls)}
        values = {name: value for name, value in row.items() if name in names}
        lists = {name: tuple(values.get(name, ())) for name in LISTS}
        return cls(**{**values, **lists})

    def as_json(self) -> dict[str, Any]:
        """Options as a row keeps them."""
        return {**asdict(self), **{name: list(getattr(self, name)) for name in LISTS}}
