"""What this app adds to the demo: disagreement that waits for a word, and a question."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from annotation.common.selectors.policies import policy_of
from annotation.common.services.policies import set_policy
from annotation.guidelines.services import answer_question
from annotation.judging.services.judging import ask_question
from annotation.models import Question
from benchmarks_app.models import Benchmark, User
from benchwright.qrels.rules import Settings

ASKED_ABOUT = "glob"
QUESTION = "It names the right module, but not the function. Is that 2 or 1?"
ANSWER = "2: it leads to the answer. 1 is for what only touches the topic."


def furnish(sender: Any, benchmark: Benchmark, people: Mapping[str, User], **unused: Any) -> None:
    """Let neighbouring grades be adjudicated from now on; have a question asked and answered."""
    policy = policy_of(benchmark)
    if policy.settings.adjudicate_from != 1:
        settings = Settings(adjudicate_from=1)
        set_policy(benchmark=benchmark, rule=policy.rule, settings=settings, actor=people["olga"])
    if not Question.objects.filter(entry__pool__benchmark=benchmark).exists():
        _ask(benchmark, people)


def _ask(benchmark: Benchmark, people: Mapping[str, User]) -> None:
    """Bo asks about a document that has its label, so nothing that waits is taken away."""
    graded = benchmark.pools.get().slots.filter(kind="label", state="done")
    slot = graded.filter(entry__document__docid=ASKED_ABOUT).first() or graded.first()
    if slot is None:
        return
    question = ask_question(slot=slot, actor=people["bo"], client_id=uuid4(), text=QUESTION)
    answer_question(question=question, actor=people["olga"], answer=ANSWER)
