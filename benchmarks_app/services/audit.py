"""Writing down who did what."""

from typing import Any

from benchmarks_app.models import AuditEvent, Benchmark, User


def record(
    *,
    actor: User | None,
    action: str,
    benchmark: Benchmark | None = None,
    target: str = "",
    **detail: Any,
) -> AuditEvent:
    """Append one event; inside the caller's transaction, so it is there if the change is."""
    return AuditEvent.objects.create(
        actor=actor, benchmark=benchmark, action=action, target=str(target)[:200], detail=detail
    )
