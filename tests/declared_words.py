"""Words of translated pages that are declared where Django is not known, or by models."""

from collections.abc import Iterator

from annotation.judging.protocol import errors as judging_errors
from annotation.judging.protocol.keys import ACTIONS, CAPTIONS
from annotation.models import Pool
from benchmarks_app import errors as people_errors
from benchmarks_app.models import (
    Corpus,
    FamilyChange,
    FamilyLink,
    Job,
    QueryFamily,
    Role,
    Run,
    Slice,
    SliceMember,
    SplitPlan,
    Unit,
)
from benchwright.errors import BenchmarkError
from benchwright.estimation.errors import TooFewFamiliesError
from benchwright.evaluation import uncertainty
from benchwright.gates import errors as gate_errors
from benchwright.gates.rehearsal import rehearsing
from benchwright.live.presets import PRESETS, Preset
from benchwright.recipes import clicks, gates, splits, submissions, systems
from benchwright.retrieval.catalog import CATALOG, Entry
from benchwright.runs import aggregation
from benchwright.runs.facts import FIELDS, FactField
from scoring.comparisons.services import errors as comparison_errors
from scoring.contrastive.selectors import PairState
from scoring.contrastive.services import errors as pair_errors
from scoring.gates.services import errors as policy_errors
from scoring.live.services import errors as live_errors
from scoring.models import (
    ContextualEvaluation,
    EmbeddingPair,
    GateResult,
    LiveSystem,
    OnlineResult,
    ReportedScore,
    Submission,
)
from scoring.scores.services import errors as scoring_errors
from scoring.systems.services import baseline_errors

# Errors whose pages and messages are translated; all others quote files or are met by owners.
ERRORS = (people_errors, judging_errors)
CAPTIONS_FROM = "annotation.judging.protocol.keys"
OF_SUBMITTERS = (
    TooFewFamiliesError,
    scoring_errors.DailyLimitError,
    scoring_errors.NameInUseError,
    scoring_errors.NoOpenPhaseError,
    scoring_errors.NotInTeamError,
    scoring_errors.NotWithdrawableError,
    scoring_errors.SubmittedBeforeError,
    scoring_errors.TotalLimitError,
    pair_errors.NotDeletableError,
    pair_errors.PairFileTooLargeError,
    pair_errors.EmptyPairFileError,
    pair_errors.PairIdsNeededError,
    pair_errors.PairNameTakenError,
    pair_errors.TooManySlicesError,
    comparison_errors.ComparedRunError,
    comparison_errors.ComparisonNotReadyError,
    comparison_errors.ComparisonSignInError,
    comparison_errors.NoPublicQueryError,
    comparison_errors.NotScoredHereError,
    comparison_errors.TooManyComparedError,
    policy_errors.PolicySlicesError,
    policy_errors.PolicyThereError,
    policy_errors.PolicyRetiredError,
    policy_errors.PolicyAfterCandidateError,
    policy_errors.OnlineIntervalError,
    policy_errors.RehearsalTooLateError,
    policy_errors.GateItselfError,
    policy_errors.GateRunError,
    policy_errors.GateUndecidedError,
    gate_errors.PolicySplitError,
    gate_errors.RehearsalError,
    live_errors.LiveBusyError,
    live_errors.LiveQueriesError,
    live_errors.LiveRunNameError,
    baseline_errors.DepthError,
    baseline_errors.NothingChosenError,
    scoring_errors.NoTextsError,
    scoring_errors.NoQueriesError,
)
# What the checks of a gate come to, as `benchwright.gates` says it.
OUTCOMES_OF_CHECKS = """
    an exchange, comparable, complete, different, exploratory, few enough, flagged, improves,
    improves a little, in order, incomplete, inconclusive, non-inferior, not comparable, not known,
    not regressed, not run, not shown, not worse, provisional, regresses, regression, the same,
    too few queries, too many
"""
OF_OWNERS = {
    "CompleteReleaseError",
    "FreedPagesError",
    "GoldShareError",
    "GuidelineChangedError",
    "InvitationDaysError",
    "KnownPairError",
    "LastManagerError",
    "ManagerNeededError",
    "NothingJudgedError",
    "NothingUnjudgedError",
    "PoolNameTakenError",
    "PoolRunsError",
    "PoolStateError",
    "QuestionAnsweredError",
    "UnknownDocumentsError",
}


