"""The calibration of one machine judge: agreement, bias, and what its grades mean.

Rows of the confusion matrix are people's grades, columns the machine's. Intervals are over families
of queries: percentile bootstraps for coefficients (as in `benchwright.agreement`), Student's t for
means (as everywhere). Grades of the machine that are off the scale are counted, and left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchwright.agreement.bootstrap import alpha_with_interval, kappa_with_interval
from benchwright.agreement.coefficients import Level, Weights
from benchwright.agreement.labels import Ints, Labels
from benchwright.agreement.measured import Measured
from benchwright.calibration.errors import NoPairInCommonError, ScaleMissingError
from benchwright.statistics.families import Floats
from benchwright.statistics.intervals import mean_interval
from benchwright.texts.counting import counted

LEAST_PAIRS, LEAST_QUERIES = 200, 20
LEAST_IN_ROW = 30
"""Below so many pairs a row of a table is shown with a warning."""
PEOPLE, MACHINE = "people", "machine"
THIRDS = ("short", "middle", "long")

Grades = Mapping[str, Mapping[str, int]]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Bias:
    """Machine minus people over some pairs: the mean in grades, with its interval over families.

    The ends are NaN below two families.
    """

    name: str
    n_pairs: int
    n_families: int
    mean: float
    low: float
    high: float

    @property
    def is_too_few(self) -> bool:
        return self.n_pairs < LEAST_IN_ROW


@dataclass(frozen=True, slots=True)
class Meaning:
    """What people said where the machine gave a grade: their mean grade, and the relevant share."""

    grade: int
    n_pairs: int
    people_mean: float
    relevant_share: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a machine's grades stand to people's.

    `confusion[i][j]` counts pairs that people graded `scale[i]` and the machine `scale[j]`.
    `bias_by` has rows by people's grade ("grade"), slice, document length, language and date.
    `too_few` says what is lacking for a verdict; "" where it is enough. `people_with_people` is
    quadratic kappa of two people where they graded the same pairs. `n_invalid` are grades off the
    scale, `n_refused` pairs for which the machine gave none.
    """

    scale: tuple[int, ...]
    relevant_from: int
    n_pairs: int
    n_queries: int
    n_families: int
    n_invalid: int
    n_refused: int
    confusion: tuple[tuple[int, ...], ...]
    exact: float
    kappa: Measured
    kappa_linear: Measured
    kappa_quadratic: Measured
    alpha: Measured
    people_with_people: Measured
    bias: Bias
    bias_by: Mapping[str, tuple[Bias, ...]]
    meanings: tuple[Meaning, ...]
    too_few: str

    def as_json(self) -> dict[str, Any]:
        """The calibration as plain values, NaN as null."""
        facts: dict[str, Any] = plain(asdict(self))
        return facts


def calibrated(
    people: Grades,
    machine: Grades,
    *,
    scale: Iterable[int] | None = None,
    relevant_from: int = 1,
    families: Mapping[str, str] | None = None,
    slices: Mapping[str, Sequence[str]] | None = None,
    lengths: Mapping[str, int] | None = None,
    languages: Mapping[str, str] | None = None,
    dates: Mapping[Pair, str] | None = None,
    others: Grades | None = None,
    refused: Iterable[Pair] = (),
    seed: int = 0,
) -> Calibration:
    """How a machine's grades stand to people's, on the pairs that both graded.

    Parameters
    ----------
    people, machine
        Grades by query and document.
    scale
        The grades there are; without it those that people gave.
    relevant_from
        The lowest grade that counts as relevant.
    families, slices, languages, lengths, dates
        {query: family}, {slice: queries}, {document: language}, {document: characters} and
        {(query, document): date} of the machine's grade: what bias is told by.
    others
        Grades of a second person, to be held beside: what two people come to.
    refused
        Pairs that the machine was asked about in vain.

    Raises
    ------
    NoPairInCommonError
        If they graded no pair in common.
    ScaleMissingError
        If there are not two grades.
    """
    grades = _scale(scale, people)
    rows = [
        (query, document, grade, machine[query][document])
        for query, by_document in people.items()
        for document, grade in by_document.items()
        if grade in grades and document in machine.get(query, {})
    ]
    on_scale = [row for row in rows if row[3] in grades]
    if not on_scale:
        raise NoPairInCommonError(n_people=_size(people), n_machine=_size(machine))
    of = families or {}
    pairs = _Pairs.of(on_scale, grades, of)
    rng = np.random.default_rng(seed)
    n_queries = len({row[0] for row in on_scale})
    return Calibration(
        scale=grades,
        relevant_from=relevant_from,
        n_pairs=len(on_scale),
        n_queries=n_queries,
        n_families=pairs.n_families,
        n_invalid=len(rows) - len(on_scale),
        n_refused=len(set(refused)),
        confusion=tuple(tuple(int(n) for n in row) for row in pairs.tables().sum(axis=0)),
        exact=float((pairs.people == pairs.machine).mean()),
        kappa=kappa_with_interval(pairs.tables(), Weights.NONE, rng),
        kappa_linear=kappa_with_interval(pairs.tables(), Weights.LINEAR, rng),
        kappa_quadratic=kappa_with_interval(pairs.tables(), Weights.QUADRATIC, rng),
        alpha=alpha_with_interval(_labels(on_scale, grades, of), Level.ORDINAL, rng),
        people_with_people=_two_people(people, others or {}, grades, of, rng),
        bias=pairs.bias("all", np.ones(len(on_scale), dtype=bool)),
        bias_by=dict(_bias_by(pairs, on_scale, slices, lengths, languages, dates)),
        meanings=tuple(pairs.meanings(relevant_from)),
        too_few=too_few(len(on_scale), n_queries),
    )


