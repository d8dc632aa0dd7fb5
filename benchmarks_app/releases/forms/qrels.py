"""The form that maps a set of qrels to other grades."""

from collections.abc import Mapping
from typing import Any

from django import forms

from benchmarks_app.common.selectors.qrel_sets import grades_in
from benchmarks_app.importing.forms import (
    grade_fields,
    mapped_relevance,
    posted_grade_map,
)
from benchmarks_app.models import QrelSet
from benchwright.qrels.scales import Relevance


class QrelMapForm(forms.Form):
    """What each grade of a set is to be, and what documents are that it does not list."""

    name = forms.CharField(
        max_length=120,
        required=False,
        help_text="Of the new set; otherwise the old one's, numbered.",
    )
    unlisted = forms.ChoiceField(
        choices=QrelSet.Unlisted.choices,
        label="Documents that are not listed are",
        help_text="Not relevant where the judgments are complete, or list the relevant documents "
        "alone: nothing counts as unjudged then.",
    )

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, qrel_set: QrelSet, **kwargs: Any
    ) -> None:
        super().__init__(data, initial={"unlisted": qrel_set.unlisted}, **kwargs)
        self.qrel_set = qrel_set
        self.grades = grades_in(qrel_set)
        scale = {one.value: f"{one.value} {one.name}" for one in qrel_set.benchmark.grades.all()}
        self.fields.update(grade_fields(self.grades.items(), scale))

    @property
    def grade_fields(self) -> list[Any]:
        return [self[name] for name in self.fields if name.startswith("grade_")]

    @property
    def relevance(self) -> Relevance:
        """How many grades count as relevant, mapped as the form says now."""
        return mapped_relevance(self, self.grades.items(), self.qrel_set.benchmark)

    def options(self) -> dict[str, str]:
        """The arguments of `map_qrels` that the form knows."""
        given = self.cleaned_data
        return {
            "name": given["name"],
            "grade_map": posted_grade_map(given),
            "unlisted": given["unlisted"],
        }
