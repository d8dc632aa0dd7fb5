"""What files are sent to: a site of processes, or one inside this process, which is quicker."""

import io
import logging
import os
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import httpx

from tests.fuzz_files.doors import Sender
from tests.system.site import Site

UNLIMITED = dict.fromkeys(
    (
        *("API_REQUESTS_PER_MINUTE", "API_UPLOADS_PER_MINUTE", "API_COMPUTATIONS_PER_MINUTE"),
        *("API_ANONYMOUS_PER_MINUTE", "SUBMISSIONS_PER_DAY"),
    ),
    "1000000000",
)
OF_TESTS = {
    "DJANGO_SETTINGS_MODULE": "benchmarks_app.settings",
    "SECRET_KEY": "only-for-tests-0123456789-abcdefghijklmnopqrstuvwxyz",
}
# No answer of a site that works takes so long.
LONGEST_SECONDS = 90.0
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class JobRow:
    """A job as it ended."""

    pk: int
    kind: str
    state: str
    attempt: int
    error: str
    title: str
    problems: str


@dataclass(frozen=True)
class Memory:
    """Megabytes of the web processes and of the workers' tree: now, and at most since last time."""

    web: float
    most_web: float
    most_worker: float


class Target(Protocol):
    """What cases are sent to."""

    def sender(self, slug: str) -> Sender: ...
    def ended_jobs(self, after: int) -> list[JobRow]: ...
    def traces(self) -> str: ...
    def memory(self) -> Memory: ...
    def processes(self) -> dict[str, int]: ...


JOBS = (
    "SELECT id, kind, state, attempt, error, title, problems"
    " FROM benchmarks_app_job WHERE id > ? ORDER BY id"
)


@dataclass
class RunningSite:
    """A site of processes, with a worker and a sweeper."""

    site: Site
    seen: dict[str, int] = field(default_factory=dict)

    def sender(self, slug: str) -> Sender:
        token = self.site.call("make_fuzzed", slug=slug)
        common: dict[str, Any] = {
            "base_url": self.site.url,
            "timeout": LONGEST_SECONDS,
            "follow_redirects": True,
            "trust_env": False,
        }
        by_script = httpx.Client(**common, headers={"Authorization": f"Bearer {token}"})
        made = Sender(httpx.Client(**common), by_script, slug)
        made.sign_in()
        return made

    def ended_jobs(self, after: int) -> list[JobRow]:
        """The jobs that began after that one, once all have ended."""

        def rows() -> list[JobRow]:
            return [JobRow(*row[:6], str(row[6])) for row in self.site.rows(JOBS, after)]

        self.site.wait_for(
            lambda: all(row.state in ("done", "failed", "cancelled") for row in rows()),
            "the jobs to end",
            seconds=4 * LONGEST_SECONDS,
            pause=0.1,
        )
        return rows()

    def traces(self) -> str:
        """What the processes have logged of errors since last time."""
        results = []
        for name in self.site.processes:
            log = self.site.log(name)
            new = log[self.seen.get(name, 0) :]
            self.seen[name] = len(log)
            if "Traceback" in new or "panicked" in new or "ERROR" in new or "Error" in new:
                results.append(f"--- {name}\n{new[-20_000:]}")
        return "\n".join(results)

    def processes(self) -> dict[str, int]:
        """The processes that must not be lost, by what they are."""
        results: dict[str, int] = {}
        for name, process in self.site.processes.items():
            if process.poll() is None:
                for n, pid in enumerate(_own(process.pid)):
                    results[f"{name} {n}"] = pid
        return results

    def memory(self) -> Memory:
        web = _own(self.site.processes["web"].pid)
        worker = _tree(self.site.processes["worker"].pid)
        result = Memory(
            web=sum(_status(pid, "VmRSS") for pid in web),
            most_web=sum(_status(pid, "VmHWM") for pid in web),
            most_worker=max((_status(pid, "VmHWM") for pid in worker), default=0),
        )
        for pid in (*web, *worker):
            _forget_peak(pid)
        return result


