"""What the page of a rule draws: its bounds beside what is allowed."""

from annotation.campaigns.drawing import Forest, ForestRow, forest_of
from annotation.sparing.selectors import Sparing


def bounds_forest(sparing: Sparing) -> Forest | None:
    """Share of relevant documents, up to its bound; None before any is judged."""
    counts = [("Audit", sparing.audit.n_audited, sparing.audit.n_relevant, sparing.audit.bound)]
    if sparing.running:
        last = sparing.running.last
        counts.append(("Last checks", len(last), sum(last), sparing.running.bound))
    most = sparing.rule.most_missed
    rows = [
        ForestRow(
            label, n, n_relevant / n, 0.0, bound, "", is_faint=False, is_off=bound > most, digits=3
        )
        for label, n, n_relevant, bound in counts
        if n
    ]
    return forest_of(rows, mark=most) if rows else None
