"""Evidence whose numbers can be worked out on paper."""

from typing import Any

import numpy as np

from benchwright.gates.bounds import Method
from benchwright.gates.evidence import Arm, Evidence
from benchwright.gates.policy import GuardRails, Policy
from benchwright.gates.verdict import Decision, decide

T = Method("t")
BARE = GuardRails(measures=(), worst_share=1.0)
RAILS = ("R@100", "RR@10")


def spread(mean: float, n: int = 400, *, by: float = 0.1) -> np.ndarray:
    """Values around a mean: standard error `by` / sqrt(n - 1), as half are above and half below."""
    return mean + by * np.where(np.arange(n) % 2, 1.0, -1.0)


def arm(name: str, values: np.ndarray, *, judged: Any = 1.0, **more: Any) -> Arm:
    n = len(values)
    rails = more.pop("rails", dict.fromkeys(RAILS, np.full(n, 0.5)))
    shares = np.broadcast_to(np.asarray(judged, dtype=float), (n,))
    return Arm(
        name, {"nDCG@10": values, "Judged@10": shares, **rails}, more.pop("depth", 100), **more
    )


def evidence(
    differences: np.ndarray, *, judged: tuple[Any, Any] = (1.0, 1.0), **more: Any
) -> Evidence:
    """Of a candidate that differs so from a baseline that has 0.5 everywhere."""
    n = len(differences)
    of_candidate = {key: more.pop(key) for key in ("rails", "depth", "missing") if key in more}
    return Evidence(
        queries=[f"q{place}" for place in range(n)],
        baseline=arm("old", np.full(n, 0.5), judged=judged[0]),
        candidate=arm("new", 0.5 + differences, judged=judged[1], **of_candidate),
        **more,
    )


def policy(**fields: Any) -> Policy:
    return Policy(**{"guard_rails": BARE, **fields})


def decided(differences: np.ndarray, said: Policy, **more: Any) -> Decision:
    return decide(said, evidence(differences, **more), T)


def finding(decision: Decision, check: str, name: str) -> Any:
    return next(finding for finding in decision.checks[check].findings if finding.name == name)