def _children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _tree(pid: int) -> list[int]:
    return [pid, *(below for child in _children(pid) for below in _tree(child))]


def _own(pid: int) -> list[int]:
    """A process and those below it that run the same program: its workers, and no readers."""
    program = _command(pid)
    return [child for child in _tree(pid) if _command(child) == program]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _status(pid: int, name: str) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name)), 0.0)


def _forget_peak(pid: int) -> None:
    try:
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    except OSError:
        return


@contextmanager
def running_site(folder: Path, broker: str) -> Iterator[RunningSite]:
    os.environ |= {**OF_TESTS, "BENCHWRIGHT_DATA": str(folder)}  # the commands name a setting
    with Site(folder, broker=broker) as site:
        site.env |= UNLIMITED
        for kind in ("web", "worker", "sweeper"):
            site.start(kind)
        yield RunningSite(site)


# --- inside this process ---------------------------------------------------------------------


@dataclass
class SiteInside:
    """A site whose pages and jobs are done by this process; a case that ends it ends the run."""

    log: io.StringIO

    def sender(self, slug: str) -> Sender:
        from django.core.wsgi import get_wsgi_application

        from tests.fuzz_files.making import make_fuzzed

        token = make_fuzzed(slug)
        transport = httpx.WSGITransport(app=_told(get_wsgi_application(), self.log))
        common: dict[str, Any] = {
            "transport": transport,
            "base_url": "http://127.0.0.1",
            "follow_redirects": True,
        }
        by_script = httpx.Client(**common, headers={"Authorization": f"Bearer {token}"})
        made = Sender(httpx.Client(**common), by_script, slug)
        made.sign_in()
        return made

    def ended_jobs(self, after: int) -> list[JobRow]:
        from benchmarks_app.jobs.services import jobs
        from benchmarks_app.models import Job

        try:
            jobs.run_queued()
        except BaseException:  # noqa: BLE001 - a worker is lost by what is no Exception
            self.log.write(traceback.format_exc())
            Job.objects.filter(state="running").update(state="failed", error="Unexpected panic")
        names = ("pk", "kind", "state", "attempt", "error", "title", "problems")
        rows = Job.objects.filter(pk__gt=after).order_by("pk").values_list(*names)
        return [JobRow(*row[:6], str(row[6])) for row in rows]

    def traces(self) -> str:
        text = self.log.getvalue()
        self.log.seek(0)
        self.log.truncate()
        return text

    def processes(self) -> dict[str, int]:
        return {"this": os.getpid()}

    def memory(self) -> Memory:
        result = Memory(_status(os.getpid(), "VmRSS"), _status(os.getpid(), "VmHWM"), 0)
        _forget_peak(os.getpid())
        return result


def _told(app: Any, log: io.StringIO) -> Any:
    """The application; what is no Exception is an answer of 500, as a server makes of it."""

    def asked(environ: Any, start_response: Any) -> Any:
        try:
            return app(environ, start_response)
        except BaseException:  # noqa: BLE001 - PanicException is no Exception
            log.write(traceback.format_exc())
            start_response("500 Panic", [])
            return [b"panic"]

    return asked


@contextmanager
def site_inside() -> Iterator[SiteInside]:
    import django
    from django.core.management import call_command

    with tempfile.TemporaryDirectory(prefix="benchwright-fuzz-") as folder:
        os.environ |= {**UNLIMITED, **OF_TESTS, "BENCHWRIGHT_DATA": folder}
        django.setup()
        call_command("migrate", verbosity=0)
        from benchmarks_app.jobs.services import jobs

        jobs.send = lambda job: None  # type: ignore[assignment]
        log = io.StringIO()
        logging.getLogger().addHandler(logging.StreamHandler(log))
        for name in ("django", "django.request", "benchmarks_app", "scoring", "annotation"):
            logging.getLogger(name).handlers = [logging.StreamHandler(log)]
            logging.getLogger(name).propagate = False
        yield SiteInside(log)
