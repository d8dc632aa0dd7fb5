"""The client of a Benchwright site: `Client`, what it answers, and what can go wrong."""

from benchwright.client.answers import (
    Benchmark,
    Leaderboard,
    Me,
    Phase,
    Problem,
    Pulled,
    Release,
    Submission,
)
from benchwright.client.client import Client, InsecureServerWarning
from benchwright.client.errors import ClientError, RefusedError
from benchwright.client.transport import Patience

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