def too_few(n_pairs: int, n_queries: int) -> str:
    """What is lacking for a calibration to be a verdict; "" where it is enough."""
    lacking = []
    if n_pairs < LEAST_PAIRS:
        lacking.append(counted(LEAST_PAIRS - n_pairs, "more pair"))
    if n_queries < LEAST_QUERIES:
        lacking.append(f"pairs of {counted(LEAST_QUERIES - n_queries, 'more query')}")
    if not lacking:
        return ""
    return (
        f"{counted(n_pairs, 'pair')} of {counted(n_queries, 'query')} graded by both; "
        f"{LEAST_PAIRS} pairs of {LEAST_QUERIES} queries, drawn at random, are enough. "
        f"Grade {' and '.join(lacking)}."
    )


@dataclass(frozen=True)
class _Pairs:
    """Pairs as columns: grades as positions on the scale and as numbers, and their family."""

    scale: tuple[int, ...]
    people: Ints
    machine: Ints
    family: NDArray[np.intp]
    n_families: int

    @classmethod
    def of(
        cls,
        rows: Sequence[tuple[str, str, int, int]],
        scale: tuple[int, ...],
        families: Mapping[str, str],
    ) -> "_Pairs":
        place = {grade: at for at, grade in enumerate(scale)}
        numbers: dict[str, int] = {}
        family = [numbers.setdefault(families.get(row[0], row[0]), len(numbers)) for row in rows]
        return cls(
            scale,
            np.array([place[row[2]] for row in rows], dtype=np.int64),
            np.array([place[row[3]] for row in rows], dtype=np.int64),
            np.array(family, dtype=np.intp),
            len(numbers),
        )

    def tables(self) -> Ints:
        """Families x grades x grades: how often people's grade (row) met which of the machine."""
        g = len(self.scale)
        flat = (self.family * g + self.people) * g + self.machine
        counts = np.bincount(flat, minlength=self.n_families * g * g)
        return counts.reshape(self.n_families, g, g)

    @property
    def away(self) -> Floats:
        """Machine minus people, in grades."""
        values = np.array(self.scale, dtype=np.float64)
        return values[self.machine] - values[self.people]

    def bias(self, name: str, chosen: NDArray[np.bool_]) -> Bias:
        away, family = self.away[chosen], self.family[chosen]
        if not len(away):
            return Bias(name, 0, 0, np.nan, np.nan, np.nan)
        n_families = len(np.unique(family))
        low, high = np.nan, np.nan
        if n_families > 1:
            low, high = mean_interval(away[:, np.newaxis], families=family)[:, 0]
        return Bias(name, len(away), n_families, float(away.mean()), float(low), float(high))

    def meanings(self, relevant_from: int) -> Iterable[Meaning]:
        values = np.array(self.scale, dtype=np.float64)[self.people]
        for at, grade in enumerate(self.scale):
            mine = values[self.machine == at]
            if len(mine):
                share = float((mine >= relevant_from).mean())
                yield Meaning(grade, len(mine), float(mine.mean()), share)


