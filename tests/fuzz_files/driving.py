"""Cases sent one by one, and what is watched: answers, jobs, processes, pages, memory, time."""

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz_files.cases import Case, honest_case
from tests.fuzz_files.doors import DOORS, Sender
from tests.fuzz_files.seeds import seeds
from tests.fuzz_files.sites import JobRow, Memory, Target

# Pages of a benchmark that have to open, whatever was sent to it.
PAGES = (
    *("", "queries/", "runs/", "qrels/", "jobs/", "import/", "corpus/", "families/", "slices/"),
    *("splits/", "releases/", "activity/", "leaderboard/", "leaderboard/reported/", "judgments/"),
    *("runs/submit/", "runs/submissions/", "contrastive/", "contextual/", "queries/log/"),
)
LONGEST_CASE = 60.0
# So many cases are sent before their jobs are waited for.
BATCH = 10
# A benchmark fills with what was imported, and its pages with it.
CASES_OF_A_BENCHMARK = 200
NOBODY_FORESAW = re.compile(r"^Unexpected (error|panic)|Traceback")
TRACE = re.compile(r'File "([^"]+)", line (\d+), in (\w+)')


@dataclass(frozen=True)
class Finding:
    """Something that must not be, with what is known of it."""

    case: str
    what: str
    detail: str = ""

    @property
    def signature(self) -> str:
        """What findings of one cause have in common."""
        ours = [
            f"{Path(p).name}:{n}" for p, n, _ in TRACE.findall(self.detail) if "/.venv/" not in p
        ]
        last = self.detail.strip().splitlines()[-1][:160] if self.detail.strip() else ""
        return f"{re.sub(r'[0-9]+', 'N', self.what)} | {ours[-1] if ours else ''} | {last}"


@dataclass
class Count:
    """What became of the cases of a kind."""

    files: int = 0
    refused: int = 0
    failed: int = 0
    imported: int = 0
    seconds: float = 0.0
    most_web: float = 0.0
    most_worker: float = 0.0


