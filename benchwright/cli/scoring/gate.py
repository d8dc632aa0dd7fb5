"""`benchwright gate`: is a candidate good enough to be tried on people? The exit code says it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli import options
from benchwright.cli.main import Command, option
from benchwright.cli.options import format_option, written_option
from benchwright.cli.parameters import FILE
from benchwright.cli.progress import told
from benchwright.cli.scored import scored, scorer_of

if TYPE_CHECKING:
    from benchwright.evaluation.scorecards import Scorecard, Scorer
    from benchwright.gates.policy import Policy

GOALS = ("improve", "not-worse")
FAILING = ("hold", "block", "inconclusive", "not-comparable")
EXAMPLES = (
    "benchwright gate qrels.txt current.run candidate.run",
    "benchwright gate qrels.txt current.run candidate.run --goal not-worse",
    "benchwright gate qrels.txt current.run candidate.run --policy gate.json --slices slices.tsv",
    "benchwright gate qrels.txt a.run b.run --report gate.xml --report gate.md --fail-on block",
    "benchwright gate --rehearse qrels.txt current.run other.run older.run --policy gate.json",
    "benchwright gate candidate.run --site https://bench.example --benchmark faq@1.2.0 \\",
    "    --policy nightly --wait",
)


def failing(ctx: click.Context, parameter: click.Parameter, verdicts: str | None) -> frozenset[str]:
    """The verdicts of `--fail-on`; a wrong one is a usage error."""
    if verdicts is None:
        return frozenset(FAILING)
    names = [name.strip().replace("_", "-") for name in verdicts.split(",") if name.strip()]
    for name in names:
        if name not in FAILING:
            text = f"'{name}' is no verdict that can fail; expected one of {', '.join(FAILING)}."
            raise click.BadParameter(text, ctx, parameter)
    return frozenset(names)


@click.command(
    cls=Command,
    name="gate",
    examples=EXAMPLES,
    where_fields={"server": "site", "benchmark": "benchmark"},
    short_help="Is a candidate good enough for an A/B test? A verdict.",
)
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="QRELS BASELINE CANDIDATE")
@option(
    "--policy",
    metavar="FILE",
    group="Policy",
    help="What the candidate must show, as JSON (docs/gate.md); with --site a policy's name.  "
    "[default: improve nDCG@10 by 0.01, no slice of --slices loses 0.02]",
)
@option(
    "--goal",
    type=click.Choice(GOALS),
    group="Policy",
    help="Without a policy: a better system is wanted, or one that is not worse.  [default: "
    "improve]",
)
@option(
    "--lexical",
    type=FILE,
    metavar="RUN",
    group="Policy",
    help="A lexical run (BM25), for the guard rail on exact-match queries.",
)
@option(
    "--rehearse",
    is_flag=True,
    group="Policy",
    help="Before any candidate: how often the policy is right on runs that are there already "
    "(1 to 10 after the baseline); kept beside the policy's file and shown with every verdict.",
)
@options.SLICES
@options.FAMILIES
@options.TOP_GRADE
@options.TIE_RULE
@options.UNLISTED_RULE
@options.ANSWERED
@options.PARENTS
@options.AGGREGATE
@option(
    "--test",
    type=click.Choice(("signflip", "t")),
    default="signflip",
    show_default=True,
    group="Statistics",
    help="p-values by sign flips, or by Student's t, as bounds are.",
)
@options.SEED
@written_option(
    "--report",
    "reports",
    multiple=True,
    group="Output",
    help="Write a report: .md, .json or .xml (JUnit); may be given several times.",
)
@format_option(("text", "json"), help="json has every number, for programs.")
@option(
    "--fail-on",
    callback=failing,
    metavar="VERDICTS",
    group="Output",
    help="Verdicts that end with their exit code, separated by commas; others end with 0.  "
    "[default: hold,block,inconclusive,not-comparable]",
)
@option(
    "--site",
    "server",
    replaced=("--server",),
    metavar="URL",
    group="Site",
    help="Let a site decide, by its own policy.",
)
@option("--benchmark", metavar="SLUG[@VERSION]", group="Site", help="The benchmark there.")
@option(
    "--wait/--no-wait",
    default=True,
    show_default=True,
    group="Site",
    help="Wait for the verdict, or end with 0 as soon as it is asked for.",
)
@click.pass_context
def command(ctx: click.Context, /, files: tuple[Path, ...], **chosen: Any) -> None:
    """Hold a CANDIDATE run against a BASELINE under a policy, and end with the verdict.

    0 pass: a strong candidate for an A/B test. 10 hold: something about the process, or too small
    an improvement. 11 block: something gets worse. 12 inconclusive: too few queries to tell. 13 not
    comparable: unanswered queries, or documents that must be judged first. Each comes with what
    would change it.
    """
    _check_reports(chosen)
    if chosen["rehearse"]:
        from benchwright.cli.scoring.gate_rehearsal import rehearse

        rehearse(files, chosen, read=read)
        return
    if chosen["server"]:
        from benchwright.cli.scoring.gate_server import decided

        result = decided(files, chosen)
    else:
        result = _decided_here(files, chosen)
    if result is None:
        return
    if chosen["form"] == "json":
        from benchwright.gates.reports import written

        click.echo(written(result, ".json").rstrip("\n"))
    else:
        from benchwright.cli.scoring.gate_output import print_result

        print_result(result)
    _write(chosen["reports"], result)
    name = str(result["verdict"]).replace("_", "-")
    ctx.exit(result["exit_code"] if name in chosen["fail_on"] else 0)


def _check_reports(chosen: Mapping[str, Any]) -> None:
    from benchwright.gates.errors import GateReportError
    from benchwright.gates.reports import check_suffix

    policy = Path(chosen["policy"] or "")
    rehearsal = policy.with_suffix(".rehearsal.json") if policy.name else policy
    for path in chosen["reports"]:
        if path.resolve() in {policy.resolve(), rehearsal.resolve()}:
            text = f"--report would overwrite {path}, which is the policy's. Name another file."
            raise click.UsageError(text)
        try:
            check_suffix(path)
        except GateReportError as error:
            text = f"--report {path}: {error}"
            raise click.UsageError(text) from error


def _decided_here(files: Sequence[Path], chosen: Mapping[str, Any]) -> dict[str, Any]:
    if len(files) != 3:
        text = f"{len(files)} files are named; expected three: QRELS BASELINE CANDIDATE."
        raise click.UsageError(text)
    from benchwright.cli.scoring.gate_rehearsal import rehearsal_beside, was_rehearsed
    from benchwright.evaluation.results import provenance
    from benchwright.gates.bounds import Method
    from benchwright.gates.verdict import decide

    qrels, *runs = files
    if chosen["lexical"]:
        runs.append(chosen["lexical"])
    policy, scorer, cards = read(qrels, runs, chosen)
    rehearsal = rehearsal_beside(policy, chosen)
    with told("Deciding"):
        evidence = _evidence(scorer, policy, cards, is_registered=bool(chosen["policy"]))
        if was_rehearsed(rehearsal, files[2]):
            process = replace(evidence.process, seen_before_policy=True)
            evidence = replace(evidence, process=process)
        method = Method(chosen["test"], seed=chosen["seed"])
        result = decide(policy, evidence, method).as_dict()
    result["rehearsal"] = rehearsal
    result["provenance"] = provenance(scorer, cards, folder=Path())
    return result


def read(
    qrels: Path, runs: Sequence[Path], chosen: Mapping[str, Any]
) -> "tuple[Policy, Scorer, Sequence[Scorecard]]":
    """The policy, and the scored runs in their order; the lexical one comes last, where there is
    one, and may be another of them: what is there now is often BM25."""
    policy = _policy(chosen)
    rules = {"missing": "zero", "depth": None, "rel": None, "judged_only": False}
    *others, last = runs
    is_again = last == chosen["lexical"] and last in others
    each = others if is_again else runs
    scorer = scorer_of(qrels, each, policy.scored, {**chosen, **rules, "allow_empty": False})
    cards = list(scored(scorer, each))
    if is_again:
        cards.append(cards[others.index(last)])
    return _with_slices(policy, scorer, chosen), scorer, cards


def _policy(chosen: Mapping[str, Any]) -> "Policy":
    from benchwright.gates.policy import DEFAULTS, read_policy

    if chosen["benchmark"]:
        text = "--benchmark is of a server; name it with --site."
        raise click.UsageError(text)
    goal = (chosen["goal"] or "").replace("-", "_")
    if not chosen["policy"]:
        return replace(DEFAULTS, goal=goal or DEFAULTS.goal)
    path = FILE.convert(chosen["policy"], None, None)
    policy = read_policy(path)
    if goal and goal != policy.goal:
        text = (
            f"--goal is {chosen['goal']} and the policy says {policy.goal.replace('_', '-')}. A "
            "policy is what was said beforehand: leave --goal out, or write another policy."
        )
        raise click.UsageError(text)
    return policy


def _with_slices(policy: "Policy", scorer: "Scorer", chosen: Mapping[str, Any]) -> "Policy":
    """Without a policy, the slices of the file are those that count."""
    return policy if chosen["policy"] else replace(policy, slices=tuple(scorer.sliced))


def _evidence(
    scorer: "Scorer", policy: "Policy", cards: "Sequence[Scorecard]", *, is_registered: bool
) -> Any:
    """What is known of the runs; the documents to judge only where they may be missing."""
    from benchwright.comparison.comparability import COMPARABLE
    from benchwright.gates.comparable import judged_share
    from benchwright.gates.evidence import Process
    from benchwright.gates.from_files import evidence_of, wanted_of

    evidence = evidence_of(scorer, policy, cards, process=Process(is_registered=is_registered))
    shares = [judged_share(arm, policy) for arm in (evidence.baseline, evidence.candidate)]
    if all(share >= COMPARABLE for share in shares):
        return evidence
    return replace(evidence, wanted=wanted_of(scorer, policy, cards))


def _write(reports: Sequence[Path], result: Mapping[str, Any]) -> None:
    from benchwright.gates.reports import written

    for path in reports:
        path.write_text(written(result, path.suffix), encoding="utf-8")
