"""What grades come of, people's and machines'."""

from typing import Any

import click

from benchwright.cli.parameters import Rows
from benchwright.cli.sites.nouns.table import (
    ALL,
    JSON_FILE,
    NAMED,
    RENAMED,
    RUNS,
    SHOWN,
    TEXT,
    Noun,
    Verb,
    among,
    changed,
    done,
    either,
    listed,
    one,
    removed,
    seen,
    several,
    word,
)

ASKED = (("--base-url", "URL", "Of its API, as OpenAI has it."),
         ("--model", "NAME", "The model that is asked for."))  # fmt: skip
JUDGE: tuple[click.Parameter, ...] = (
    one("--key-variable", metavar="NAME", help="Variable of the site's environment with its key."),
    one("--key-file", "key", type=TEXT, metavar="FILE", help="Its key, which the site keeps."),
    one("--price-in", type=float, metavar="COST", help="Of a million tokens that it is sent."),
    one("--price-out", type=float, metavar="COST", help="Of a million tokens that it answers."),
    one("--concurrency", type=int, metavar="N", help="Questions at a time."),
    one("--requests-per-minute", type=int, metavar="N", help="At most."),
    one("--timeout", "timeout_seconds", type=int, metavar="SECONDS", help="For an answer."),
    one("--attempts", "max_attempts", type=int, metavar="N", help="At a question, at most."),
)


def asked(**settings: Any) -> list[click.Parameter]:
    """What model is asked, and where."""
    return [one(name, metavar=what, help=help, **settings) for name, what, help in ASKED]