def tables_of(
    rows: Sequence[tuple[str, str, int, int]],
    scale: tuple[int, ...],
    families: Mapping[str, str],
) -> Ints:
    """Families x grades x grades of (query, document, people's grade, the machine's) rows."""
    return _Pairs.of(rows, scale, families).tables()


def _bias_by(
    pairs: _Pairs,
    rows: Sequence[tuple[str, str, int, int]],
    slices: Mapping[str, Sequence[str]] | None,
    lengths: Mapping[str, int] | None,
    languages: Mapping[str, str] | None,
    dates: Mapping[Pair, str] | None,
) -> Iterable[tuple[str, tuple[Bias, ...]]]:
    by_grade = (pairs.bias(str(grade), pairs.people == at) for at, grade in enumerate(pairs.scale))
    yield "grade", tuple(by_grade)
    if slices:
        inside = {name: frozenset(queries) for name, queries in slices.items()}
        yield (
            "slice",
            _rows_of(pairs, [[name for name in inside if row[0] in inside[name]] for row in rows]),
        )
    if lengths:
        yield "length", _rows_of(pairs, _thirds([lengths.get(row[1]) for row in rows]))
    if languages:
        yield (
            "language",
            _rows_of(pairs, [[languages[row[1]]] if row[1] in languages else [] for row in rows]),
        )
    if dates:
        of_pairs = [(row[0], row[1]) for row in rows]
        yield "date", _rows_of(pairs, [[dates[pair]] if pair in dates else [] for pair in of_pairs])


def _rows_of(pairs: _Pairs, names: Sequence[Sequence[str]]) -> tuple[Bias, ...]:
    """A row for each name, in the order of names; a pair may have several."""
    known = dict.fromkeys(name for of in names for name in of)
    is_thirds = set(known) <= set(THIRDS)
    ordered = [name for name in THIRDS if name in known] if is_thirds else sorted(known)
    return tuple(pairs.bias(name, np.array([name in of for of in names])) for name in ordered)


def _thirds(lengths: Sequence[int | None]) -> list[list[str]]:
    """Which third of the documents' lengths each is in, where it has one."""
    known_lengths = np.array([length for length in lengths if length is not None], dtype=np.float64)
    if not len(known_lengths):
        return [[] for _ in lengths]
    ends = np.quantile(known_lengths, [1 / 3, 2 / 3])
    return [
        [] if length is None else [THIRDS[int(np.searchsorted(ends, length))]] for length in lengths
    ]


def _two_people(
    people: Grades,
    others: Grades,
    scale: tuple[int, ...],
    families: Mapping[str, str],
    rng: np.random.Generator,
) -> Measured:
    rows = [
        (query, document, grade, others[query][document])
        for query, by_document in people.items()
        for document, grade in by_document.items()
        if document in others.get(query, {}) and {grade, others[query][document]} <= {*scale}
    ]
    if not rows:
        return Measured.undefined("no pair was graded by two people")
    return kappa_with_interval(tables_of(rows, scale, families), Weights.QUADRATIC, rng)


def _labels(
    rows: Sequence[tuple[str, str, int, int]],
    scale: tuple[int, ...],
    families: Mapping[str, str],
) -> Labels:
    """Two raters' labels, clustered by family."""
    return Labels.from_rows(
        (
            (families.get(query, query), (query, document), rater, grade)
            for query, document, of_people, of_machine in rows
            for rater, grade in ((PEOPLE, of_people), (MACHINE, of_machine))
        ),
        scale,
    )


def _scale(scale: Iterable[int] | None, people: Grades) -> tuple[int, ...]:
    grades_listed = (
        scale if scale is not None else (g for of in people.values() for g in of.values())
    )
    grades = tuple(sorted({grade for grade in grades_listed if grade >= 0}))
    if len(grades) < 2:
        raise ScaleMissingError(scale=", ".join(map(str, grades)) or "empty")
    return grades


def _size(grades: Grades) -> int:
    return sum(map(len, grades.values()))


def plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and np.isnan(value) else value
