"""Agreement in a few numbers, as a release tells it."""

from typing import Any

import numpy as np

from annotation.agreement.selectors.agreement import SEED, Filters, _columns, _standing
from benchmarks_app.models import Benchmark
from benchwright.agreement.bootstrap import alpha_with_interval
from benchwright.agreement.coefficients import Level, percent_agreement
from benchwright.agreement.labels import Labels


def agreement_summary(benchmark: Benchmark, as_of: int) -> dict[str, Any]:
    """How much annotators agree, up to an event, in a few numbers; None where it is undefined."""
    scale = sorted(benchmark.grades.values_list("value", flat=True))
    rows = _columns(_standing(benchmark, Filters(), as_of), set(scale)).rows
    if not rows:
        return {"n_labels": 0}
    labels = Labels.from_rows(rows, scale)
    counts = labels.counts()
    alpha = alpha_with_interval(labels, Level.ORDINAL, np.random.default_rng(SEED))
    return {
        "alpha": alpha.value,
        "low": alpha.low,
        "high": alpha.high,
        "exact": percent_agreement(counts).value,
        "n_labels": int(counts.sum()),
        "n_doubled": int((counts.sum(axis=1) > 1).sum()),
        "n_annotators": len(set(labels.raters.tolist())),
    }
