"""What is searched and graded: corpora with their documents, benchmarks with their grades."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models.people import User
from benchmarks_app.prepared import prepared

MAX_ID_BYTES = 512


class Unit(models.TextChoices):
    PASSAGE = "passage"
    DOCUMENT = "document"
    IMAGE = "image"


class Corpus(models.Model):
    class Kind(models.TextChoices):
        TEXTS = "texts"
        IDS_ONLY = "ids_only", "ids only"

    class TextFormat(models.TextChoices):
        PLAIN = "plain", "plain text"
        MARKDOWN = "markdown", "Markdown"
        HTML = "html", "HTML"

    class LineBreaks(models.TextChoices):
        """What a single line break inside a paragraph of plain text is."""

        AUTO = "auto", "a space where the text was broken by hand, which each text tells"
        JOIN = "join", "a space, always"
        KEEP = "keep", "a line break, always"

    name = models.CharField(max_length=120)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="corpora")
    unit = models.CharField(max_length=16, choices=Unit, default=Unit.DOCUMENT)
    lang = models.CharField(max_length=35, default="en")
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.TEXTS)
    # How a document's text is to be shown; scoring never reads it.
    text_format = models.CharField(max_length=16, choices=TextFormat, default=TextFormat.PLAIN)
    line_breaks = models.CharField(max_length=8, choices=LineBreaks, default=LineBreaks.AUTO)
    # Whether its texts may leave the site with a release; ids, queries and grades always may.
    may_be_passed_on = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "corpora"
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="corpus_name_once_per_owner"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def has_texts(self) -> bool:
        return self.kind == self.Kind.TEXTS


class CorpusVersionQuerySet(models.QuerySet):
    def ready(self) -> Self:
        """Without snapshots that are looked at and not yet taken."""
        return self.filter(state=CorpusVersion.State.READY)


class CorpusVersion(models.Model):
    """One state of a corpus: a Parquet file and its index, written once."""

    class State(models.TextChoices):
        PROPOSED = "proposed"
        READY = "ready"

    corpus = models.ForeignKey(Corpus, models.CASCADE, related_name="versions")
    state = models.CharField(max_length=10, choices=State, default=State.READY)
    number = models.PositiveIntegerField()
    parquet = models.CharField(max_length=255)
    index = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    n_documents = models.PositiveBigIntegerField()
    n_bytes = models.PositiveBigIntegerField(default=0)
    # Of a corpus of passages: how many documents they are of, where the passages name them.
    n_parents = models.PositiveBigIntegerField(default=0)
    snapshot_date = models.DateField(null=True, blank=True)
    # Where it came from; documents added, changed and removed since the version before; how it was
    # cut (max_docs, kept, of how many), if it was; and the keys of its documents' metadata.
    source = models.CharField(max_length=255, blank=True)
    difference = models.JSONField(default=dict, blank=True)
    cut = models.JSONField(default=dict, blank=True)
    metadata_kinds = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = CorpusVersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "number"], name="corpus_version_number_once"),
            models.UniqueConstraint(fields=["corpus", "sha256"], name="corpus_version_bytes_once"),
        ]

    def __str__(self) -> str:
        return f"{self.corpus} v{self.number}"


class CorpusImage(models.Model):
    """An image that documents of a corpus show, kept once under its digest; with a thumbnail."""

    corpus = models.ForeignKey(Corpus, models.CASCADE, related_name="images")
    sha256 = models.CharField(max_length=64)
    stored = models.CharField(max_length=255)
    thumbnail = models.CharField(max_length=255)
    media_type = models.CharField(max_length=16)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    size = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "sha256"], name="corpus_image_once"),
        ]

    def __str__(self) -> str:
        return f"image {self.sha256[:12]}"


class Document(models.Model):
    """A document that a person may look at (it is in a pool); the others stay in Parquet."""

    corpus = models.ForeignKey(Corpus, models.CASCADE, related_name="documents")
    docid = models.CharField(max_length=MAX_ID_BYTES)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "docid"], name="document_docid_once"),
        ]

    def __str__(self) -> str:
        return self.docid


class DocumentContent(models.Model):
    """What a document says; a changed text is a further row, so labels know what was shown."""

    document = models.ForeignKey(Document, models.CASCADE, related_name="contents")
    content_hash = models.CharField(max_length=64)
    title = models.TextField(blank=True)
    text = models.TextField(blank=True)
    lang = models.CharField(max_length=35, blank=True)
    parent_docid = models.CharField(max_length=MAX_ID_BYTES, blank=True)
    first_seen = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["document", "content_hash"], name="content_once"),
        ]

    def __str__(self) -> str:
        return self.title or str(self.document)


class BenchmarkQuerySet(models.QuerySet):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Public ones, and those the user is a member of."""
        if not user.is_authenticated:
            return self.filter(visibility=Benchmark.Visibility.PUBLIC)
        return self.filter(
            Q(visibility=Benchmark.Visibility.PUBLIC)
            | Q(pk__in=models.Subquery(user.memberships.values("benchmark")))
        )


