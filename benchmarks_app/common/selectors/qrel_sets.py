"""Sets of qrels, by how many rows have each grade."""

from collections.abc import Callable

from django.db.models import Count, QuerySet

from benchmarks_app.models import Benchmark, QrelSet
from benchwright.formats.numbers import FileGrade
from benchwright.qrels.grade_map import merged

UNJUDGED_CHOICE = "unjudged"


def relevant_values(benchmark: Benchmark) -> set[int]:
    """The grades of its scale that count as relevant."""
    return set(benchmark.grades.filter(is_relevant=True).values_list("value", flat=True))


def gains_of(benchmark: Benchmark, measure: str) -> Callable[[int], float]:
    """From a grade to its gain: for P 1 or 0, for DCG the grade, as boards count them."""
    relevant = relevant_values(benchmark)
    if measure == "P":
        return lambda grade: float(grade in relevant if relevant else grade > 0)
    return lambda grade: float(max(grade, 0))


def grades_in(qrel_set: QrelSet) -> dict[int, int]:
    """{grade: pairs} of a set, by grade."""
    rows = qrel_set.qrels.values_list("grade").annotate(n=Count("pk")).order_by("grade")
    return dict(rows)


def machine_sets(benchmark: Benchmark) -> QuerySet[QrelSet]:
    """Sets of a machine's grades that may stand beside people's labels, the newest first.

    Not those of what nobody had judged: they look at labelled documents otherwise than at the
    others, and that is not chance.
    """
    rows = QrelSet.objects.ready().filter(benchmark=benchmark, kind=QrelSet.Kind.MACHINE)
    unfit = [row.pk for row in rows if row.parameters.get("choice") == UNJUDGED_CHOICE]
    return rows.exclude(pk__in=unfit).order_by("-created_at", "-pk")


def merged_before(qrel_set: QrelSet) -> str:
    """Which grades an earlier mapping made one, and how to take them apart; '' where none did."""
    grades_of = merged(qrel_set.parameters.get("origins", {}))
    if not grades_of:
        return ""
    merges = "; ".join(
        f"{_listed(olds)} of the file are {grade} here" for grade, olds in grades_of.items()
    )
    ready = QrelSet.objects.ready().filter(benchmark=qrel_set.benchmark_id)
    earlier = ready.filter(name=qrel_set.parameters.get("mapped_from")).first()
    if earlier and not merged(earlier.parameters.get("origins", {})):
        advice = f"map '{earlier}' instead, which still has them apart"
    else:
        advice = "delete what was made of the file, and import it again with another mapping"
    return (
        f"Grades that an earlier mapping made one stay one: {merges}. To map them apart, {advice}."
    )


def _listed(grades: list[FileGrade]) -> str:
    return f"{', '.join(map(str, grades[:-1]))} and {grades[-1]}"
