"""The shapes in which pools, judgments and what comes of them enter and leave the API."""

from typing import Any

from rest_framework import serializers

from annotation.models import Judgment, Pool, Question
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import GradeValue, Id
from benchmarks_app.models.collection import MAX_ID_BYTES
from benchwright.ids import LONGEST_NAME
from benchwright.qrels.rules import RULES
from benchwright.recipes import pools as recipes

MOST_LABELS = 1000
MOST_DOCUMENTS = 10_000


class QuestionSerializer(serializers.ModelSerializer):
    """A question about a document, and its answer."""

    pool = serializers.IntegerField(source="entry.pool_id", read_only=True)
    query = serializers.CharField(source="entry.query.text", read_only=True)

    class Meta:
        model = Question
        fields = ["id", "pool", "query", "text", "asked_at", "answer", "answered_at"]


# --- pools ---------------------------------------------------------------------------------------


class PoolSummarySerializer(serializers.ModelSerializer):
    """A pool; `n_done` of `n_wanted` labels are given."""

    n_done = serializers.IntegerField(read_only=True)

    class Meta:
        model = Pool
        fields = [
            "id",
            "name",
            "strategy",
            "order",
            "state",
            "overlap",
            "n_entries",
            "n_wanted",
            "n_done",
            "n_waived",
            "due_on",
            "may_search",
            "shows_machine",
            "created_at",
        ]


class PoolProgressSerializer(serializers.Serializer):
    """`n_held` documents are on somebody's screen; `seconds` is the time of a label."""

    n_wanted = serializers.IntegerField()
    n_done = serializers.IntegerField()
    n_left = serializers.IntegerField()
    n_held = serializers.IntegerField()
    share = serializers.FloatField()
    seconds = serializers.FloatField()
    hours_left = serializers.FloatField()


class PoolDetailSerializer(PoolSummarySerializer):
    """A pool with what it was built from, and how far it is."""

    parameters = serializers.JSONField(read_only=True)
    statistics = serializers.JSONField(read_only=True)
    progress = PoolProgressSerializer(read_only=True)
    n_stale = serializers.IntegerField(read_only=True)

    class Meta(PoolSummarySerializer.Meta):
        fields = [
            *PoolSummarySerializer.Meta.fields,
            "seed",
            "digest",
            "parameters",
            "statistics",
            "progress",
            "n_stale",
        ]


class NewPoolSerializer(serializers.Serializer):
    """A pool to be built; `runs` are names, `candidates` the name of a list: then it is a top-up.

    Shares are from 0 to 1: of documents that get a second label, of hidden repeats, of hidden
    checks. `budget` is the documents a query of a layered pool; `measure` and `labels` are for an
    estimate, with `depth` as the measure's cutoff.
    """

    name = serializers.CharField(max_length=120)
    strategy = api_field(recipes.STRATEGY, choices=Pool.Strategy.choices, default="")
    order = api_field(
        recipes.ORDER,
        choices=Pool.Order.choices,
        allow_null=False,
        default="",
        help_text="Of the pool's entries. People get a query's documents shuffled, but for mtf and "
        "maxmean, which tell by what they hand out next what systems rank high, and doubt, which "
        "asks for labels of 30 families and tells what is hard to say.",
    )
    runs = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    candidates = serializers.CharField(required=False, default="", allow_blank=True)
    depth = api_field(recipes.DEPTH)
    budget = api_field(recipes.BUDGET)
    measure = api_field(recipes.MEASURE)
    labels = api_field(recipes.LABELS)
    carry = serializers.BooleanField(default=False, help_text="Judged documents, too")
    is_drawn = serializers.BooleanField(
        default=False, help_text="Of the queries alone that were drawn last for people."
    )
    overlap = api_field(recipes.OVERLAP)
    double_share = api_field(recipes.DOUBLE_SHARE)
    repeat_share = api_field(recipes.REPEAT_SHARE)
    gold_share = api_field(recipes.GOLD_SHARE)
    seconds = api_field(recipes.SECONDS)
    due_on = api_field(recipes.DUE)
    seed = api_field(recipes.SEED)


