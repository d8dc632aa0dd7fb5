"""`manage.py submit_run SLUG FILE --user USER`: submit a run, and wait for its scores."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.declared import refuse_failed
from benchmarks_app.management.importing import ImportCommand
from benchmarks_app.models import Run, Team, User
from benchmarks_app.permissions import Action, may
from benchwright.recipes.arguments import option, unless_told, word
from benchwright.runs.facts import IR_METADATA, checked
from benchwright.runs.metadata import read_metadata_text
from scoring.models import Submission
from scoring.scores.services.errors import NotInTeamError
from scoring.scores.shown import BOARD
from scoring.submissions.selectors.submissions import submission_rows
from scoring.submissions.services.submitting import phase_open_in, submit_here


class Command(ImportCommand):
    help = "Submit a run to an open phase of a benchmark, as one of its members."
    takes = (
        word("file", "TREC, three columns, JSON or Parquet; also .gz, .zst", kind=Path),
        unless_told("--name", help="name on the leaderboard; the file's where left out"),
        option("--description"),
        unless_told("--phase", kind=int, help="its number, where several are open"),
        option("--team", help="a team of the person, by its name"),
        option("--visibility", choices=Run.Visibility.values, default="benchmark"),
        option(
            "--fact",
            is_repeated=True,
            default=[],
            metavar="NAME=VALUE",
            help="what is said of the system, such as latency_ms=12.5; may be repeated",
        ),
        unless_told("--ir-metadata", kind=Path, help="a YAML file in ir_metadata"),
    )

    def run(self, *, file: Path, **options: Any) -> None:
        actor = self.actor
        if not may(actor, Action.SUBMIT, self.benchmark):
            raise CommandError(f"'{actor.username}' may not submit to {self.benchmark.slug}.")
        try:
            submission, job = submit_here(
                phase=phase_open_in(self.benchmark, options["phase"]),
                user=actor,
                team=_team(actor, options["team"]),
                metadata=_metadata(options),
                upload=self.upload(file),
                name=options["name"] or file.name.removesuffix(".gz").removesuffix(".zst"),
                description=options["description"],
                visibility=options["visibility"],
                on_progress=self.progress,
            )
        except OSError as error:
            raise CommandError(str(error)) from error
        refuse_failed(job)
        self._tell(submission)

    def _tell(self, submission: Submission) -> None:
        (row,) = submission_rows([submission])
        self.say(f"{submission.name} on release {submission.phase.release.version}")
        for measure in BOARD:
            mean = row.scores[measure.name]
            self.say(f"{measure.label}\t{'-' if mean is None else f'{mean:.4f}'}")


def _team(user: User, name: str) -> Team | None:
    if not name:
        return None
    team = user.teams.filter(name__iexact=name).first()
    if team is None:
        raise NotInTeamError(team=name)
    return team


def _metadata(options: dict[str, Any]) -> dict[str, Any]:
    """The facts that were named, and those of a file in ir_metadata."""
    facts: dict[str, Any] = {}
    for fact in options["fact"]:
        name, sign, value = fact.partition("=")
        if not (sign and name.strip()):
            raise CommandError(f"--fact '{fact}' is not NAME=VALUE, such as latency_ms=12.5.")
        facts[name.strip()] = value.strip()
    path: Path | None = options["ir_metadata"]
    if path:
        facts[IR_METADATA] = read_metadata_text(path.read_bytes(), file=path.name)
    return checked(facts)