class Benchmark(models.Model):
    class Visibility(models.TextChoices):
        PRIVATE = "private"
        PUBLIC = "public"

    class TieRule(models.TextChoices):
        TREC = "trec", "document id, descending (trec_eval)"
        TREC9 = "trec9", "the same, scores as 32-bit floats (trec_eval up to 9)"

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    corpus = models.ForeignKey(Corpus, models.PROTECT, related_name="benchmarks")
    unit = models.CharField(max_length=16, choices=Unit, default=Unit.DOCUMENT)
    tie_rule = models.CharField(max_length=16, choices=TieRule, default=TieRule.TREC)
    # Splits whose grades only keepers see; their query ids and texts are published.
    hidden_splits = models.JSONField(default=list, blank=True)
    # Keys of the documents' metadata that people who judge see.
    shown_metadata = models.JSONField(default=list, blank=True)
    licence = models.CharField(max_length=120, blank=True)
    citation = models.TextField(blank=True)
    visibility = models.CharField(max_length=16, choices=Visibility, default=Visibility.PRIVATE)
    # Whether other sites may show its boards, as far as anybody may see them.
    may_embed = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    objects = BenchmarkQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("benchmark-detail", args=[self.slug])

    @property
    def current_corpus_version(self) -> CorpusVersion | None:
        return next(iter(_versions_ready(self.corpus_id)), None)


@prepared
def _versions_ready(corpus: int) -> models.QuerySet[CorpusVersion]:
    return CorpusVersion.objects.ready().filter(corpus=corpus).order_by("-number")[:1]


class Grade(models.Model):
    """One step of a benchmark's scale, with the line that tells an annotator what it means."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="grades")
    value = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=60)
    anchor = models.CharField(max_length=200, blank=True)
    is_relevant = models.BooleanField()

    class Meta:
        ordering = ["value"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "value"], name="grade_value_once"),
            models.CheckConstraint(condition=Q(value__lte=9), name="grade_value_is_one_key"),
        ]

    def __str__(self) -> str:
        return f"{self.value} {self.name}"


class Guideline(models.Model):
    """What annotators are asked to do; a change is a new version."""

    MOST_CHARACTERS = 100_000

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "version"], name="guideline_version_once"),
        ]

    def __str__(self) -> str:
        return f"guideline {self.version}"


EVERY_BENCHMARK = 0


class Change(models.Model):
    """What the triggers of `benchmarks_app.changes` count, and nothing else writes.

    The sum of `n` over a benchmark and `EVERY_BENCHMARK` names the state of what its boards read.
    Each change adds a random number: a database that was put back and changed in another way does
    not come to the same sum. On PostgreSQL each transaction has a row of its own, so that nobody
    waits for another; the sweeper folds them into one.
    """

    # No foreign key: what is deleted with a benchmark is counted after it has gone.
    benchmark = models.BigIntegerField()
    writer = models.BigIntegerField(default=0)
    n = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "writer"], name="change_once_per_writer"),
        ]

    def __str__(self) -> str:
        return f"{self.n} of {self.benchmark or 'every benchmark'}"