class PoolChangeSerializer(serializers.Serializer):
    """What changes; the rest stays. `due_on` null: due on no day."""

    state = serializers.ChoiceField(
        choices=[state for state in Pool.State if state != Pool.State.BUILDING], required=False
    )
    due_on = api_field(recipes.DUE, required=False, allow_null=True)
    may_search = serializers.BooleanField(
        required=False,
        help_text="Whether annotators may search beside queries, and grade.",
    )
    shows_machine = serializers.BooleanField(
        required=False,
        help_text="Whether annotators see, once the pool is closed, what machines said of what "
        "they judged. What was shown so is not hidden again, nor the pool opened.",
    )
    annotators = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="User names of who may judge; none: everybody who judges in this benchmark.",
    )
    assignment = serializers.ChoiceField(
        Pool.Assignment.choices,
        required=False,
        help_text="How wordings of one need are shared out.",
    )
    gold_share = serializers.FloatField(
        required=False, help_text="Of a person's labels, how many are hidden checks: 0 to 0.2."
    )
    practice_mark = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=10,
        help_text="Practice documents that have to be right; null: the usual number.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            message = "Expected a field to change, such as `state`."
            raise serializers.ValidationError(message)
        return attrs


class PoolReportSerializer(serializers.Serializer):
    """What the page of a pool shows; `signals` and `stop` are null while they are computed."""

    pool = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.CharField()
    progress = serializers.DictField(help_text="Documents, labels wanted and given, hours left.")
    signals = serializers.DictField(
        allow_null=True, help_text="Labels by day, coverage of queries, relevant ones, people."
    )
    stop = serializers.DictField(allow_null=True, help_text="Whether more labels would matter.")


class PoolPersonSerializer(serializers.Serializer):
    """What somebody has said in a pool so far."""

    person = serializers.CharField()
    n_labels = serializers.IntegerField()
    n_grades = serializers.IntegerField()
    n_cant_judge = serializers.IntegerField()
    n_extra = serializers.IntegerField()
    last_at = serializers.DateTimeField()


# --- qrels ---------------------------------------------------------------------------------------


class NewQrelsSerializer(serializers.Serializer):
    """A set to be derived from the judgments; without a rule the benchmark's policy decides."""

    name = serializers.CharField(max_length=120)
    rule = serializers.ChoiceField(
        choices=[rule.name for rule in RULES], required=False, default="", allow_blank=True
    )
    as_of = Id(required=False, allow_null=True, default=None)


# --- judgments -----------------------------------------------------------------------------------


class EvidenceSerializer(serializers.Serializer):
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    text = serializers.CharField()


class RawJudgmentSerializer(serializers.Serializer):
    """One line of the export; docs/formats.md says what each column means."""

    event = serializers.IntegerField()
    at = serializers.DateTimeField()
    query = serializers.CharField()
    document = serializers.CharField()
    kind = serializers.ChoiceField(choices=Judgment.Kind.values)
    grade = serializers.IntegerField(allow_null=True)
    annotator = serializers.CharField()
    reason = serializers.CharField(allow_blank=True)
    note = serializers.CharField(allow_blank=True)
    evidence = EvidenceSerializer(many=True)
    confidence = serializers.CharField(allow_blank=True)
    outcome = serializers.CharField(allow_blank=True)
    purpose = serializers.CharField(allow_blank=True)
    pool = serializers.CharField(allow_blank=True)
    source = serializers.CharField(allow_blank=True)
    entered_by = serializers.CharField(allow_blank=True)
    guideline = serializers.IntegerField(allow_null=True)
    content_hash = serializers.CharField(allow_blank=True)
    view = serializers.CharField(allow_blank=True)
    shown_chars = serializers.IntegerField(allow_null=True)
    position = serializers.IntegerField(allow_null=True)
    dwell_ms = serializers.IntegerField(allow_null=True)
    is_extra = serializers.BooleanField()
    supersedes = serializers.IntegerField(allow_null=True)
    superseded_by = serializers.IntegerField(allow_null=True)
    machine = serializers.JSONField(allow_null=True)


class ExportQuerySerializer(serializers.Serializer):
    """`all` has practice, hidden checks and repeats as well; `as_of` ends with that event."""

    form = serializers.ChoiceField(choices=["jsonl", "csv"], default="jsonl")
    all = serializers.BooleanField(default=False)
    as_of = Id(required=False, allow_null=True, default=None)


class LabelSerializer(serializers.Serializer):
    """One label that was given elsewhere; without an annotator it counts as the sender's."""

    query = serializers.CharField(max_length=MAX_ID_BYTES)
    document = serializers.CharField(max_length=MAX_ID_BYTES)
    grade = GradeValue()
    annotator = serializers.CharField(
        max_length=LONGEST_NAME, required=False, default="", allow_blank=True
    )
    note = serializers.CharField(required=False, default="", allow_blank=True)
    text_hash = serializers.CharField(max_length=64, required=False, default="", allow_blank=True)


