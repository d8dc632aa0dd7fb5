"""`gate --site`: the candidate is sent to a site, whose policy decides."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import click
from click.core import ParameterSource

from benchwright.ids import LONGEST_NAME

if TYPE_CHECKING:
    from benchwright.client import Client, Submission

LOCAL_ONLY = (
    *("goal", "lexical", "slices", "families", "top_grade", "ties", "unlisted", "answered"),
    *("parents", "aggregate", "test", "seed"),
)
UNDECIDED, NAME_TAKEN = "failed", "run-name-taken"


def decided(files: Sequence[Path], chosen: Mapping[str, Any]) -> dict[str, Any] | None:
    """The site's report on the candidate; None where its verdict is not waited for.

    Raises
    ------
    click.UsageError
        If a file too many is named, or an option that the site's policy decides.
    click.ClickException
        If the run is refused, or there is no verdict.
    ClientError
        If the site cannot be asked, or refuses.
    """
    run, slug, version = _checked(files, chosen)
    from benchwright.cli.sites.asking import Line, asked
    from benchwright.client.errors import WaitedTooLongError

    with asked(chosen["server"], needs_token=True) as client:
        with Line() as line:
            submission = _sent(client, slug, run, line)
        question = {
            "policy": chosen["policy"],
            "candidate": str(submission.run),
            "release": version,
        }
        try:
            gate = client.gate(slug, seconds=None if chosen["wait"] else 0, **question)
        except WaitedTooLongError:
            click.echo("Asked for; the verdict will be on the site.")
            return None
    if gate["verdict"] == UNDECIDED:
        text = f"There is no verdict: {gate['error']}"
        raise click.ClickException(text)
    # The path of a site stands in both.
    click.echo(urljoin(client.url, gate["url"]), err=True)
    return dict(gate["report"])


def _checked(files: Sequence[Path], chosen: Mapping[str, Any]) -> tuple[Path, str, str]:
    """The candidate, the benchmark's slug and the version of a release, or nothing."""
    wrong = ""
    source_of = click.get_current_context().get_parameter_source
    misfits = [name for name in LOCAL_ONLY if source_of(name) != ParameterSource.DEFAULT]
    if len(files) != 1:
        wrong = f"{len(files)} files are named; with --site expected one, the candidate."
    elif not chosen["benchmark"]:
        wrong = "--site needs --benchmark SLUG, or SLUG@VERSION."
    elif not chosen["policy"]:
        wrong = "--site needs --policy, the name of a policy there."
    elif misfits:
        option = misfits[0].replace("_", "-")
        wrong = f"--{option} is decided by the policy of the server. Leave it out."
    if wrong:
        raise click.UsageError(wrong)
    slug, _, version = chosen["benchmark"].partition("@")
    return files[0], slug, version


def _sent(client: "Client", slug: str, run: Path, line: Any) -> "Submission":
    """The candidate as a scored submission; the same bytes as before are not sent in again.

    Every build may call its file alike: where another run has the name, the beginning of the
    SHA-256 stands behind it.
    """
    from benchwright.client.errors import RefusedError
    from benchwright.files.sources import sha256_of

    def tell(done: int, total: int) -> None:
        line.bytes(f"Sending {run.name}", done, total)

    try:
        submission = client.submit(slug, run, tell=tell)
    except RefusedError as error:
        if error.answer_code != NAME_TAKEN:
            raise
        digest = sha256_of(run)[:8]
        name = f"{run.name[: LONGEST_NAME - len(digest) - 1]} {digest}"
        submission = client.submit(slug, run, name=name, tell=tell)
    if not submission.is_ended:
        submission = client.wait(slug, submission.id)
    if not submission.is_scored:
        problems = "\n".join(map(str, submission.said_problems)) or submission.state
        text = f"{run.name} was not scored.\n{problems}"
        raise click.ClickException(text)
    return submission
