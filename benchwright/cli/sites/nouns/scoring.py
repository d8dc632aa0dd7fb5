"""What is scored, and what is decided by it."""

from typing import Any

import click

from benchwright.cli.doors import declared
from benchwright.cli.parameters import FILE, ResultFile, parameter_option
from benchwright.cli.sites.nouns.table import (
    ALL,
    JSON_FILE,
    MEASURE,
    NAMED,
    NUMBER,
    PAIRS,
    RELEASE,
    RENAMED,
    RUNS,
    SHOWN,
    SLICE,
    SPLIT,
    TEXT,
    Noun,
    among,
    changed,
    done,
    either,
    listed,
    one,
    removed,
    seen,
    word,
)
from benchwright.recipes import systems

PHASE: tuple[click.Parameter, ...] = (
    one("--description", metavar="TEXT", help="What it is for."),
    one("--opens-at", metavar="WHEN", help="Such as 2026-12-01T09:00Z; a new one: now."),
    one("--closes-at", metavar="WHEN", help="The same; a new one: never."),
    one("--daily-limit", type=int, metavar="N", help="Submissions of a person or team a day."),
    one("--total-limit", type=int, metavar="N", help="And in all."),
    either("--ladder/--no-ladder", "has_ladder", "Exact means of a hidden split at its end."),
)
POLICY: tuple[click.Parameter, ...] = (
    one("--baseline", required=True, metavar="RUN", help="What a candidate is held against."),
    one("--lexical", metavar="RUN", help="The lexical one, for checks that need it."),
    one("--content", type=JSON_FILE, metavar="FILE", help="As `gate --policy`; or the usual one."),
)
# The API takes a run by its number or its name, the number first; names here are names.
OF_RUNS = {"runs": "runs"}
OF_POLICY = {"baseline": "runs", "lexical": "runs"}
OF_MACHINE = {"machine": "qrels"}
MACHINE = one("--machine", metavar="NAME", help="Its set of qrels, or learned.")
LIVE = (
    one("--url", metavar="URL", help="Where it is asked."),
    one("--description", metavar="TEXT", help="What it is."),
    one("--template", type=TEXT, metavar="FILE", help="JSON with {{query}} and {{k}} in it."),
    one("--headers", type=TEXT, metavar="FILE", help="A line each; secrets as $VARIABLE."),
    one("-k", "--depth", "k", type=int, metavar="K", help="Results of a query."),
    *declared(*(parameter_option(pace, group="Options") for pace in systems.PACE)),
)
NUMBERS = {
    "delta": "A difference to be shown.",
    "hours": "Of people.",
    "depth": "Of the pool.",
    "systems": "That are pooled.",
    "judged": "Share that is judged already.",
    "overlap": "Of what they retrieve.",
    "seconds": "For a label.",
}
NOTE = one("--note", metavar="TEXT", help="A sentence.")
PART = one("--split", metavar="SPLIT", help="Of which split it is.")


def reported(**settings: Any) -> list[click.Parameter]:
    """What is said of a value from elsewhere."""
    return [
        one("--system", metavar="NAME", help="Whose it is.", **settings),
        one("--measure", metavar="NAME", help="Of which measure.", **settings),
        one("--value", type=float, metavar="X", help="What it is.", **settings),
        one("--source", metavar="TEXT", help="Where it is from.", **settings),
    ]


