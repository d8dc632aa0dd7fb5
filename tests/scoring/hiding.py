"""A benchmark with a public and a hidden split, and runs of it."""

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Release
from tests import factories

PUBLIC = [f"p{number:02}" for number in range(3)]
HIDDEN = [f"h{number:02}" for number in range(30)]  # as many as a hidden split must have


def hiding_benchmark(slug: str = "hiding") -> Benchmark:
    """`dev` has 3 public queries, `test` 30 hidden ones; each has one document of grade 2."""
    bench = factories.benchmark(slug, visibility=Benchmark.Visibility.PUBLIC)
    bench.hidden_splits = ["test"]
    bench.save()
    grades = {(qid, f"{qid}-good"): 2 for qid in PUBLIC + HIDDEN}
    qrels = factories.qrel_set(bench, grades, name="ours")
    type(qrels).objects.filter(pk=qrels.pk).update(n_relevant=len(grades))
    for qids, split in ((PUBLIC, "dev"), (HIDDEN, "test")):
        bench.families.filter(queries__qid__in=qids).update(split=split)
    return bench


def hiding_release(of: Benchmark) -> Release:
    release = factories.release(of.qrel_sets.get())
    jobs.run_queued()
    return release


def lines(found: dict[str, list[str]]) -> str:
    """A run as TREC text."""
    return "\n".join(
        f"{qid} Q0 {docid} {rank} {100 - rank} s"
        for qid, docids in found.items()
        for rank, docid in enumerate(docids, start=1)
    )


def plain_run(**changed: list[str]) -> dict[str, list[str]]:
    """Ten documents a query, the good one at rank 2; `changed` replaces lists of queries."""
    others = {
        qid: [f"{qid}-x", f"{qid}-good", *(f"{qid}-y{n}" for n in range(8))]
        for qid in PUBLIC + HIDDEN
    }
    return others | changed
