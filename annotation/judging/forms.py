"""Forms of the labeling page for browsers without its script, of its start, and of own work."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from annotation.judging.protocol.exchange import CONFIDENCES, MAX_DWELL_MS, MAX_NOTE, VIEWS
from annotation.judging.protocol.keys import CAPTIONS, KeyAction, bindings, clashes
from annotation.judging.selectors.own_work import CANT_JUDGE
from annotation.models import Pool
from benchmarks_app.common.forms import row_field
from benchmarks_app.language import translated


class ReadForm(forms.Form):
    """`version` is that of the guideline on the page; empty where the benchmark has none."""

    has_read = forms.BooleanField()
    version = forms.IntegerField(required=False)


class PracticeForm(forms.Form):
    known = forms.IntegerField()
    grade = forms.IntegerField()
    client_id = forms.UUIDField()
    dwell_ms = forms.IntegerField(required=False, min_value=0, max_value=MAX_DWELL_MS)


CANT_JUDGE_REASONS = (
    gettext_noop("Empty or unreadable"),
    gettext_noop("Unclear query"),
    gettext_noop("Unknown language"),
    gettext_noop("Needs an expert"),
)
KEY, OTHER_KEY = _("Key for “{action}”"), _("Another key for “{action}”")


class _AboutForm(forms.Form):
    """Something said about the document on the page, which its token names."""

    token = forms.CharField()
    client_id = forms.UUIDField()
    dwell_ms = forms.IntegerField(required=False, min_value=0)
    view = forms.ChoiceField(required=False, choices=[(view, view) for view in VIEWS])

    def clean_dwell_ms(self) -> int | None:
        dwell = self.cleaned_data["dwell_ms"]
        return dwell if dwell is None or dwell <= MAX_DWELL_MS else None


class JudgmentForm(_AboutForm):
    grade = forms.IntegerField()
    note = forms.CharField(required=False, max_length=MAX_NOTE)
    confidence = forms.ChoiceField(
        required=False, choices=[(level, level) for level in CONFIDENCES]
    )


class CantJudgeForm(_AboutForm):
    """`reason` is a button, `other` a line of one's own; what was written wins."""

    reason = forms.CharField(required=False)
    other = forms.CharField(required=False)

    @property
    def said(self) -> str:
        return self.cleaned_data["other"] or self.cleaned_data["reason"]


class LaterForm(_AboutForm):
    pass


class AskForm(_AboutForm):
    """What is in the note is the question; the mark that makes it one is left out."""

    note = forms.CharField(max_length=MAX_NOTE)

    def clean_note(self) -> str:
        question = self.cleaned_data["note"].strip().removeprefix("?").strip()
        if not question:
            nothing = _("Write what you want to know.")
            raise forms.ValidationError(nothing)
        return question


class UndoForm(forms.Form):
    """`undo_id` where the form is that of the grades, whose own `client_id` is for the grade."""

    client_id = forms.UUIDField()
    undo_id = forms.UUIDField(required=False)

    @property
    def said(self) -> Any:
        return self.cleaned_data["undo_id"] or self.cleaned_data["client_id"]


class KeyMapForm(forms.Form):
    """Two keys for each action; a grade needs one, and no key may do two things."""

    is_on = forms.BooleanField(required=False, label=_("Use keys on the labeling page"))

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        actions: Sequence[KeyAction],
        own: Mapping[str, Sequence[str]],
        is_on: bool = True,
    ) -> None:
        super().__init__(data, initial={"is_on": is_on})
        self.actions = actions
        choices = [
            ("", _("none")),
            *((key, translated(caption)) for key, caption in CAPTIONS.items()),
        ]
        for action in actions:
            keys = [*bindings([action], own)[action.name], "", ""]
            for number, name in enumerate(_names(action)):
                self.fields[name] = forms.ChoiceField(
                    choices=choices,
                    required=number == 0 and action.name.startswith("grade-"),
                    label=(OTHER_KEY if number else KEY).format(action=translated(action.label)),
                    initial=keys[number],
                    error_messages={"required": _("A grade needs a key.")},
                )

    @property
    def rows(self) -> Iterator[tuple[KeyAction, list[BoundField]]]:
        for action in self.actions:
            yield action, [self[name] for name in _names(action)]

    @property
    def chosen(self) -> dict[str, list[str]]:
        cleaned = self.cleaned_data
        return {
            action.name: list(dict.fromkeys(filter(None, map(cleaned.get, _names(action)))))
            for action in self.actions
        }

    def clean(self) -> None:
        labels = {action.name: translated(action.label) for action in self.actions}
        for clash in clashes(self.chosen):
            key = CAPTIONS.get(clash.key, clash.key.replace("Shift+", _("Shift and") + " "))
            for mine, other in ((clash.first, clash.second), (clash.second, clash.first)):
                text = _("“{key}” is a key of “{action}”, too; choose another.")
                self.add_error(mine, text.format(key=key, action=labels[other]))


def _names(action: KeyAction) -> tuple[str, str]:
    return action.name, f"{action.name}-also"


GRADES = [("", _("Any")), *((str(n), str(n)) for n in range(10)), (CANT_JUDGE, _("Can't judge"))]


class PoolField(forms.ModelChoiceField):
    def label_from_instance(self, obj: Pool) -> str:
        return f"{obj.benchmark}: {obj}"


class OwnJudgmentFilterForm(forms.Form):
    q = forms.CharField(required=False, max_length=200, label=_("Query, document or note"))
    grade = forms.ChoiceField(required=False, choices=GRADES)
    pool = PoolField(Pool.objects.none(), required=False, empty_label=_("Any"))

    def __init__(self, *args: Any, pools: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row_field(self, "pool").queryset = pools

    @property
    def asked(self) -> dict[str, Any]:
        """What to look for; what is no valid filter is left out."""
        cleaned = self.cleaned_data if self.is_valid() else {}
        pool = cleaned.get("pool")
        return {
            "words": cleaned.get("q", ""),
            "grade": cleaned.get("grade", ""),
            "pool": pool.pk if pool else None,
        }


class JudgmentChangeForm(forms.Form):
    """Another grade, or why the document cannot be judged after all."""

    grade = forms.IntegerField(required=False)
    reason = forms.ChoiceField(
        required=False, choices=[(reason, reason) for reason in CANT_JUDGE_REASONS]
    )
    note = forms.CharField(required=False, max_length=10_000)
    client_id = forms.UUIDField()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if (cleaned.get("grade") is None) == (not cleaned.get("reason")):
            why = _("Choose a grade, or why the document cannot be judged.")
            raise forms.ValidationError(why)
        return cleaned
