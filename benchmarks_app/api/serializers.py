"""The shapes in which the shared nouns leave the API."""

from typing import Any

from rest_framework import serializers

from benchmarks_app.models import Benchmark, CandidateList, Grade, Job, QrelSet


class Id(serializers.IntegerField):
    """The number of an object; one that no database gives is refused."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=2**63 - 1, **options)


class Count(serializers.IntegerField):
    """How many, at least one; more than a column takes is refused."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": 1, "max_value": 2**31 - 1, **options})


class Whole(serializers.IntegerField):
    """A whole number from 0; more than a column takes is refused."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": 0, "max_value": 2**31 - 1, **options})


class GradeValue(serializers.IntegerField):
    """A grade; whether it is on the scale is for the services."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": -(2**15), "max_value": 2**15 - 1, **options})


class Name(serializers.CharField):
    """A name of one line, whose words have one blank between them."""

    def to_internal_value(self, data: Any) -> str:
        name = " ".join(super().to_internal_value(data).split())
        if not name.isprintable():
            reason = "The name holds a control character; remove it."
            raise serializers.ValidationError(reason)
        return name


class GradeSerializer(serializers.ModelSerializer):
    class Meta:
        model = Grade
        fields = ["value", "name", "anchor", "is_relevant"]


class BenchmarkSummarySerializer(serializers.ModelSerializer):
    class Meta:
        model = Benchmark
        fields = ["slug", "name", "description", "unit", "visibility", "created_at"]


class BenchmarkDetailSerializer(serializers.ModelSerializer):
    """A benchmark with its scale and counts; `role` is the caller's own, or null."""

    grades = GradeSerializer(many=True, read_only=True)
    tie_rule = serializers.CharField(read_only=True)
    n_queries = serializers.IntegerField(read_only=True)
    n_documents = serializers.IntegerField(read_only=True, allow_null=True)
    has_texts = serializers.BooleanField(source="corpus.has_texts", read_only=True)
    role = serializers.CharField(read_only=True, allow_null=True)

    class Meta:
        model = Benchmark
        fields = [
            *BenchmarkSummarySerializer.Meta.fields,
            "tie_rule",
            "grades",
            "n_queries",
            "n_documents",
            "has_texts",
            "may_embed",
            "role",
        ]


class ProblemSerializer(serializers.Serializer):
    file = serializers.CharField()
    line = serializers.IntegerField()
    text = serializers.CharField()


class ResultField(serializers.JSONField):
    """What came of a job, without a report: of that its own page tells each person their part."""

    def to_representation(self, value: dict[str, Any]) -> dict[str, Any]:
        return {name: part for name, part in value.items() if name != "report"}


class JobSerializer(serializers.ModelSerializer):
    """Work in the background; `done` of `total` say how far it is, `result` what came of it."""

    benchmark = serializers.SlugRelatedField(slug_field="slug", read_only=True, allow_null=True)
    problems = ProblemSerializer(many=True, read_only=True)
    result = ResultField(read_only=True)

    class Meta:
        model = Job
        fields = [
            "id",
            "kind",
            "title",
            "benchmark",
            "state",
            "done",
            "total",
            "message",
            "error",
            "problems",
            "result",
            "created_at",
            "started_at",
            "finished_at",
        ]


class QrelSetSerializer(serializers.ModelSerializer):
    """A set of qrels, and from which judgments by which rule it was derived."""

    parameters = serializers.JSONField(read_only=True)

    class Meta:
        model = QrelSet
        fields = [
            "id",
            "name",
            "kind",
            "rule",
            "rule_version",
            "parameters",
            "as_of_event",
            "digest",
            "n_qrels",
            "n_queries",
            "n_relevant",
            "unlisted",
            "created_at",
        ]


class QrelMapSerializer(serializers.Serializer):
    """What a new set is beside the one it is mapped from; what is left out stays as it is."""

    name = serializers.CharField(required=False, allow_blank=True, max_length=120, default="")
    grade_map = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="Such as `1=2, 2=3`."
    )
    unlisted = serializers.ChoiceField(choices=QrelSet.Unlisted.choices, required=False)


class CandidateListSerializer(serializers.ModelSerializer):
    """Documents worth judging, in an order; a pool can be made of them."""

    class Meta:
        model = CandidateList
        fields = ["id", "name", "origin", "sha256", "n_documents", "n_queries", "created_at"]
