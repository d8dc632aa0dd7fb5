"""A calibration from qrels and runs, as `benchwright calibrate` and Python have it: `calibrate`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchwright.calibration.calibrating import Calibration, Grades, calibrated, plain
from benchwright.calibration.favouring import Trust, trusted
from benchwright.evaluation.evaluating import evaluate
from benchwright.files.encodings import as_text
from benchwright.measures.families import Measure
from benchwright.measures.registry import options_said, parse_measure
from benchwright.reading import read_qrels

MEASURE = "nDCG@10"


@dataclass(frozen=True, slots=True)
class Report:
    """A calibration, and the judge's view of runs by a measure where there are runs."""

    calibration: Calibration
    measure: str
    trust: Trust | None

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values, NaN as null."""
        trust = plain(asdict(self.trust)) if self.trust else None
        return {**self.calibration.as_json(), "measure": self.measure, "trust": trust}


def calibrate(
    people: Any,
    machine: Any,
    *,
    runs: Mapping[str, Any] | None = None,
    measure: str = MEASURE,
    scale: Iterable[int] | None = None,
    relevant_from: int = 1,
    families: Mapping[str, str] | None = None,
    slices: Mapping[str, Sequence[str]] | None = None,
    same_model: Sequence[str] = (),
    others: Any = None,
    **more: Any,
) -> Report:
    """How a machine's qrels stand to people's, and what it makes of runs.

    Parameters
    ----------
    people, machine
        Qrels: paths, or mappings of queries to documents and grades.
    runs
        {name: run}, each a path or a mapping; valued by both sets on the queries that both have,
        documents graded by either alone left unjudged in the other.
    measure
        A name as in docs/metrics.md, by which runs are valued; where it does not say `rel`, what is
        relevant begins at `relevant_from`.
    others
        Qrels of a second person, for what two people come to.
    more
        What else `calibrating.calibrated` takes: lengths, languages, dates, refused, seed.

    Raises
    ------
    CalibrationError
        If both graded no pair in common, or there is no scale.
    UnknownMeasureError, MeasureParameterError
        If the measure is none, or several.
    """
    valued = _measure(measure, relevant_from)
    of_people, of_machine = grades_of(people), grades_of(machine)
    calibration = calibrated(
        of_people,
        of_machine,
        scale=scale,
        relevant_from=relevant_from,
        families=families,
        slices=slices,
        others=grades_of(others) if others else None,
        **more,
    )
    if not runs:
        return Report(calibration, str(valued), None)
    both = [query for query in of_people if query in of_machine]
    values = [
        {name: _values(of, both, calibration.scale, run, valued) for name, run in runs.items()}
        for of in (of_people, of_machine)
    ]
    trust = trusted(values[0], values[1], families=families, same_model=same_model)
    return Report(calibration, str(valued), trust)


def grades_of(qrels: Any) -> Grades:
    """Qrels as a mapping; a path is read."""
    if isinstance(qrels, Mapping):
        return qrels
    return {
        as_text(query): {as_text(document): grade for document, grade in by_document.items()}
        for query, by_document in read_qrels(Path(qrels)).items()
    }


def _measure(name: str, relevant_from: int) -> Measure:
    measure = parse_measure(name)
    has_rel = "rel" in options_said(name) | dict(measure.options).keys()
    return measure if has_rel else measure.with_options({"rel": relevant_from})


def _values(
    grades: Grades, queries: Sequence[str], scale: Sequence[int], run: Any, measure: Measure
) -> dict[str, float]:
    on_scale = {
        query: {document: grade for document, grade in grades[query].items() if grade in scale}
        for query in queries
    }
    evaluation = evaluate(on_scale, run, [measure], top_grade=scale[-1])
    return {query: values[str(measure)] for query, values in evaluation.per_query.items()}