NOUNS = {
    "runs": Noun(
        "runs/", "name kind owner n_queries depth visibility",
        {
            "show": SHOWN,
            "queries": listed("{}/queries/", "It query by query.", "query n_retrieved scores text",
                              RELEASE, MEASURE, SLICE),
            "query": seen("{}/queries/{qid}/", "One query of it: what it has, and what it lacks.",
                          word("qid", metavar="QUERY"), RELEASE),
            "contextual": seen("{}/contextual/", "Its contextual precision, newest first."),
            "holes": listed("{}/holes/", "Unjudged documents among its first.",
                            "query n_top at_stake", RELEASE),
            "latencies": seen("{}/latencies/", "How long its queries took."),
            "withdraw": done("{}/withdraw/", "Take one off every board, for good."),
            "probing": listed("probing/", "Submissions that look like probing.",
                              "id name submitter kind created_at"),
            "settle": done("probing/{number}/settle/", "Note that you looked at one of these.",
                           NUMBER),
        },
        by="name",
    ),
    "comparisons": Noun(
        "comparisons/",
        verbs={
            "queries": listed("queries/", "They query by query.",
                              "query run reference difference outcome text",
                              RUNS, RELEASE, MEASURE, SLICE,
                              one("--order", type=among("best", "worst", "largest"), help="First."),
                              ids=OF_RUNS),
            "results": seen("results/", "Their results for a query.", word("query"), RUNS, RELEASE,
                            ids=OF_RUNS),
            "robustness": seen("robustness/", "Whether it survives other labels, gains and depths.",
                               RUNS, RELEASE, MEASURE, ids=OF_RUNS),
            "try-robustness": done("robustness/", "Begin with that, where it takes long.",
                                   RUNS, RELEASE, MEASURE, ids=OF_RUNS),
            "corrected": seen("corrected/", "By people's labels and a machine's.",
                              RUNS, RELEASE, MEASURE, MACHINE,
                              ids={**OF_RUNS, **OF_MACHINE}),
        },
    ),
    "embeddings": Noun(
        "contrastive/", "id name state by n_pairs",
        {
            "show": SHOWN,
            "ranks": listed("{}/ranks/", "The ranks of every pair.",
                            "id forward_rank backward_rank"),
            "remove": removed("Delete one of yours."),
        },
        by="name", single="pair of embeddings",
    ),
    "live": Noun(
        "live/", "name kind host k n_runs last_run_at",
        {
            "show": SHOWN,
            "change": changed("Change it; its runs stay as they are.", RENAMED, *LIVE),
            "try": done("{}/try/", "Ask it one query, while you wait.", word("query")),
            "remove": removed("Remove it; its runs stay."),
        },
        by="name", single="live system",
    ),
    "systems": Noun(
        "baselines/", "name title is_available state",
    ),
    "candidates": Noun(
        "candidates/", "name origin n_queries n_documents created_at",
        {
            "worth": seen("/top-ups/", "Unjudged documents that can change how runs compare.",
                          RUNS, RELEASE, MEASURE, ids=OF_RUNS),
            "new": done("", "Keep a list: FILE has columns query-id, corpus-id.",
                        word("rows", type=PAIRS, metavar="FILE"),
                        one("--origin", metavar="TEXT", help="How it came about."), names="name"),
            "keep": done("/top-ups/", "Keep these as a list.", RUNS, RELEASE, MEASURE, NAMED,
                         ids=OF_RUNS),
        },
    ),
    "releases": Noun(
        "releases/", "version state published_at deprecated_at",
        {
            "show": SHOWN,
            "deprecate": done(
                "{}/deprecate/", "Say that it is not to be used any longer.",
                one("--reason", required=True, metavar="TEXT", help="Why."),
                one("--successor", metavar="VERSION", help="What to use in its place."),
            ),
            "moves": seen("{}/moves/", "How runs moved since an earlier one, and why.",
                          one("--from", metavar="VERSION", help="The earlier one."),
                          MEASURE, SLICE),
            "corrected": seen("{}/leaderboard/corrected/", "Its board by people and a machine.",
                              MEASURE, MACHINE, ids=OF_MACHINE),
            "score": done("{}/rescoring/", "Score the runs that have no scores on it."),
            "scoring": seen("{}/rescoring/", "How far scoring on it is."),
            "history": seen("{}/leaderboard/history/", "The best runs when they came.",
                            MEASURE, SLICE),
            "slices": seen("{}/leaderboard/slices/", "Means of every run over every slice.",
                           MEASURE),
        },
        by="version", at="version",
    ),
    "exports": Noun(
        "releases/{release}/exports/", "name label is_possible is_ready",
    ),
    "phases": Noun(
        "phases/", "id name release split opens_at closes_at",
        {
            "show": SHOWN,
            "new": done(
                "", "Make one; it is open from --opens-at to --closes-at.",
                one("--release", required=True, metavar="VERSION", help="On which."),
                one("--split", required=True, type=SPLIT, help="On which split of it."),
                *PHASE,
                names="name",
            ),
            "change": changed("Change it; a later --closes-at opens it again.", RENAMED, *PHASE),
            "close": done("{}/close/", "Close it now."),
        },
        by="name",
    ),
    "submissions": Noun(
        "submissions/", "id name state phase created_at",
        {
            "show": SHOWN,
            "withdraw": done("{}/withdraw/", "Take it off every board, for good."),
            "leave-out": done(
                "{}/leave-out/", "Score a refused file without its bad lines.",
                one("--lines", "n", required=True, type=int, metavar="N", help="So many are bad."),
            ),
            "send-on": done("{}/send-on/", "Send it to another phase, as it was sent.",
                            word("phase"), ids={"phase": "phases"}),
        },
    ),
    "reported": Noun(
        "reported/", "id system measure value split source",
        {
            "show": SHOWN,
            "new": done(
                "", "Report what FILE, a result of MTEB or its folder, says.",
                word("file", type=ResultFile()), RELEASE,
                one("--system", metavar="NAME", help="Whose; by default as the file says."),
                one("--task", metavar="NAME", help="Which of the file."),
                one("--source", metavar="TEXT", help="Where it is from."),
            ),
            "enter": done("", "Report a value.", *reported(required=True), RELEASE, NOTE, PART),
            "change": changed(
                "Correct one that you reported.",
                *reported(), NOTE, PART,
            ),
            "remove": removed("Take away one that you reported."),
        },
    ),
    "policies": Noun(
        "gates/policies/", "name version baseline retired_at",
        {
            "show": SHOWN,
            "new": done("", "Freeze one; a name in use gets a new version.", *POLICY, names="name",
                        ids=OF_POLICY),
            "rehearse": done(
                "/gates/rehearsals/", "How often it would be right on runs that are there.",
                *POLICY, RUNS, RELEASE,
                one("--seed", type=int, metavar="N", help="The same draws again."),
                names="name", ids={**OF_RUNS, **OF_POLICY}, lasts=("state", ("queued",)),
            ),
            "retire": done("{}/retire/", "Let it decide no more gates."),
        },
        by="name", single="policy",
    ),
    "gates": Noun(
        "gates/", "id policy candidate verdict created_at",
        {
            "show": SHOWN,
            "came-true": listed("came-true/", "How often they came true.", "verdict n outcomes"),
            "online": listed("{}/online/", "What A/B tests said of the candidate.",
                             "outcome metric difference low high note"),
            "read-log": done(
                "{}/online/log/", "Have the log of an A/B test say it.",
                word("log", type=FILE),
                one("--events", type=FILE, metavar="FILE", help="UBI's, beside its queries."),
                one("--columns", metavar="ROLE=NAME,…", help="As `clicks --column`."),
                one("--actions", metavar="NAME,…", help="As `clicks --click-action`."),
                one("--baseline-arm", metavar="NAME", help="The arm of the baseline."),
                one("--candidate-arm", metavar="NAME", help="The arm of the candidate."),
                one("--metric", type=among("click-through", "success", "zero results"),
                    help="What is counted."),
                one("-k", "--cutoff", type=int, metavar="K", help="Of so many first positions."),
                NOTE,
            ),
            "record": done(
                "{}/online/", "Write down what an A/B test said.",
                word("outcome", type=among("better", "same", "worse")),
                one("--metric", required=True, metavar="NAME", help="Of the test."),
                one("--difference", type=float, metavar="X", help="Candidate less baseline."),
                one("--low", type=float, metavar="X", help="End of its interval."),
                one("--high", type=float, metavar="X", help="The other end."),
                one("--no-interval", "has_no_interval", is_flag=True, help="There is none."),
                NOTE,
            ),
        },
    ),
    "reliability": Noun(
        "reliability/", verbs={"show": seen("", ALL, RELEASE)},
    ),
    "freshness": Noun(
        "freshness/",
        verbs={
            "show": seen("", ALL, RELEASE,
                         one("--days", type=int, metavar="N", help="From then on a label is old."))
        },
    ),
    "planner": Noun(
        "planner/",
        verbs={
            "show": seen("", ALL, *(one(f"--{name}", type=float, metavar="X", help=line)
                                    for name, line in NUMBERS.items()))
        },
    ),
}  # fmt: skip
