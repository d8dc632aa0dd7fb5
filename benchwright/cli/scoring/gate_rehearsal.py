"""`gate --rehearse`: a policy's own error rates on runs that are there, kept beside its file."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.progress import told

if TYPE_CHECKING:
    from benchwright.gates.policy import Policy

FEWEST = 3
DECIDED_LATER = ("reports", "benchmark", "server")


def rehearse(files: Sequence[Path], chosen: Mapping[str, Any], *, read: Any) -> None:
    """Print the rates, and keep them where there is a policy's file; `read` scores the runs.

    Raises
    ------
    click.UsageError
        If runs are missing, or an option is given that is of a verdict.
    ScoringError
        If a file is not what it must be, or too many runs are named.
    """
    from benchwright.cli.scoring.gate_output import print_rehearsal
    from benchwright.gates.evidence import Process
    from benchwright.gates.from_files import evidence_of
    from benchwright.gates.rehearsal.rehearsing import rehearsed

    _check(files, chosen)
    qrels, baseline, *others = files
    lexical = [chosen["lexical"]] if chosen["lexical"] else []
    policy, scorer, cards = read(qrels, [baseline, *others, *lexical], chosen)
    last = cards[len(others) + 1 :]
    pairs = [
        evidence_of(scorer, policy, [cards[0], card, *last], process=Process())
        for card in cards[1 : len(others) + 1]
    ]
    with told("Rehearsing"):
        facts = rehearsed(policy, pairs, seed=chosen["seed"])
    facts["files"] = {path.name: _sha256(path) for path in others}
    print_rehearsal(facts)
    if chosen["policy"]:
        place = place_of(chosen["policy"])
        place.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        click.echo(f"Kept in {place}: every verdict by this policy shows it.", err=True)


def _check(files: Sequence[Path], chosen: Mapping[str, Any]) -> None:
    wrong = [name for name in DECIDED_LATER if chosen[name]]
    if wrong:
        option = wrong[0].removesuffix("s") if wrong[0] == "reports" else wrong[0]
        text = f"--{option} is of a verdict; --rehearse makes none. Leave one of the two out."
        raise click.UsageError(text)
    if len(files) < FEWEST:
        text = (
            f"{len(files)} files are named; --rehearse expects QRELS BASELINE RUN, and up to nine "
            "more runs. Name runs that are there already, never the candidate."
        )
        raise click.UsageError(text)


def place_of(policy: str) -> Path:
    """Where the rehearsal of a policy's file is kept."""
    return Path(policy).with_suffix(".rehearsal.json")


def rehearsal_beside(policy: "Policy", chosen: Mapping[str, Any]) -> dict[str, Any] | None:
    """The rehearsal of this very policy, if one is kept; of another one only a word is said.

    Raises
    ------
    RehearsalFileError
        If the file is none.
    """
    from benchwright.gates.errors import RehearsalFileError
    from benchwright.gates.rehearsal.rehearsing import summary_of, table_of

    place = place_of(chosen["policy"]) if chosen["policy"] else None
    if place is None or not place.is_file():
        return None
    try:
        facts = json.loads(place.read_bytes())
        digest = facts["policy_sha256"]
        # Whatever is shown of it later has to be there.
        _ = facts["files"].values(), facts["warnings"], summary_of(facts), table_of(facts)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise RehearsalFileError(file=place.name, reason=f"it cannot be read ({error})") from error
    if digest != policy.digest:
        click.echo(f"{place.name} is of another policy and is not shown.", err=True)
        return None
    return dict(facts)


def was_rehearsed(rehearsal: Mapping[str, Any] | None, candidate: Path) -> bool:
    """Whether the candidate is one of the runs that the policy was rehearsed with."""
    return rehearsal is not None and _sha256(candidate) in rehearsal["files"].values()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
