"""Whether a campaign's prompt agrees better with people than an earlier one of the same judge."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.cache import cache

from annotation.campaigns.services.calibrating import (
    KEPT_SECONDS,
    families_of,
    machines_grades,
    peoples_grades_beside,
    state_of,
)
from annotation.models import Campaign, JudgePrompt

if TYPE_CHECKING:
    from benchwright.calibration.improving import Improvement

# Earlier campaigns that are looked at for one with pairs in common.
LOOKED_AT = 5


@dataclass(frozen=True)
class Improved:
    """What came of a later prompt; `differences` name what is other about it."""

    earlier: Campaign
    sentence: str
    differences: list[str]
    improvement: "Improvement"


def improvement_of(campaign: Campaign) -> Improved | None:
    """The newest earlier prompt of the judge and model held beside this one, on common pairs.

    None where no earlier campaign of documents that were drawn has pairs in common with this one
    and with people. Kept until something is other.
    """
    kept_as = f"improvement-{state_of(campaign)}"
    improved: list[Improved] | None = cache.get(kept_as)
    if improved is None:
        improved = _improved(campaign)
        cache.set(kept_as, improved, KEPT_SECONDS)
    return improved[0] if improved else None


def _improved(campaign: Campaign) -> list[Improved]:
    """One, or none."""
    # Numbers are loaded with the first page that needs them.
    from benchwright.calibration.improving import improvement
    from benchwright.calibration.words import change

    earlier_ones = _earlier(campaign)
    if not earlier_ones:
        return []
    after = machines_grades(campaign)
    people, _ = peoples_grades_beside(campaign, after)
    scale = list(campaign.benchmark.grades.values_list("value", flat=True))
    families = families_of(campaign)
    for earlier in earlier_ones:
        examples = JudgePrompt.examples.through.objects.filter(
            judgeprompt__in=[earlier.prompt_id, campaign.prompt_id]
        )
        measured = improvement(
            people,
            machines_grades(earlier),
            after,
            scale=scale,
            examples_of=examples.values_list("gradeexample__judgment__query__qid", flat=True),
            families=families,
        )
        if measured is not None:
            differences = _differences(earlier.prompt, campaign.prompt)
            return [Improved(earlier, change(measured), differences, measured)]
    return []


def _earlier(campaign: Campaign) -> list[Campaign]:
    """Campaigns of an earlier prompt whose documents were drawn, as this one's were."""
    if campaign.choice == Campaign.Choice.UNJUDGED:
        return []
    of_judge = Campaign.objects.filter(
        benchmark=campaign.benchmark_id,
        judge_name=campaign.judge_name,
        model=campaign.model,
        prompt__version__lt=campaign.prompt.version,
    )
    drawn = of_judge.exclude(choice=Campaign.Choice.UNJUDGED).select_related("prompt", "benchmark")
    return list(drawn.order_by("-prompt__version", "-pk")[:LOOKED_AT])


def _differences(before: JudgePrompt, after: JudgePrompt) -> list[str]:
    """What is other about a later prompt, in words."""
    scale_examples = [
        [(grade["value"], grade["examples"]) for grade in of.scale] for of in (before, after)
    ]
    scales = [[{**grade, "examples": []} for grade in of.scale] for of in (before, after)]
    n_before, n_after = (sum(len(texts) for _, texts in examples) for examples in scale_examples)
    differs = {
        f"{n_after} examples instead of {n_before}": scale_examples[0] != scale_examples[1],
        "another guideline": before.guideline_text != after.guideline_text,
        "another scale": scales[0] != scales[1],
        "another template": before.template != after.template,
        "documents cut elsewhere": before.max_characters != after.max_characters,
    }
    return [words for words, is_other in differs.items() if is_other]
