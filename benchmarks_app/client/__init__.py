"""The client of a Benchwright site: `Client`, what it answers, and what can go wrong."""

from benchmarks_app.client.answers import (
    Benchmark,
    Leaderboard,
    Me,
    Phase,
    Problem,
    Pulled,
    Release,
    Submission,
)
from benchmarks_app.client.client import Client, InsecureServerWarning
from benchmarks_app.client.errors import ClientError, RefusedError
from benchmarks_app.client.transport import Patience

__all__ = [
    "Benchmark",
    "Client",
    "ClientError",
    "InsecureServerWarning",
    "Leaderboard",
    "Me",
    "Patience",
    "Phase",
    "Problem",
    "Pulled",
    "RefusedError",
    "Release",
    "Submission",
]
