"""Tests of one mutant in a process that was forked where everything but our code is imported.

Starting Python, pytest and Django anew takes seconds, and there are thousands of mutants.
"""

import importlib.abc
import importlib.util
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.mutants.making import Mutant

KILLED, SURVIVED, LATE = "killed", "survived", "late"
OPTIONS = (
    "-q",
    "-x",
    "--nomigrations",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-p",
    "no:schemathesis",
)
OPTIONS = (*OPTIONS, "--assert=plain", "-m", "not slow and not data")
OPTIONS = (*OPTIONS, "--hypothesis-seed=0", "--hypothesis-profile=mutants")
# Of a module named for its examples, `Tests` and `tests_of` are no tests.
OPTIONS = (*OPTIONS, "-o", "python_classes=", "-o", "python_functions=test_*")
# One example that fails is enough, whatever others found; and time is what `Running` looks after.
settings.register_profile(
    "mutants",
    phases=(Phase.explicit, Phase.generate),
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow,),
)
# Seconds of the clock for each of the processor.
WAITING = 20


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the mutant for its module; the file stays as it is."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name, path, target=None):
        if name != self.mutant.module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        spec.loader, spec.cached = self, None
        return spec

    def exec_module(self, module) -> None:
        exec(compile(self.mutant.source, module.__spec__.origin, "exec"), module.__dict__)


class Running:
    """A process at the tests of one mutant, or of none, for so many seconds of processor time.

    A busy machine makes no mutant late; one that waits for ever is ended in the end.
    """

    def __init__(self, mutant: Mutant | None, tests: Sequence[str], seconds: int) -> None:
        self.mutant, self.began, self.seconds = mutant, time.monotonic(), seconds
        self.spent = 0.0
        self.process = os.fork()
        if not self.process:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
            os._exit(_tested(mutant, tests))

    def result(self) -> str | None:
        """Told once the process has ended, or has taken longer than it may and was ended."""
        done, status, usage = os.wait4(self.process, os.WNOHANG)
        if done:
            self.spent = usage.ru_utime + usage.ru_stime
            if not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
                return KILLED if status else SURVIVED
        elif time.monotonic() - self.began < WAITING * self.seconds:
            return None
        with suppress(ProcessLookupError):  # what it has started, and itself
            os.killpg(self.process, signal.SIGKILL)
        if not done:
            os.waitpid(self.process, 0)
        return LATE


def _tested(mutant: Mutant | None, tests: Sequence[str]) -> int:
    os.setsid()
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        for stream in (1, 2):
            os.dup2(nothing.fileno(), stream)
    if mutant is not None:
        sys.meta_path.insert(0, _Finder(mutant))
    try:
        return int(pytest.main([*OPTIONS, *tests]))
    except BaseException:  # noqa: BLE001 of a mutant anything can come
        return 1
