"""Sets of qrels, by how many rows have each grade."""

from django.db.models import Count

from benchmarks_app.models import Benchmark, QrelSet


def relevant_values(benchmark: Benchmark) -> set[int]:
    """The grades of its scale that count as relevant."""
    return set(benchmark.grades.filter(is_relevant=True).values_list("value", flat=True))


def grades_in(qrel_set: QrelSet) -> dict[int, int]:
    """{grade: pairs} of a set, by grade."""
    rows = qrel_set.qrels.values_list("grade").annotate(n=Count("pk")).order_by("grade")
    return dict(rows)
