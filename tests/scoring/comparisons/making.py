"""Runs that are worked out by hand: what is asked of them, and their values."""

from urllib.parse import urlencode

import numpy as np
from django.urls import reverse

from benchmarks_app.models import Run

N = 40
EVERY = [f"q{n:02}" for n in range(N)]
FIRST = EVERY[:30]


def ranking(qid: str, *docids: str) -> str:
    return "\n".join(
        f"{qid} Q0 {docid} {rank} {100 - rank} s" for rank, docid in enumerate(docids, start=1)
    )


def values(release, name: str, measure: str = "nDCG@10") -> np.ndarray:
    """Per-query values of a run, worked out here by hand."""
    results = []
    for place, qid in enumerate(EVERY):
        grade = {"d1": 2, "d2": 0, **({"d3": 1} if qid in EVERY[::4] else {})}
        order = {
            "good": ["d1", "d2", "d3"],
            "poor": ["d2", "d1", "d3"] if place % 2 else ["d1", "d2", "d3"],
            "third": ["d9", "d1"] if place < 20 else [],
        }[name]
        gains = [grade.get(docid, 0) for docid in order]
        best = sorted(grade.values(), reverse=True)
        dcg = [sum(g / np.log2(r + 2) for r, g in enumerate(of)) for of in (gains, best)]
        results.append(dcg[0] / dcg[1])
    return np.array(results)


def page(release, *names: str, view: str = "comparison", args=(), **query) -> str:
    runs = ",".join(str(Run.objects.get(name=name).pk) for name in names)
    address = reverse(f"scoring:{view}", args=[release.benchmark.slug, *args])
    return f"{address}?{urlencode({'runs': runs, 'release': release.version, **query})}"
