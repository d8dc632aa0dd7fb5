"""Every door of a recipe takes and refuses the same values, in the same words."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import wraps
from importlib import import_module
from typing import Any

import click
import pytest
from django import forms
from django.core.exceptions import ValidationError
from django.core.management import get_commands, load_command_class
from django.db.models import Model
from hypothesis import given, settings
from hypothesis import strategies as st
from rest_framework import serializers

from annotation.campaigns.api import NewCampaignSerializer
from annotation.campaigns.forms import CampaignForm
from annotation.common.serializers import NewPoolSerializer
from annotation.pools.forms.building import PoolForm
from annotation.queueing.api import NewQueueSerializer
from annotation.queueing.forms import QueueForm
from annotation.sparing.api import NewSparingSerializer
from annotation.sparing.forms import SparingForm
from benchmarks_app.api.serializers import Id
from benchmarks_app.common.parameters import percent_advice
from benchmarks_app.families.api import GroupSerializer
from benchmarks_app.families.forms import GroupForm
from benchmarks_app.judges.api import NewJudgeSerializer
from benchmarks_app.judges.forms import JudgeForm
from benchmarks_app.logs.api import DesignSerializer, LogUploadSerializer
from benchmarks_app.logs.forms import LogColumnsForm, SampleForm
from benchmarks_app.models import JudgeEndpoint
from benchmarks_app.slices.api import NewSliceSerializer
from benchmarks_app.slices.forms import SliceForm
from benchmarks_app.splits.api import RecipeSerializer
from benchmarks_app.splits.forms import SplitForm
from benchwright.recipes import (
    campaigns,
    collections,
    comparisons,
    contextual,
    families,
    gates,
    judging,
    pools,
    splits,
    submissions,
    systems,
)
from benchwright.recipes import sampling as recipe_of_sampling
from benchwright.recipes.parameters import Choice, Day, Parameter, Real, Whole
from scoring.contextual.api.runs import NewRunCasesSerializer
from scoring.contextual.api.shapes import NewContextualEvaluationSerializer
from scoring.contextual.forms import EvaluationForm, RunCasesForm
from scoring.gates.api import NewGateRehearsalSerializer
from scoring.gates.forms import PolicyForm
from scoring.live.api import LiveAskSerializer, NewLiveSystemSerializer
from scoring.live.forms import LiveAskForm, LiveSystemForm
from scoring.models import LiveSystem, Phase
from scoring.submissions.api.embeddings import EmbeddingCreateSerializer
from scoring.submissions.api.phases import PhaseChangeSerializer
from scoring.submissions.forms.embeddings import EmbeddingForm
from scoring.submissions.forms.phases import PhaseForm
from scoring.systems.api import NewBaselinesSerializer
from scoring.systems.forms import BaselineForm


@dataclass(frozen=True, eq=False)  # each is itself alone, and a key
class Doors:
    """Where the parameters of a recipe come in.

    `names` are those of fields that are called otherwise there, as {"form head_share": "head"};
    `suggested` what a door has instead of the default, in the same way; `percent` names shares that
    the page asks for in per cent; `lacking` what a kind of door does not ask for.
    """

    parameters: tuple[Parameter, ...]
    form: type[forms.Form] | None = None
    api: type[serializers.Serializer] | None = None
    admin: str = ""
    command: str = ""
    model: type[Model] | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    suggested: Mapping[str, Any] = field(default_factory=dict)
    percent: tuple[str, ...] = ()
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


RECIPES = {
    "splits": Doors(
        splits.SPLITTING,
        form=SplitForm,
        api=RecipeSerializer,
        admin="split_queries",
        command="collections.split",
        lacking={"form": ("mode",)},  # the page has a form for each mode
    ),
    "families": Doors(
        families.GROUPING,
        form=GroupForm,
        api=GroupSerializer,
        admin="group_queries",
        command="collections.families",
    ),
    "sampling": Doors(
        recipe_of_sampling.SAMPLING,
        form=SampleForm,
        api=DesignSerializer,
        admin="sample_queries",
        command="collections.sample",
        names={"form head_share": "head", "form tail_share": "tail"},
        percent=("head_share", "tail_share"),
        suggested={"command seed": 0},
    ),
    "pools": Doors(
        (*pools.POOLING, *pools.SHARING, pools.SECONDS, pools.DUE, pools.SEED),
        form=PoolForm,
        api=NewPoolSerializer,
        admin="build_pool",
        command="collections.pool",
        names={
            "form control_share": "control",
            "form double_share": "doubles",
            "form repeat_share": "repeats",
            "form gold_share": "gold",
        },
        percent=("control_share", "double_share", "repeat_share", "gold_share"),
        suggested={
            "form control_share": 5,
            "form double_share": 10,
            "form repeat_share": 4,
            "form gold_share": 5,
            "api strategy": "",  # a top-up where a list is named
            "api order": "",
            "command seed": 0,
        },
        lacking={
            "form": ("control_depth",),
            "api": ("control_share", "control_depth"),
            "command": (
                "due_on",
                *(parameter.name for parameter in pools.SHARING),
            ),  # nobody judges a file
        },
    ),
    "policies": Doors(
        (*gates.POLICY, *gates.RAILS), form=PolicyForm, lacking={"form": ("smallest_slice",)}
    ),
    "rehearsals": Doors((splits.SEED,), api=NewGateRehearsalSerializer),
    "comparisons": Doors((comparisons.DELTA, comparisons.N_DRAWS), command="scoring.compare"),
    "slices": Doors(collections.SLICE, form=SliceForm, api=NewSliceSerializer, admin="make_slice"),
    "retrieval": Doors(
        systems.RETRIEVAL,
        form=BaselineForm,
        api=NewBaselinesSerializer,
        admin="make_baselines",
        command="systems.retrieve",
        suggested={"command shards": 1},
    ),
    "live systems": Doors(
        (systems.K, *systems.PACE),
        form=LiveSystemForm,
        api=NewLiveSystemSerializer,
        model=LiveSystem,
    ),
    "asking": Doors(
        (systems.MAY_FAIL,), form=LiveAskForm, api=LiveAskSerializer, admin="ask_system"
    ),
    "ask": Doors((systems.K, *systems.PACE, systems.MAY_FAIL), command="systems.ask"),
    "phases": Doors(
        submissions.PHASE,
        form=PhaseForm,
        api=PhaseChangeSerializer,
        model=Phase,
        lacking={"default": ("daily_limit",)},
    ),
    "embeddings": Doors((submissions.DEPTH,), form=EmbeddingForm, api=EmbeddingCreateSerializer),
    "judges": Doors(
        contextual.JUDGE,
        form=JudgeForm,
        api=NewJudgeSerializer,
        command="systems.contextual",
        model=JudgeEndpoint,
        suggested={
            "command concurrency": 16,  # of one's own machine, which nobody else waits for
            "command timeout_seconds": 120,
            "command max_attempts": 5,
        },
    ),
    "campaigns": Doors(
        campaigns.CAMPAIGN,
        form=CampaignForm,
        api=NewCampaignSerializer,
        admin="judge_pool",
    ),
    "queues": Doors(pools.QUEUE, form=QueueForm, api=NewQueueSerializer),
    "sparing": Doors(
        campaigns.SPARING,
        form=SparingForm,
        api=NewSparingSerializer,
        admin="spare_work",
    ),
    "evaluations": Doors(
        contextual.EVALUATION,
        form=EvaluationForm,
        api=NewContextualEvaluationSerializer,
        admin="judge_cases",
        command="systems.contextual",
        lacking={"command": ("first", "cost_cap")},
    ),
    "cases of runs": Doors(
        contextual.CASES_OF_RUN,
        form=RunCasesForm,
        api=NewRunCasesSerializer,
        admin="make_cases",
    ),
    "gradings": Doors(judging.GRADING, command="systems.judge"),
    "calibrations": Doors(judging.CALIBRATION, command="scoring.calibrate"),
    "imports": Doors((collections.AGREED,), admin="import_file"),
    "logs": Doors(
        (recipe_of_sampling.FLOOR,),
        form=LogColumnsForm,
        api=LogUploadSerializer,
        admin="import_log",
        command="collections.sample",
    ),
}
KINDS = ("form", "api", "admin", "command")
Door = tuple[str, str, Parameter]


def doors() -> Iterator[Door]:
    """(recipe, kind of door, parameter) of all that can be set anywhere."""
    for recipe, there in RECIPES.items():
        for kind in KINDS:
            if getattr(there, kind):
                for parameter in there.parameters:
                    if parameter.name not in there.lacking.get(kind, ()):
                        yield recipe, kind, parameter


DOORS = [pytest.param(*door, id=f"{door[0]}-{door[1]}-{door[2].name}") for door in doors()]


def once(find: Callable[[Doors, Parameter], Any]) -> Callable[[Doors, Parameter], Any]:
    """Look each up once: to make a serializer, or to load a command, is most of the work."""
    results: dict[tuple[Doors, str], Any] = {}

    @wraps(find)
    def looked_up(there: Doors, parameter: Parameter) -> Any:
        key = there, parameter.name
        if key not in results:
            results[key] = find(there, parameter)
        return results[key]

    return looked_up


@once
def form_field_of(there: Doors, parameter: Parameter) -> forms.Field:
    assert there.form is not None
    return there.form.base_fields[there.names.get(f"form {parameter.name}", parameter.name)]


@once
def api_field_of(there: Doors, parameter: Parameter) -> serializers.Field:
    assert there.api is not None
    return there.api().fields[there.names.get(f"api {parameter.name}", parameter.name)]


@once
def admin_action_of(there: Doors, parameter: Parameter) -> argparse.Action:
    command = load_command_class(get_commands()[there.admin], there.admin)
    parser = command.create_parser("manage.py", there.admin)
    (action,) = (a for a in parser._actions if parameter.flag in a.option_strings)
    assert action.dest == parameter.name
    return action


@once
def command_option_of(there: Doors, parameter: Parameter) -> click.Parameter:
    command = import_module(f"benchwright.cli.{there.command}").command
    (option,) = (param for param in command.params if parameter.flag in param.opts)
    assert option.name == parameter.name
    return option


# --- what each door says of a value: the value it took, or its refusal -----------------------


def asked_form(there: Doors, parameter: Parameter, raw: str) -> Any:
    shown = raw
    is_percent = parameter.name in there.percent
    if is_percent:
        shown = f"{(Decimal(raw) * 100).normalize():f}"  # or it would have too many decimals
    try:
        taken = form_field_of(there, parameter).clean(shown)
    except ValidationError as error:
        return list(dict.fromkeys(error.messages))
    return float(taken) / 100 if is_percent else taken


def asked_api(there: Doors, parameter: Parameter, raw: str) -> Any:
    try:
        return api_field_of(there, parameter).run_validation(raw)
    except serializers.ValidationError as error:
        return [str(text) for text in error.detail]


def asked_admin(there: Doors, parameter: Parameter, raw: str) -> Any:
    try:
        return admin_action_of(there, parameter).type(raw)
    except argparse.ArgumentTypeError as error:
        return [str(error)]


def asked_command(there: Doors, parameter: Parameter, raw: str) -> Any:
    option = command_option_of(there, parameter)
    try:
        return option.type.convert(raw, option, None)
    except click.BadParameter as error:
        return [error.message]


ASKED = {"form": asked_form, "api": asked_api, "admin": asked_admin, "command": asked_command}


def out_of_range(parameter: Parameter) -> st.SearchStrategy[str]:
    match parameter:
        case Whole(least=least, most=most):
            below = st.integers(max_value=least - 1)
            return (below | st.integers(min_value=most + 1)).map(str).filter(lambda t: len(t) < 300)
        case Real(least=least, most=most, open_ends=ends):
            texts = (st.floats(-1e9, 1e9) | st.sampled_from([least, most])).map(
                lambda x: f"{x:.8f}"
            )
            return texts.filter(lambda t: not least <= float(t) <= most or float(t) in ends)
        case Choice(choices=choices):
            known = {value.replace("_", "-") for value in choices}
            letters = st.text(st.sampled_from("abcdefgh-_"), min_size=1)
            return letters.filter(lambda text: text.replace("_", "-") not in known)
        case Day():
            return st.sampled_from(["2024-02-30", "today", "01/06/2024x", "2024-13-01"])
    raise TypeError(parameter)


def in_range(parameter: Parameter) -> st.SearchStrategy[str]:
    match parameter:
        case Whole(least=least, most=most):
            return st.integers(least, most).map(str)
        case Real(least=least, most=most, open_ends=ends):
            numbers = st.integers(int(least * 100), min(int(most * 100), 10**6)).map(
                lambda hundredths: hundredths / 100
            )
            inner = numbers.filter(lambda x: x not in ends)
            return inner.filter(lambda x: least <= x <= most).map(str)
        case Choice(choices=choices):
            return st.sampled_from(list(choices)).map(str)
        case Day():
            return st.dates().map(str)
    raise TypeError(parameter)


def next_outside(parameter: Parameter) -> list[str]:
    """What is only just refused, where doors are most likely to part."""
    match parameter:
        case Whole(least=least, most=most):
            return [str(least - 1), str(most + 1)]
        case Real(least=least, most=most, open_ends=ends):
            texts = [f"{x:.8f}" for x in (least - 1e-6, *ends, most + 1e-6)]
            return [
                text for text in texts if not least <= float(text) <= most or float(text) in ends
            ]
        case _:
            return []


def next_inside(parameter: Parameter) -> list[str]:
    """What is only just taken; of a choice all."""
    match parameter:
        case Whole(least=least, most=most):
            return [str(least), str(most)]
        case Real(least=least, most=most, open_ends=ends):
            return [str(x) for x in (least, min(most, 1e4)) if x not in ends]
        case Choice(choices=choices):
            return list(choices)
        case _:
            return []


@pytest.mark.in_thirds
@pytest.mark.parametrize(("recipe", "kind", "parameter"), DOORS)
@settings(max_examples=10)
@given(data=st.data())
def test_a_value_out_of_range_is_refused_in_the_same_words(recipe, kind, parameter, data):
    there = RECIPES[recipe]
    is_percent = kind == "form" and parameter.name in there.percent
    advice = percent_advice(parameter) if is_percent else parameter.advice

    for raw in (*next_outside(parameter), data.draw(out_of_range(parameter))):
        assert ASKED[kind](there, parameter, raw) == [advice]


@pytest.mark.in_thirds
@pytest.mark.parametrize(("recipe", "kind", "parameter"), DOORS)
@settings(max_examples=10)
@given(data=st.data())
def test_a_value_in_range_is_taken_as_it_is_meant(recipe, kind, parameter, data):
    for raw in (*next_inside(parameter), data.draw(in_range(parameter))):
        taken = ASKED[kind](RECIPES[recipe], parameter, raw)

        meant = parameter.read(raw)
        assert taken == (pytest.approx(meant, abs=1e-9) if isinstance(meant, float) else meant)


@pytest.mark.in_thirds
@pytest.mark.parametrize(("recipe", "kind", "parameter"), DOORS)
def test_what_is_no_number_is_refused_in_the_same_words(recipe, kind, parameter):
    if isinstance(parameter, Real) and not (
        kind == "form" and parameter.name in RECIPES[recipe].percent
    ):
        for raw in ("nan", "inf", "half"):
            assert ASKED[kind](RECIPES[recipe], parameter, raw) == [parameter.advice]
    if isinstance(parameter, Whole):
        for raw in ("1.5", "ten"):
            assert ASKED[kind](RECIPES[recipe], parameter, raw) == [parameter.advice]


@pytest.mark.in_thirds
@pytest.mark.parametrize(("recipe", "kind", "parameter"), DOORS)
def test_what_is_left_out_has_the_declared_default(recipe, kind, parameter):
    there = RECIPES[recipe]
    default = {
        "form": lambda: form_field_of(there, parameter).initial,
        "api": lambda: api_field_of(there, parameter).default,
        "admin": lambda: admin_action_of(there, parameter).default,
        "command": lambda: command_option_of(there, parameter).default,
    }[kind]()
    if default is serializers.empty or parameter.name in there.lacking.get("default", ()):
        return  # what is made of it has its own: a test below
    suggested = there.suggested.get(f"{kind} {parameter.name}")
    if suggested is not None:
        assert default == suggested != parameter.default
    elif kind == "form" and parameter.name in there.percent:
        assert default == round(100 * parameter.default, 2)
    elif parameter.default is None:
        assert default in (None, serializers.empty) or kind == "command"
    else:
        assert parameter.read(default) == parameter.default


MODELS = [recipe for recipe, there in RECIPES.items() if there.model]


@pytest.mark.parametrize("recipe", MODELS)
def test_a_column_has_the_declared_default(recipe):
    there = RECIPES[recipe]
    columns = {field.name: field for field in there.model._meta.fields}
    stored = [parameter for parameter in there.parameters if parameter.name in columns]

    assert len(stored) == len(there.parameters)
    for parameter in stored:
        column = columns[parameter.name]
        assert (column.default if column.has_default() else None) == parameter.default


# --- nothing beside the declarations ---------------------------------------------------------

NUMBERS_OF_FORMS = (forms.IntegerField, forms.FloatField, forms.DecimalField)
NUMBERS_OF_API = (serializers.IntegerField, serializers.FloatField)


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_number_that_a_door_takes_is_declared(recipe):
    there = RECIPES[recipe]
    declared = {parameter.name for parameter in there.parameters} | set(there.names.values())
    result: set[str] = set()
    if there.form:
        fields = there.form.base_fields.items()
        result |= {name for name, field in fields if isinstance(field, NUMBERS_OF_FORMS)}
    if there.api:
        fields = there.api().fields.items()
        result |= {
            name
            for name, field in fields
            if isinstance(field, NUMBERS_OF_API) and not isinstance(field, Id)
        }

    assert result - declared == OTHER_NUMBERS.get(recipe, set())


# Reviewed.
OTHER_NUMBERS = {
    "splits": {"train", "dev", "test"},  # a share each: one parameter, and they add up
    # Of a rule, which comes as JSON elsewhere: `collections.rules` reads all of them.
    "slices": {"head_percent", "tail_percent", "shortest", "longest"},
}
