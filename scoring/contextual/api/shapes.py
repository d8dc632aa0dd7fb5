"""What evaluations and outcomes look like in the API."""

from rest_framework import serializers

from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import Id
from benchwright.recipes import contextual
from scoring.models import CaseOutcome, ContextualEvaluation

LISTED = (
    *("id", "case_set", "judge", "model", "state", "error", "threshold", "strict", "reasons"),
    *("slice", "first", "prompt_hash", "n_cases", "n_scored", "n_failed", "n_success", "mean"),
    *("tokens_in", "tokens_out", "created_at", "finished_at"),
)


class ContextualEvaluationSerializer(serializers.ModelSerializer):
    """An evaluation; counts and mean are those of when its job ended last."""

    case_set = serializers.IntegerField(source="case_set_id", read_only=True)
    judge = serializers.CharField(source="judge_name", read_only=True)
    strict = serializers.BooleanField(source="is_strict", read_only=True)
    reasons = serializers.BooleanField(source="has_reasons", read_only=True)
    slice = serializers.CharField(source="only_slice", read_only=True)
    first = serializers.IntegerField(source="only_first", read_only=True, allow_null=True)

    class Meta:
        model = ContextualEvaluation
        fields = LISTED


class ContextualMeanSerializer(serializers.Serializer):
    """All cases (an empty `name`) or a slice; failed cases are in no mean."""

    name = serializers.CharField(allow_blank=True)
    n = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    success_share = serializers.FloatField(allow_null=True)


class KappaSerializer(serializers.Serializer):
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    why = serializers.CharField(allow_blank=True, help_text="Why there is none.")


class PeopleAgreementSerializer(serializers.Serializer):
    """A judge's verdicts beside those of the first person on each case; means of these cases."""

    n_cases = serializers.IntegerField()
    n_nodes = serializers.IntegerField()
    n_people = serializers.IntegerField()
    n_blind = serializers.IntegerField(help_text="Cases of which no judge's verdict was known.")
    n_both = serializers.IntegerField()
    n_neither = serializers.IntegerField()
    n_only_people = serializers.IntegerField()
    n_only_judge = serializers.IntegerField()
    share = serializers.FloatField(help_text="Of nodes with the same verdict.")
    kappa = KappaSerializer()
    people = ContextualMeanSerializer()
    judge = ContextualMeanSerializer()


class ContextualEvaluationDetailSerializer(ContextualEvaluationSerializer):
    """With its counts as they are now; `cost` is told to who keeps the benchmark."""

    n_waiting = serializers.IntegerField()
    cost = serializers.FloatField(required=False)
    cost_cap = serializers.FloatField(required=False, allow_null=True)
    overall = ContextualMeanSerializer()
    slices = ContextualMeanSerializer(many=True)
    people = PeopleAgreementSerializer(allow_null=True)

    class Meta:
        model = ContextualEvaluation
        fields = (*LISTED, "n_waiting", "cost", "cost_cap", "overall", "slices", "people")


class NewContextualEvaluationSerializer(serializers.Serializer):
    """What to judge and by whom: `slice` or `first` where it is not to be every case."""

    case_set = Id()
    judge = serializers.CharField(max_length=120, help_text="Its name.")
    threshold = api_field(contextual.THRESHOLD, allow_null=True)
    strict = serializers.BooleanField(required=False, default=False)
    reasons = serializers.BooleanField(required=False, default=True)
    slice = serializers.CharField(required=False, allow_blank=True, default="")
    first = api_field(contextual.FIRST, required=False)
    cost_cap = api_field(contextual.COST_CAP, required=False, allow_null=True)


class NewCapSerializer(serializers.Serializer):
    cost_cap = api_field(contextual.COST_CAP, required=False, allow_null=True)


class NodeVerdictSerializer(serializers.Serializer):
    node = serializers.IntegerField(help_text="Its rank, from 1.")
    is_relevant = serializers.BooleanField()
    reason = serializers.CharField(allow_blank=True)


class CaseOutcomeSerializer(serializers.ModelSerializer):
    """What became of a case: verdicts and score, or the error that was in the way."""

    case = serializers.CharField(source="case.case_id")
    number = serializers.IntegerField(source="case.number")
    verdicts = NodeVerdictSerializer(many=True)

    class Meta:
        model = CaseOutcome
        fields = (
            *("case", "number", "state", "score", "is_success", "verdicts", "reason"),
            *("error_code", "error", "tokens_in", "tokens_out", "seconds", "n_calls"),
        )


class CasePairSerializer(serializers.Serializer):
    case = serializers.CharField(source="case_id")
    before = serializers.FloatField()
    after = serializers.FloatField()
    difference = serializers.FloatField()
    n_nodes = serializers.IntegerField()
    n_apart = serializers.IntegerField(help_text="Nodes that were judged differently.")


class ComparedSerializer(serializers.Serializer):
    """After less before, on the cases that both have scored; `agreement` is that of nodes."""

    mean_before = serializers.FloatField(allow_null=True)
    mean_after = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    agreement = serializers.FloatField(allow_null=True)
    n_only_before = serializers.IntegerField()
    n_only_after = serializers.IntegerField()
    pairs = CasePairSerializer(many=True)
