"""What a release tells of how its grades came about: agreement, and the pools behind them."""

from typing import Any

from annotation.common.selectors.pools import pools_of
from annotation.models import Judgment, Pool
from benchmarks_app.models import QrelSet
from benchmarks_app.release_facts import MODELLERS, Models, release_fact


@release_fact
def annotation_facts(qrel_set: QrelSet) -> dict[str, Any]:
    """Of grades that were derived here; of imported ones nothing is known."""
    if qrel_set.as_of_event is None:
        return {}
    # Numpy is not needed before somebody asks.
    from annotation.agreement.selectors.agreement import agreement_summary, labels_behind

    labels = labels_behind(qrel_set)
    pools = pools_of(qrel_set.benchmark).order_by("pk").prefetch_related("runs")
    facts: dict[str, Any] = {"pools": [_pool(pool) for pool in pools]}
    if labels:
        facts["agreement"] = agreement_summary(qrel_set.benchmark, labels)
        if qrel_set.n_qrels:
            # What nobody settled has labels, and may be no pair of the set.
            pairs = set(qrel_set.qrels.values_list("query_id", "docid"))
            n_labels = sum((query, docid) in pairs for query, docid, *_ in labels)
            facts["labels_per_pair"] = round(n_labels / qrel_set.n_qrels, 2)
    return facts


def models_of_grades(qrel_set: QrelSet) -> Models:
    """Of a campaign's grades: the model of each label, as its endpoint named itself."""
    labels = Judgment.machines.filter(
        benchmark=qrel_set.benchmark_id,
        machine__campaign__name=qrel_set.parameters.get("campaign", ""),
    )
    rows = labels.values_list("query__qid", "docid", "machine__model")
    return {(qid, docid): model for qid, docid, model in rows}


MODELLERS.append(models_of_grades)


def _pool(pool: Pool) -> dict[str, Any]:
    """A pool; runs that not everybody may see are counted, not named."""
    runs = list(pool.runs.all())
    public = [run.name for run in runs if run.is_public]
    is_open = pool.state in (Pool.State.OPEN, Pool.State.PAUSED)
    return {
        "name": pool.name,
        "strategy": pool.strategy,
        "n_documents": pool.n_entries,
        "n_open": max(0, pool.n_wanted - vars(pool)["n_done"]) if is_open else 0,
        "systems": sorted(public),
        "n_systems": len(runs),
    }