class LabelsSerializer(serializers.Serializer):
    """Labels to be entered, all of them or none; `pool` is the id of the pool they are for.

    `accounts` says whose account an annotator is, `""` for nobody's; those it leaves out are the
    members of their names. `machines` are annotators whose labels are kept apart as a machine's;
    left out, those whose names look like a model's.
    """

    source = serializers.CharField(max_length=120)
    pool = Id(required=False, allow_null=True, default=None)
    accounts = serializers.DictField(
        child=serializers.CharField(allow_blank=True, max_length=150), required=False, default=dict
    )
    machines = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_NAME),
        required=False,
        allow_null=True,
        default=None,
    )
    labels = LabelSerializer(many=True, max_length=MOST_LABELS)


class SentLabelsSerializer(LabelsSerializer):
    """The same with labels as they came: each is checked by itself and gets an answer."""

    labels = serializers.ListField(
        child=serializers.JSONField(), max_length=MOST_LABELS, allow_empty=False
    )


class LabelResultSerializer(serializers.Serializer):
    """What became of a label: saved, same (it was here already), outside-pool or refused.

    judged-here: whose label it is has judged the document here, and that stays.
    """

    index = serializers.IntegerField()
    state = serializers.ChoiceField(
        choices=["saved", "same", "outside-pool", "judged-here", "refused"]
    )
    message = serializers.CharField(allow_blank=True)


class LabelResultsSerializer(serializers.Serializer):
    n_saved = serializers.IntegerField()
    n_same = serializers.IntegerField()
    n_outside = serializers.IntegerField()
    n_judged_here = serializers.IntegerField()
    n_extra = serializers.IntegerField()
    n_machine = serializers.IntegerField()
    items = LabelResultSerializer(many=True)


# --- one pair ------------------------------------------------------------------------------------


class PairQuerySerializer(serializers.Serializer):
    query = serializers.CharField(max_length=MAX_ID_BYTES)
    document = serializers.CharField(max_length=MAX_ID_BYTES)


class StepSerializer(serializers.Serializer):
    title = serializers.CharField()
    text = serializers.CharField()
    events = serializers.ListField(child=serializers.IntegerField())


class PairGradeSerializer(serializers.Serializer):
    """The grade of one set of qrels, and how it came about."""

    qrels = serializers.CharField(source="qrel_set.name")
    grade = serializers.IntegerField(allow_null=True)
    steps = StepSerializer(many=True)


class PairEventSerializer(serializers.Serializer):
    """An event of a pair; `ended_by` is the event that replaced it or took it back."""

    event = serializers.IntegerField(source="event.pk")
    at = serializers.DateTimeField(source="event.created_at")
    kind = serializers.CharField(source="event.kind")
    grade = serializers.IntegerField(source="event.grade", allow_null=True)
    reason = serializers.CharField(source="event.reason")
    note = serializers.CharField(source="event.note")
    annotator = serializers.CharField(source="who")
    entered_by = serializers.CharField()
    ended_by = serializers.IntegerField(source="ended_by.pk", allow_null=True, default=None)
    guideline = serializers.IntegerField(
        source="event.guideline.version", allow_null=True, default=None
    )
    text_number = serializers.IntegerField()
    is_stale = serializers.BooleanField()


class PairSerializer(serializers.Serializer):
    query = serializers.CharField()
    document = serializers.CharField()
    grades = PairGradeSerializer(many=True)
    events = PairEventSerializer(many=True)


# --- agreement -----------------------------------------------------------------------------------


class AgreementQuerySerializer(serializers.Serializer):
    pool = Id(required=False, allow_null=True, default=None)


class MeasuredSerializer(serializers.Serializer):
    """A coefficient; where it is undefined the value is null and `why` says the reason."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    why = serializers.CharField(allow_blank=True)
    n_items = serializers.IntegerField(required=False)


class AgreementSerializer(serializers.Serializer):
    """Agreement over all labels, as of an event; `threshold` is the lowest relevant grade."""

    as_of = serializers.IntegerField()
    threshold = serializers.IntegerField()
    n_labels = serializers.IntegerField()
    n_documents = serializers.IntegerField()
    n_shared = serializers.IntegerField()
    n_raters = serializers.IntegerField()
    overall = serializers.DictField(child=MeasuredSerializer())


# --- lists of candidates -------------------------------------------------------------------------


class CandidateSerializer(serializers.Serializer):
    """A document worth judging; the place in the list is its priority."""

    query = serializers.CharField(max_length=MAX_ID_BYTES)
    document = serializers.CharField(max_length=MAX_ID_BYTES)


class NewCandidateListSerializer(serializers.Serializer):
    """A list in its order, the most worth judging first; `origin` says how it came about."""

    name = serializers.CharField(max_length=120)
    origin = serializers.CharField(max_length=200, required=False, default="the API")
    rows = CandidateSerializer(many=True, max_length=MOST_DOCUMENTS, allow_empty=False)