def declared_words() -> Iterator[tuple[str, str]]:
    """Each text with the module that declares it."""
    for action in ACTIONS:
        yield action.label, ACTIONS[0].__class__.__module__
    for choices in (
        Role,
        Pool.State,
        Submission.State,
        Run.Visibility,
        Run.Kind,
        QueryFamily.Split,
        ReportedScore.Kind,
        ContextualEvaluation.State,
        EmbeddingPair.Ties,
        Slice.Kind,
        SliceMember.Source,
        SplitPlan.Mode,
        Unit,
        Corpus.TextFormat,
        FamilyLink.Reason,
        FamilyChange.Kind,
        GateResult.Verdict,
        GateResult.State,
        OnlineResult.Outcome,
        LiveSystem.Kind,
    ):
        for label in choices.labels:
            yield str(label), choices.__module__
    yield from ((state.value, PairState.__module__) for state in PairState)
    yield from ((tie.value, EmbeddingPair.__module__) for tie in EmbeddingPair.Ties)
    yield from ((f"{unit}s", Unit.__module__) for unit in Unit.values)
    for state in Pool.State.labels:
        yield str(state).lower(), Pool.__module__
    for kind in Run.Kind.labels:
        yield str(kind).lower(), Run.__module__
    yield uncertainty.TIE_GROUPS, uncertainty.__name__
    yield BenchmarkError.heading, BenchmarkError.__module__
    for module in ERRORS:
        for kind in vars(module).values():
            is_error = isinstance(kind, type) and issubclass(kind, BenchmarkError)
            if is_error and kind.__module__ == module.__name__ and kind.__name__ not in OF_OWNERS:
                yield from ((text, module.__name__) for text in (kind.message, kind.heading))
    for field in FIELDS:
        for text in (field.label, field.help, *dict(field.choices).values()):
            if text:
                yield text, FactField.__module__
    yield from ((text, aggregation.__name__) for text in aggregation.LABELS.values())
    depth = submissions.DEPTH
    yield from ((text, submissions.__name__) for text in (depth.label, depth.help, depth.advice))
    for parameter in splits.SPLITTING:
        for text in (parameter.label, parameter.help, parameter.advice):
            if text:
                yield text, splits.__name__
    for choice in (splits.MODE, splits.STRADDLING):
        yield from ((text, splits.__name__) for text in choice.choices.values())
    yield from ((state.capitalize(), Job.__module__) for state in Job.State.values)
    yield from ((preset.label, Preset.__module__) for preset in PRESETS.values())
    for entry in CATALOG.values():
        yield from (
            (text, Entry.__module__) for text in (entry.title, entry.description, entry.kind)
        )
    goal = (gates.GOAL, gates.LABELS, gates.MARGIN, gates.DELTA_MIN, gates.ALPHA)
    asked = (systems.MAY_FAIL, systems.DEPTH, systems.SHARDS)
    for parameter in (*goal, *gates.RAILS, *asked, *clicks.OUTCOMES):
        choices_of = getattr(parameter, "choices", {}).values()
        for text in (parameter.label, parameter.help, parameter.advice, *choices_of):
            if text:
                yield text, gates.__name__
    yield from ((text, gates.__name__) for text in gates.LABELS.choices)
    yield from ((text, rehearsing.__name__) for text in rehearsing.COLUMNS[1:])
    outcomes = (" ".join(text.split()) for text in OUTCOMES_OF_CHECKS.split(","))
    yield from ((text, "benchwright.gates.checks") for text in outcomes)
    yield from ((outcome, "benchwright.clicks.outcomes") for outcome in clicks.OUTCOME.choices)
    for kind in OF_SUBMITTERS:
        yield kind.message, kind.__module__
    yield from ((text, CAPTIONS_FROM) for text in CAPTIONS.values() if len(text) > 1)
