"""What one person may be told of a gate's result, and of rehearsals.

What was decided on hidden queries is told to keepers alone: `selectors.gates` finds nothing else.
"""

from typing import Any

from benchmarks_app.models import Benchmark
from benchwright.gates.rehearsal.rehearsing import COLUMNS, summary_of, table_of
from scoring.gates.selectors import rehearsal_told
from scoring.models import GateResult
from scoring.scores.selectors.releases import release_of_version
from scoring.scores.services.firewall import sight_of, sight_written_down


def told(gate: GateResult, user: Any) -> dict[str, Any]:
    """The result; empty while undecided. A keeper's look at hidden queries is written down."""
    if not gate.report:
        return {}
    if not gate.is_public:
        sight_written_down(user, gate.release, f"gate {gate.pk}")
    rehearsal = rehearsal_seen(user, gate.policy.benchmark, gate.policy.rehearsal)
    return {**gate.report, "rehearsal": rehearsal}


def rehearsal_seen(user: Any, benchmark: Benchmark, rehearsal: dict[str, Any]) -> dict[str, Any]:
    """Rates as this person may read them; empty where they rest on queries hidden from them."""
    rates = rehearsal_told(user, benchmark, rehearsal)
    if not rates or rates.get("is_public"):
        return rates
    release = release_of_version(benchmark, rates.get("release", ""))
    is_clear = release is not None and sight_of(user, release).is_clear
    return rates if is_clear else {}


def rates_told(user: Any, benchmark: Benchmark, rehearsal: dict[str, Any]) -> dict[str, Any]:
    """A rehearsal as pages show it; empty where there is none."""
    rates = rehearsal_seen(user, benchmark, rehearsal)
    if not rates:
        return {}
    return {
        "summary": summary_of(rates),
        "columns": COLUMNS,
        "rows": table_of(rates),
        "warnings": rates["warnings"],
    }
