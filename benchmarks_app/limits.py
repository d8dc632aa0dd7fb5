"""How often something may be asked for, counted where nothing else pushes the counts out."""

from django.core.cache import caches
from django.utils.connection import ConnectionProxy

counts = ConnectionProxy(caches, "limits")
HOUR = 3600


def is_among_first(most: int, *, of: str) -> bool:
    """Count one more of these within the hour; whether there were at most so many."""
    counts.add(of, 0, HOUR)
    try:
        return bool(counts.incr(of) <= most)
    except ValueError:  # the hour ended in between
        return True
