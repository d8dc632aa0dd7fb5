"""What one person may be told of a gate's result, and its reports."""

import json
import re
from collections.abc import Mapping
from typing import Any

from benchmarks_app.models import Benchmark
from scoring.core.gating.rehearsal import COLUMNS, summary_of, table_of, without_scatter
from scoring.models import GateResult
from scoring.selectors import release_of_version
from scoring.selectors.gates import rehearsal_told
from scoring.services.firewall import Sight, sight_of, sight_written_down
from scoring.services.slice_scores import slices_on_board

# Numbers as the core's sentences write them; whole tables of them would tell single grades.
FOUR_DECIMALS = re.compile(r"[+-]?\d+\.\d{4}\b")
MORE = re.compile(r"\d[\d,]* more quer(y|ies)")
FEW_DIFFER = re.compile(r" \d+ families or queries differ; [^.]*\.")
COUNTS_WITHHELD = "How many queries lose much is told to who keeps the benchmark alone."


def told(gate: GateResult, user: Any) -> dict[str, Any]:
    """The result with what is withheld from this person left out; empty while it is undecided.

    Of a release with a hidden split others than keepers get rounded numbers, no query of it and no
    document, and only the slices that boards show. That a keeper read single queries is written
    down.
    """
    if not gate.report:
        return {}
    sight = sight_written_down(user, gate.release, f"gate {gate.pk}")
    found = _withheld(gate, sight)
    found["rehearsal"] = rehearsal_seen(user, gate.policy.benchmark, gate.policy.rehearsal)
    return found


def told_in_parts(gate: GateResult, user: Any) -> dict[str, Any]:
    """The same for what shows no single query: nothing is written down."""
    return _withheld(gate, sight_of(user, gate.release)) if gate.report else {}


def sentence_for(gate: GateResult, user: Any) -> str:
    """The verdict in a sentence, for lists."""
    sight = sight_of(user, gate.release)
    sentence = gate.report.get("sentence", "")
    return sentence if sight.is_clear else _rounded_text(sentence, sight)


def _withheld(gate: GateResult, sight: Sight) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(gate.report))
    if sight.is_clear:
        return found
    shown = {one.name for one in slices_on_board(gate.release)}
    for check in found["checks"]:
        if check["name"] == "slices":
            check["findings"] = [one for one in check["findings"] if one["name"] in shown]
        for finding in check["findings"]:
            _without_queries(finding, sight)
    documents = found["wanted"]["documents"]
    kept = [(qid, docid) for qid, docid in documents if qid not in sight.hidden]
    found["wanted"]["documents"] = [list(pair) for pair in kept]
    found["is_partly_hidden"] = True
    rounded: dict[str, Any] = _rounded(found, sight)
    return rounded


def _without_queries(finding: dict[str, Any], sight: Sight) -> None:
    """Neither hidden queries, nor counts of them: one that differs alone could be told by these."""
    if "n_lost" in finding["numbers"]:
        lost = [q for q in finding["numbers"]["queries"] if q["query"] not in sight.hidden]
        finding |= {"numbers": {"queries": lost}, "reason": COUNTS_WITHHELD}
    finding["numbers"].pop("more_queries", None)


def _rounded(value: Any, sight: Sight) -> Any:
    """Every number of a result as this person sees it, in sentences, too; the policy stays."""
    if isinstance(value, Mapping):
        return {key: of if key == "policy" else _rounded(of, sight) for key, of in value.items()}
    if isinstance(value, list):
        return [_rounded(of, sight) for of in value]
    if isinstance(value, str):
        return _rounded_text(value, sight)
    return sight.rounded(value) if isinstance(value, float) else value


def _rounded_text(text: str, sight: Sight) -> str:
    decimals = sight.decimals or 0

    def shorter(found: re.Match[str]) -> str:
        sign = "+" if found[0].startswith("+") else ""
        return f"{float(found[0]):{sign}.{decimals}f}"

    text = FEW_DIFFER.sub("", MORE.sub("more queries", text))
    return FOUR_DECIMALS.sub(shorter, text)


def rehearsal_seen(user: Any, benchmark: Benchmark, rehearsal: dict[str, Any]) -> dict[str, Any]:
    """Rates as this person may read them: without the scatter over queries that are hidden."""
    found = rehearsal_told(user, benchmark, rehearsal)
    if not found:
        return {}
    release = release_of_version(benchmark, found.get("release", ""))
    is_clear = release is not None and sight_of(user, release).is_clear
    return found if is_clear else without_scatter(found)


def rates_told(user: Any, benchmark: Benchmark, rehearsal: dict[str, Any]) -> dict[str, Any]:
    """A rehearsal as pages show it; empty where there is none."""
    found = rehearsal_seen(user, benchmark, rehearsal)
    if not found:
        return {}
    return {
        "summary": summary_of(found),
        "columns": COLUMNS,
        "rows": table_of(found),
        "warnings": found["warnings"],
    }