@dataclass
class Drive:
    """Sends cases to a target and keeps what it finds."""

    target: Target
    tell: Callable[[Finding, Case | None], None]
    counts: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    findings: list[Finding] = field(default_factory=list)
    last_job: int = 0
    n_benchmarks: int = 0
    web_at_start: float = 0.0
    web_at_end: float = 0.0
    sender: Sender | None = None
    batch: list[tuple[Case, bool]] = field(default_factory=list)
    n_sent: int = 0
    slowest: list[tuple[float, str]] = field(default_factory=list)
    alive: dict[str, int] = field(default_factory=dict)

    def warm_up(self, kinds: Iterable[str]) -> None:
        """Send each honest file both ways, so that all that is loaded once is loaded."""
        for way in range(2):
            self._begin_benchmark()  # the same bytes are imported into a benchmark once
            for kind in kinds:
                for n, seed in enumerate(seeds()[kind]):
                    self._send_honest(honest_case(seed, n + way * len(seeds()[kind])))
            self._open_pages()
        self.counts.clear()
        self.n_sent = 0
        self.alive = self.target.processes()
        self.web_at_start = self.target.memory().web

    def _send_honest(self, case: Case) -> None:
        is_taken = self._send(case)
        if not is_taken and is_taken_by_design(case):
            asked = [
                f"{answer.what}: {answer.status} {answer.text[:600]}"
                for answer in self.sender.asked
            ]
            self._find(case, "an honest file was refused", "\n".join(asked))
        self._end_batch()

    def run(self, cases: Iterable[Case]) -> None:
        for case in cases:
            if self.n_sent % CASES_OF_A_BENCHMARK == 0 and self.n_sent:
                self._end_batch()
                self._open_pages()
                self._begin_benchmark()
            self._send(case)
            if len(self.batch) >= BATCH:
                self._end_batch()
        self._end_batch()
        self._open_pages()
        self.web_at_end = self.target.memory().web

    def close(self) -> None:
        if self.sender:
            self.sender.close()

    def _begin_benchmark(self) -> None:
        self.close()
        self.n_benchmarks += 1
        self.sender = self.target.sender(f"fuzz-{self.n_benchmarks}")
        rows = self.target.ended_jobs(self.last_job)
        self.last_job = max([self.last_job, *(row.pk for row in rows)])

    def _send(self, case: Case) -> bool:
        sender = self.sender
        sender.asked.clear()
        started = time.monotonic()
        is_taken = DOORS[case.seed.door](sender, case)
        seconds = time.monotonic() - started
        self._count(case, is_taken=is_taken, seconds=seconds, memory=self.target.memory())
        traces = ""
        for asked in sender.asked:
            if asked.status >= 500 or asked.status == 404:
                traces = traces or self.target.traces()
                self._find(case, f"{asked.status} at {asked.what}", traces or asked.text)
        self.slowest = sorted([*self.slowest, (seconds, case.name)], reverse=True)[:10]
        if seconds > LONGEST_CASE:
            self._find(case, f"took {seconds:.0f} s")
        self.batch.append((case, is_taken))
        self.n_sent += 1
        return is_taken

    def _count(self, case: Case, *, is_taken: bool, seconds: float, memory: Memory) -> None:
        count = self.counts[case.kind]
        count.files += 1
        count.refused += not is_taken
        count.imported += is_taken
        count.seconds += seconds
        count.most_web = max(count.most_web, memory.most_web)
        count.most_worker = max(count.most_worker, memory.most_worker)

    def _end_batch(self) -> None:
        """Wait for the jobs of what was sent, look at each, and at who is alive."""
        if not self.batch:
            return
        kinds = {case.file: case for case, _ in self.batch}
        last = self.batch[-1][0]
        try:
            rows = self.target.ended_jobs(self.last_job)
        except AssertionError as error:
            names = ", ".join(case.name for case, _ in self.batch)
            self._find(last, f"jobs of {names} did not end", str(error))
            rows = []
        traces = self.target.traces()
        for row in rows:
            case = next((case for file, case in kinds.items() if file in row.title), None)
            self._look_at_job(row, case or last, traces)
        self.last_job = max([self.last_job, *(row.pk for row in rows)])
        self._look_at_processes(last)
        answer = self.sender.see(f"/b/{self.sender.slug}/import/")
        if answer.status_code != 200:
            self._find(
                last, f"{answer.status_code}: the import page is broken", self.target.traces()
            )
        self._discard_proposed(last)
        self.batch.clear()

    def _discard_proposed(self, case: Case) -> None:
        """A corpus that somebody has to decide on keeps the next one out."""
        answer = self.sender.see(f"/b/{self.sender.slug}/corpus/")
        if answer.status_code != 200:
            self._find(
                case, f"{answer.status_code} at the page of the corpus", self.target.traces()
            )
        for number in set(re.findall(r"/corpus/versions/(\d+)/", answer.text)):
            self.sender.see(f"/b/{self.sender.slug}/corpus/versions/{number}/")
            self.sender.submit(f"corpus/versions/{number}/discard/", {})

    def _look_at_job(self, row: JobRow, case: Case, traces: str) -> None:
        if row.state == "failed":
            if not case.mutators and is_taken_by_design(case):
                self._find(case, f"an honest file failed: {row.error}", row.problems)
            count = self.counts[case.kind]
            count.failed += 1
            count.imported -= 1
        if NOBODY_FORESAW.search(row.error):
            self._find(case, f"job {row.kind}: {row.error}", traces)
        elif row.state == "failed" and not row.error and row.problems in ("", "[]"):
            self._find(case, f"job {row.kind} failed without a word")
        if row.attempt > 1:
            self._find(case, f"job {row.kind} took {row.attempt} attempts: {row.error}", traces)
        answer = self.sender.see(f"/jobs/{row.pk}/")
        if answer.status_code != 200:
            self._find(case, f"{answer.status_code} at the page of its job", self.target.traces())

    def _look_at_processes(self, case: Case) -> None:
        alive = self.target.processes()
        if self.alive and alive != self.alive:
            lost = sorted(set(self.alive.items()) ^ set(alive.items()))
            self._find(case, "a process was lost", str(lost))
            self.alive = alive

    def _open_pages(self) -> None:
        for page in PAGES:
            answer = self.sender.see(f"/b/{self.sender.slug}/{page}")
            if answer.status_code != 200:
                self._find(None, f"{answer.status_code} at /{page}", self.target.traces())

    def _find(self, case: Case | None, what: str, detail: str = "") -> None:
        finding = Finding(case.name if case else "afterwards", what, detail)
        self.findings.append(finding)
        self.tell(finding, case)


def is_taken_by_design(case: Case) -> bool:
    """Whether the honest file is of a form that this door takes."""
    is_image = case.kind in ("png", "jpeg", "webp", "gif")
    if case.kind in ("arrow", "svg"):
        return False
    if case.seed.purpose == "pairs without grades":
        return False
    return not (case.seed.door == "import" and (is_image or case.kind in ("npy", "npz", "json")))
