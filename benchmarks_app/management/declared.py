"""What every admin command is made of: it declares what it takes, and says what it did."""

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.naming import actor_of, benchmark_of
from benchmarks_app.management.parameters import add_declared
from benchmarks_app.models import Benchmark, Job, User
from benchwright.errors import BenchmarkError
from benchwright.recipes.arguments import Argument, Declared, option, switch, unless_told, word

BENCHMARK = word("slug", "short name of the benchmark")
USER = unless_told("--user", help="who does it; by default an owner of the benchmark")
FORM = (
    option("--format", help="how it ended is said", choices=("text", "json"), default="text"),
    switch("--json", help="the same as --format json"),
)

REPLACED = {
    "agreement": "agreement",
    "ask_system": "ask SYSTEM",
    "build_pool": "pool",
    "check_contamination": "contamination new FILE",
    "create_benchmark": "create SLUG",
    "delete_qrels": "qrels remove NAME",
    "derive_document_qrels": "qrels by-document NAME",
    "draw_queries": "draws new -n N",
    "estimate_runs": "estimate POOL",
    "export_judgments": "export judgments",
    "export_release": "pull",
    "fetch_collection": "corpus fetch NAME",
    "grade_clicks": "clicks LOG",
    "group_queries": "families",
    "import_beir": "import FILE",
    "import_cases": "contextual CASES",
    "import_file": "import FILE",
    "import_judgments": "label FILE",
    "import_known_grades": "pools know POOL FILE",
    "import_log": "sample LOG --dry-run",
    "import_reported": "reported new FILE",
    "import_run": "import FILE",
    "import_slices": "import FILE --kind slices",
    "import_trec": "import FILE",
    "invite": "invite",
    "judge_cases": "contextual SET --judge NAME",
    "judge_pool": "judge POOL --judge NAME",
    "leaderboard": "leaderboard",
    "make_baselines": "retrieve",
    "make_cases": "contextual NAME --of-run RUN",
    "make_slice": "slice NAME",
    "map_qrels": "qrels map NAME",
    "publish_qrels": "publish NAME",
    "publish_release": "release QRELS",
    "register_slice": "slice NAME --register",
    "sample_queries": "sample LOG",
    "score_runs": "score",
    "spare_work": "pools spare POOL CAMPAIGN",
    "split_queries": "split",
    "submit_run": "submit RUN",
    "switch_ladder": "phases change NAME --ladder",
    "take_snapshot": "corpus decide NUMBER take",
}
"""What does the same through the API, with a person's token; the others operate a server."""


def is_json(options: dict[str, Any]) -> bool:
    """Whether one of FORM asks for the result as JSON."""
    return options["json"] or options["format"] == "json"


def replacement(name: str) -> str:
    """What is to be called in place of a command; empty where it stays."""
    words = REPLACED.get(name, "")
    return f"benchwright --site URL --benchmark SLUG {words}" if words else ""


class DeclaredCommand(BaseCommand):
    """A command that `takes` what it declares.

    A refusal of the library's or the system's, such as of a folder or a full disk, ends it in a
    sentence.
    """

    takes: ClassVar[Sequence[Declared]] = ()

    def create_parser(self, prog_name: str, subcommand: str, **settings: Any) -> CommandParser:
        if instead := replacement(subcommand):
            settings["epilog"] = f"Replaced, from any machine and with a token, by: {instead}"
        return super().create_parser(prog_name, subcommand, **settings)

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add_declared(parser, self.takes)

    def execute(self, *args: Any, **options: Any) -> str | None:
        name = type(self).__module__.rpartition(".")[2]
        # Only a person who types it is told; code that calls it is not.
        if getattr(self, "_called_from_command_line", False) and (instead := replacement(name)):
            self.note(f"{name} is replaced by `{instead}`; it stays for this version.")
        try:
            return super().execute(*args, **options)
        except (BenchmarkError, OSError) as error:
            raise CommandError(str(error)) from error

    def say(self, text: str) -> None:
        self.stdout.write(text)

    def say_done(self, text: str) -> None:
        self.stdout.write(self.style.SUCCESS(text))

    def say_ended(self, text: str, *, is_broken: bool) -> None:
        """How a check ended."""
        self.stdout.write((self.style.ERROR if is_broken else self.style.SUCCESS)(text))

    def say_wrong(self, text: str) -> None:
        self.stdout.write(self.style.ERROR(text))

    def warn(self, text: str) -> None:
        self.stdout.write(self.style.WARNING(text))

    def say_json(self, result: Any) -> None:
        self.stdout.write(json.dumps(result, indent=2, ensure_ascii=False))

    def note(self, text: str) -> None:
        """What is said beside the result: on standard error."""
        self.stderr.write(text)

    @property
    def progress(self) -> Any:
        """A callback that rewrites one line on a terminal, and is silent elsewhere."""

        def tell(done: int, total: int, message: str) -> None:
            share = f"{100 * done // total:3d} % " if total else ""
            self.stderr.write(f"\r{share}{message:<60}", ending="")
            self.stderr.flush()

        return tell if self.stderr.isatty() else None


class BenchmarkCommand(DeclaredCommand):
    """A command about a benchmark, which is its first word; `run` is told what else it takes."""

    first: ClassVar[Sequence[Argument]] = (BENCHMARK, USER)

    def add_arguments(self, parser: CommandParser) -> None:
        add_declared(parser, (*self.first, *self.takes))

    def handle(self, *args: Any, slug: str, user: str | None = None, **options: Any) -> None:
        self.benchmark: Benchmark = benchmark_of(slug)
        self.username = user
        self.run(**options)

    def run(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError

    @property
    def actor(self) -> User:
        """Who does it."""
        return actor_of(self.benchmark, self.username)

    def job(self, arguments: dict[str, Any]) -> Job:
        """A job that was done in this process, with its progress on a terminal."""
        return jobs.run_here(
            benchmark=self.benchmark, user=self.actor, on_progress=self.progress, **arguments
        )

    def finished(self, arguments: dict[str, Any]) -> Job:
        """A job that was done and has not failed; what it made is printed."""
        return self.told(self.job(arguments))

    def told(self, job: Job) -> Job:
        """Print how a job ended; a failed one ends the command with its problems."""
        refuse_failed(job)
        for note in job.result.get("notes", []):
            self.note(f"note: {note}")
        self.say_made(job, "imported ")
        return job

    def say_made(self, job: Job, did: str = "made ") -> None:
        for line in job.result.get("made", []):
            self.say_done(f"{did}{line}")


def refuse_failed(job: Job) -> None:
    """End the command with what went wrong, if anything did."""
    if not job.is_finished:
        raise CommandError(
            f"Job {job.pk} was not finished here ({job.message or job.get_state_display()}): a "
            "worker of the site goes on with it, once one runs, and its page tells how it ends."
        )
    if job.state != Job.State.DONE:
        raise CommandError("\n".join([job.error, *map(_told, job.problems)]))


def _told(problem: dict[str, Any]) -> str:
    place = f"{problem['file']}:{problem['line']}" if problem["line"] else problem["file"]
    return f"{place}: {problem['text']}"
