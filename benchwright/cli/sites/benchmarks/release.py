"""`benchwright release`: a set of qrels of a site becomes a release of its benchmark."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from benchwright.cli.main import option
from benchwright.cli.parameters import text_of
from benchwright.cli.sites.asking import Asked, Line, SiteCommand, sent

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
# A check of the largest benchmark takes minutes.
LONGEST_CHECK = 3600.0
EXAMPLES = (
    "benchwright --benchmark help-pages release november --dry-run",
    "benchwright --benchmark help-pages release november --release 1.0.0 --licence CC-BY-4.0",
)


@click.command(
    cls=SiteCommand,
    name="release",
    examples=EXAMPLES,
    short_help="Release a set of qrels of a benchmark of a site.",
)
@click.argument("qrels")
@option(
    "--release",
    "version",
    metavar="VERSION",
    group="Release",
    help="Such as 1.0.0; by default it follows from what changed.",
)
@option("--notes", metavar="TEXT", group="Release", help="What is new, for the changelog.")
@option(
    "--card",
    "description",
    type=FILE,
    metavar="FILE",
    group="Release",
    help="Markdown: the card's own text.",
)
@option("--licence", metavar="NAME", group="Release", help="Such as CC-BY-4.0.")
@option("--citation", type=FILE, metavar="FILE", group="Release", help="BibTeX.")
@option(
    "--rel",
    "threshold",
    type=int,
    metavar="GRADE",
    group="Contents",
    help="The lowest grade that is relevant.",
)
@option(
    "--drop-all-zero",
    is_flag=True,
    group="Contents",
    help="Leave out queries without a grade above 0.",
)
@option(
    "--withhold-texts", is_flag=True, group="Contents", help="Give out ids and hashes, no texts."
)
@option(
    "--without",
    "left_out",
    multiple=True,
    metavar="FORMAT",
    group="Contents",
    help="A format that it is not given in; may be repeated.",
)
@option(
    *("-m", "--measure"),
    "measures",
    multiple=True,
    metavar="NAME",
    group="Contents",
    help="A measure whose means all see of hidden splits; may be repeated.",
)
@option(
    "--machine-labels",
    multiple=True,
    metavar="NAME",
    group="Contents",
    help="A set of a machine's grades to lie beside these; may be repeated.",
)
@option("--strict", is_flag=True, group="Outcome", help="Publish nothing where there is a warning.")
@option(
    "--dry-run", is_flag=True, group="Outcome", help="Say what was found, and leave nothing behind."
)
@option("--draft", "is_draft", is_flag=True, group="Outcome", help="Leave it as a draft.")
def command(
    asked: Asked,
    qrels: str,
    strict: bool,
    dry_run: bool,
    is_draft: bool,
    **chosen: Any,
) -> None:
    """Release the set QRELS: it is drafted, looked over, and published.

    What the site finds is said on standard error. Errors keep it from being published, as warnings
    do with --strict; then the draft is thrown away and the command ends with 1.
    """
    asked.check([qrels], asked.names("qrels/"), "set of qrels")
    draft = _checked(asked, {"qrels": qrels, **_body(chosen)})
    findings: Sequence[Mapping[str, Any]] = draft["findings"]
    for line in _found(findings):
        click.echo(line, err=True)
    address = f"releases/drafts/{draft['id']}/"
    is_refused = any(finding["severity"] == "error" for finding in findings) or (
        strict and findings
    )
    if dry_run or (is_refused and not is_draft):
        asked.ask("DELETE", address)
        if not dry_run:
            text = f"{draft['version']} was not published. Mend what was found and run it again."
            raise click.ClickException(text)
    if dry_run or is_draft:
        state = "would be" if dry_run else "is drafted as"
        asked.say(draft, [f"{asked.slug} {state} {draft['version']}"])
        return
    accepted = sorted({finding["code"] for finding in findings})
    asked.done(asked.ask("POST", f"{address}publish/", json={"accepted": accepted}))
    facts = asked.client.release(f"{asked.slug}@{draft['version']}").facts
    asked.say(facts, [f"released {asked.slug} {draft['version']} ({draft['step'] or 'first'})"])


def _body(chosen: dict[str, Any]) -> dict[str, Any]:
    """What the API takes, of the options."""
    texts = {
        name: text_of(chosen.pop(name)) if chosen.get(name) else None
        for name in ("description", "citation")
    }
    switches = {
        "drops_all_zero": chosen.pop("drop_all_zero") or None,
        "passes_on_texts": False if chosen.pop("withhold_texts") else None,
    }
    chosen.pop("description", None)
    chosen.pop("citation", None)
    return sent({**chosen, **texts, **switches})


def _checked(asked: Asked, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """A new draft, once it was looked over."""
    draft = asked.ask("POST", "releases/", json=body)
    with Line() as line:
        checked: Mapping[str, Any] = asked.client.until(
            lambda: asked.ask("GET", f"releases/drafts/{draft['id']}/"),
            is_ended=lambda answer: bool(answer["manifest"]),
            seconds=LONGEST_CHECK,
            tell=lambda answer: line.tell(f"Checking {answer['version']} …"),
        )
    return checked


def _found(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for finding in findings:
        words = f"{finding['message']} {finding['advice']}"
        yield f"{finding['severity']}: {finding['where']}: {words}".rstrip()