NOUNS = {
    "guideline": Noun(
        "guideline/",
        verbs={
            "show": seen(
                "", "The newest version, or another, as Markdown.",
                one("--version", type=int, metavar="N", help="Which one."),
                prints="text",
            ),
            "versions": listed("", "Its versions.", "version created_at"),
            "write": done(
                "", "Write the next version: the Markdown of FILE.",
                word("text", type=TEXT, metavar="FILE"),
                one("--upon", "written_upon", type=int, metavar="N",
                    help="Refuse it unless this is the newest version."),
                one("--anchors", type=JSON_FILE, metavar="FILE",
                    help="JSON of what each grade stands for."),
            ),
        },
    ),
    "examples": Noun(
        "grade-examples/", "id query document grade n_prompts withdrawn_at",
        {
            "show": SHOWN,
            "new": done(
                "", "Make an example of what people say of a document for a query.",
                word("query"), word("document"),
                one("--text", required=True, metavar="TEXT", help="Why it has its grade."),
            ),
            "remove": removed("Withdraw one from further prompts."),
        },
    ),
    "pools": Noun(
        "pools/", "id name state n_entries n_done due_on",
        {
            "show": SHOWN,
            "change": changed(
                "Open, pause or close it, and say how it is judged.",
                one("--state", type=among("open", "paused", "closed"), help="Is it judged?"),
                one("--due", "due_on", metavar="DAY", help="By when, such as 2026-12-24."),
                either("--search/--no-search", "may_search", "Its people search the corpus."),
                either("--show-machine/--hide-machine", "shows_machine", "They see its grades."),
                several("--annotator", "annotators", metavar="USERNAME",
                        help="Who alone judges it; once for each."),
                one("--assignment", type=among("anybody", "family-to-one", "family-rotated"),
                    help="Who gets which queries."),
                one("--gold-share", type=float, metavar="SHARE", help="Of hidden checks."),
                one("--practice-mark", type=int, metavar="N", help="Right answers to pass."),
            ),
            "report": seen("{}/report/", "What its labels tell, and whether to go on."),
            "people": seen("{}/people/", "Who judged how much."),
            "slices": listed("slices/", "How far each slice is judged, over all pools.",
                             "slice n_queries n_pooled n_wanted n_done"),
            "queue": seen("{}/queue/", "By what its queue was put in order."),
            "order": done(
                "{}/queue/", "Put its queue in order.",
                one("--by", required=True, type=among("doubt", "disagreement", "verdict"),
                    help="By what."),
                several("--campaign", "campaigns", metavar="NAME", help="Whose grades say it."),
                several("--run", "runs", metavar="NAME", help="Of the verdict; once for each."),
                one("-m", "--measure", type=among("p", "dcg"), help="Of the verdict."),
                one("-k", "--cutoff", type=int, metavar="K", help="Of the measure."),
            ),
            "release": done("{}/release/", "Give what somebody holds back to the others.",
                            word("annotator", metavar="USERNAME")),
            "waive": done("{}/waive/", "Want no second labels that nobody has begun."),
            "stale": listed("{}/stale/", "Labels for texts that have changed since.",
                            "query document grade is_offered"),
            "offer": done("{}/stale/", "Have stale labels given again."),
            "sparing": seen("{}/sparing/", "Whether a machine's 0 spares people work."),
            "spare": done(
                "{}/sparing/", "Spare people what a campaign gave 0, after an audit.",
                word("campaign"),
                one("--audit", "n_audit", type=int, metavar="N", help="Drawn for people."),
                one("--most-missed", type=float, metavar="SHARE", help="Of it may be relevant."),
                one("--checked", "checked_share", type=float, metavar="SHARE",
                    help="Goes to people all the same."),
            ),
            "ask-all": removed("Ask people about every document again.", "{}/sparing/"),
            "known": listed("{}/known/", "Known grades: hidden checks, and practice.",
                            "id query document grade purpose"),
            "know": done(
                "{}/known/", "Set known grades: FILE has columns query-id, corpus-id, grade.",
                word("grades", type=Rows("query", "document", "grade"), metavar="FILE"),
            ),
            "forget": removed("Forget a known grade; what was judged stays.", "{}/known/{known}/",
                              word("known", type=int, metavar="ID")),
            "simulate": done(
                "simulations/", "Compare orders of judging on grades that are known.",
                word("qrel_set", metavar="QRELS"), RUNS,
                one("--depth", type=int, metavar="K", help="Of the pools."),
                one("--burn-in", type=int, metavar="N", help="Before an order learns."),
                ids={"qrel_set": "qrels"},
            ),
            "settled": listed("{}/known/settled/", "Pairs that could become known grades.",
                              "query document grade"),
        },
        by="name",
    ),
    "disputes": Noun(
        "adjudication/", "query document grades effect",
        {"show": seen("case/", "One with its texts and labels.", word("query"), word("document"))},
    ),
    "questions": Noun(
        "questions/", "id query text asked_at answer",
        {
            "answer": done(
                "{}/answer/", "Answer one; its document goes back to who asked.",
                word("answer"),
                one("--guideline-line", metavar="TEXT", help="A line of the guideline, too."),
            )
        },
    ),
    "judges": Noun(
        "contextual/judges/", "name model base_url price_in price_out",
        {
            "show": SHOWN,
            "new": done("", "Set one up.", *asked(required=True), *JUDGE, names="name"),
            "change": changed("Change it.", RENAMED, *asked(), *JUDGE,
                              one("--forget-key", is_flag=True, help="Keep its key no longer.")),
            "try": done("{}/try/", "Ask it about one tiny case.",
                        lasts=("is_being_tried", (True,))),
            "remove": removed("Delete it and its key."),
        },
        by="name",
    ),
    "campaigns": Noun(
        "campaigns/", "name judge state n_pairs n_graded n_failed",
        {
            "show": SHOWN,
            "try": done("{}/try/", "Ask about ten documents that people judged."),
            "pause": done("{}/pause/", "Begin no further document."),
            "cancel": done("{}/cancel/", "Cancel it; what is graded stays."),
            "publish": done("{}/publish/", "Publish its grades as qrels of kind machine.", NAMED,
                            one("--model", metavar="NAME", help="Which model gave them.")),
            "contradictions": listed("{}/contradictions/", "Pairs on which people say otherwise.",
                                     "query document people machine outcome"),
            "remove": removed("Delete it, if it put nothing into the ledger."),
        },
        by="name",
    ),
    "case-sets": Noun(
        "contextual/sets/", "name n_cases n_nodes n_images",
        {
            "show": SHOWN,
            "cases": listed("{}/cases/", "Its cases.", "number case_id n_nodes n_images"),
            "change": changed("Ask people for verdicts on it, or no longer.",
                              either("--ask-people/--no-people", "asks_people", "People or not.")),
            "remove": removed("Delete it with its images and evaluations."),
        },
        by="name",
    ),
    "evaluations": Noun(
        "contextual/evaluations/", "id judge state n_cases n_failed mean",
        {
            "show": SHOWN,
            "cases": listed("{}/cases/", "What became of each case.", "case state score error"),
            "compare": seen("/contextual/comparison/", "Two of one set, case by case.",
                            word("before", type=int), word("after", type=int)),
            "cancel": done("{}/cancel/", "Cancel it; what is judged stays."),
            "retry": done(
                "{}/retry/", "Ask again what failed, and go on with what is left.",
                one("--cost-cap", type=float, metavar="COST", help="Stop before it costs more."),
                lasts=("state", ("queued", "running")),
            ),
            "remove": removed("Delete it."),
        },
    ),
    "qrels": Noun(
        "qrels/", "name kind rule n_qrels n_queries n_relevant",
        {
            "show": SHOWN,
            "map": done(
                "{}/map/", "Map an imported set to other grades, as a new one.",
                one("--grade-map", metavar="A=B,…", help="Such as 1=2,2=3,-1=0."),
                one("--unlisted", type=among("unknown", "not-relevant"),
                    help="What documents are that it does not list."),
                NAMED,
            ),
            "by-document": done("by-document/", "Grades of documents, of a set that has passages.",
                                word("qrels"), NAMED, ids={"qrels": "qrels"}),
            "rule": seen("policy/", ALL),
            "choose": Verb(
                "PUT", "policy/", "Choose the rule by which the next set is made.", (
                    word("rule"),
                    one("--adjudicate-from", type=int, metavar="N", help="So far apart stay open."),
                    one("--unresolved", type=among("lower-median", "leave-out", "refuse"),
                        help="What becomes of labels that stay open."),
                    one("--smoothing", type=float, metavar="X", help="Of Dawid-Skene."),
                )
            ),
            "remove": removed("Delete it, if no release uses it."),
        },
        by="name", single="set of qrels",
    ),
}  # fmt: skip
