"""`manage.py submit_run SLUG FILE --user USER`: submit a run, and wait for its scores."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.collections.services.uploading import receive_path
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    progress_printer,
)
from benchmarks_app.models import Benchmark, Job, Run, Team, User
from benchmarks_app.permissions import Action, may
from benchwright.errors import BenchmarkError
from benchwright.runs.facts import IR_METADATA, checked
from benchwright.runs.metadata import read_metadata_text
from scoring.management.reporting import refuse_failed
from scoring.models import Submission
from scoring.scores.services.errors import NotInTeamError
from scoring.scores.shown import BOARD
from scoring.submissions.selectors.submissions import submission_rows
from scoring.submissions.services.submitting import phase_open_in, submit_here


class Command(BaseCommand):
    help = "Submit a run to an open phase of a benchmark, as one of its members."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument(
            "file", type=Path, help="TREC, three columns, JSON or Parquet; also .gz, .zst"
        )
        parser.add_argument("--name", help="name on the leaderboard; the file's where left out")
        parser.add_argument("--description", default="")
        parser.add_argument("--phase", type=int, help="its number, where several are open")
        parser.add_argument("--team", default="", help="a team of the person, by its name")
        parser.add_argument("--visibility", choices=Run.Visibility.values, default="benchmark")
        parser.add_argument(
            "--fact",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="what is said of the system, such as latency_ms=12.5; may be repeated",
        )
        parser.add_argument("--ir-metadata", type=Path, help="a YAML file in ir_metadata")

    def handle(self, *args: Any, slug: str, user: str | None, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        if not may(actor, Action.SUBMIT, benchmark):
            reason = f"'{actor.username}' may not submit to {slug}."
            raise CommandError(reason)
        try:
            submission, job = self._submit(benchmark, actor, options)
        except (BenchmarkError, OSError) as error:
            raise CommandError(str(error)) from error
        refuse_failed(job)
        self._tell(submission)

    def _submit(
        self, benchmark: Benchmark, user: User, options: dict[str, Any]
    ) -> tuple[Submission, Job]:
        phase = phase_open_in(benchmark, options["phase"])
        path: Path = options["file"]
        team, metadata = _team(user, options["team"]), _metadata(options)
        return submit_here(
            phase=phase,
            user=user,
            upload=receive_path(benchmark=benchmark, owner=user, path=path),
            name=options["name"] or path.name.removesuffix(".gz").removesuffix(".zst"),
            team=team,
            description=options["description"],
            metadata=metadata,
            visibility=options["visibility"],
            on_progress=progress_printer(self),
        )

    def _tell(self, submission: Submission) -> None:
        (row,) = submission_rows([submission])
        self.stdout.write(f"{submission.name} on release {submission.phase.release.version}")
        for shown in BOARD:
            mean = row.scores[shown.name]
            self.stdout.write(f"{shown.label}\t{'-' if mean is None else f'{mean:.4f}'}")


def _team(user: User, name: str) -> Team | None:
    if not name:
        return None
    team = user.teams.filter(name__iexact=name).first()
    if team is None:
        raise NotInTeamError(team=name)
    return team


def _metadata(options: dict[str, Any]) -> dict[str, Any]:
    """The facts that were named, and those of a file in ir_metadata."""
    given: dict[str, Any] = {}
    for fact in options["fact"]:
        name, sign, value = fact.partition("=")
        if not (sign and name.strip()):
            reason = f"--fact '{fact}' is not NAME=VALUE, such as latency_ms=12.5."
            raise CommandError(reason)
        given[name.strip()] = value.strip()
    path: Path | None = options["ir_metadata"]
    if path:
        given[IR_METADATA] = read_metadata_text(path.read_bytes(), file=path.name)
    return checked(given)
