"""Making and changing benchmarks."""

from collections.abc import Iterable
from typing import Any

from django.db import IntegrityError, transaction

from benchmarks_app.collections.services import units
from benchmarks_app.common.services import audit
from benchmarks_app.errors import BenchmarkSlugTakenError
from benchmarks_app.models import (
    Benchmark,
    Corpus,
    Grade,
    Guideline,
    Membership,
    Role,
    Unit,
    User,
)
from benchwright.corpora.units import read_unit
from benchwright.ids import LONGEST_NAME

FIRST_GUIDELINE = (
    "Grade how well the document helps with the need behind the query. Judge only what the "
    "document says. If you cannot tell, choose “can't judge” and say why."
)


@transaction.atomic
def create_benchmark(
    *,
    owner: User,
    name: str,
    slug: str,
    scale: list[dict[str, Any]],
    description: str = "",
    corpus_kind: str = Corpus.Kind.TEXTS,
    unit: str = Unit.DOCUMENT,
    lang: str = "en",
    guideline: str = FIRST_GUIDELINE,
    corpus_of: Benchmark | None = None,
    tie_rule: str = Benchmark.TieRule.TREC,
) -> Benchmark:
    """Make a benchmark with its grades and guideline; its maker owns it.

    Its corpus is empty, or that of `corpus_of`, which the caller has found its maker to keep.

    Raises
    ------
    UnknownUnitError
        If there is no such unit.
    UnitTakenError, ParentsMissingError
        If the corpus that is to be shared cannot be measured in it.
    BenchmarkSlugTakenError
        If another has the slug.
    """
    unit = read_unit(unit)
    # Of two that somebody makes at once, the second sees what the first was called.
    User.objects.select_for_update().get(pk=owner.pk)
    corpus = corpus_of.corpus if corpus_of else None
    if corpus is None:
        corpus = Corpus.objects.create(
            name=_free_corpus_name(owner, name), owner=owner, unit=unit, lang=lang, kind=corpus_kind
        )
    else:
        units.refuse_unit(Benchmark(name=name, corpus=corpus, unit=unit))
    benchmark = Benchmark(
        slug=slug,
        name=name,
        description=description,
        corpus=corpus,
        unit=unit,
        # For good: runs are stored in the order of the rule.
        tie_rule=tie_rule,
    )
    try:
        with transaction.atomic():
            benchmark.save()
    except IntegrityError as error:  # somebody else was quicker
        raise BenchmarkSlugTakenError(slug=slug) from error
    Grade.objects.bulk_create(Grade(benchmark=benchmark, **grade) for grade in scale)
    Guideline.objects.create(benchmark=benchmark, version=1, text=guideline)
    Membership.objects.create(benchmark=benchmark, user=owner, role=Role.OWNER)
    audit.record(actor=owner, action="create-benchmark", benchmark=benchmark, target=slug)
    return benchmark


def _free_corpus_name(owner: User, name: str) -> str:
    taken_names = set(Corpus.objects.filter(owner=owner).values_list("name", flat=True))
    endings = ("", *(f" ({n})" for n in range(2, len(taken_names) + 2)))
    candidates = (f"{name[: LONGEST_NAME - len(ending)]}{ending}" for ending in endings)
    return next(candidate for candidate in candidates if candidate not in taken_names)


@transaction.atomic
def change_settings(
    *,
    benchmark: Benchmark,
    actor: User,
    changed: Iterable[str] = (),
    guideline: str = "",
    text_format: str = "",
    line_breaks: str = "",
) -> None:
    """Save the `changed` fields of a benchmark; a changed guideline becomes a new version.

    `text_format` and `line_breaks` are how the documents of its corpus are shown; what is empty
    stays as it is.
    """
    # The others may have been changed since it was read; versions are counted one after the other.
    locked = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    benchmark.save(update_fields=list(changed))
    corpus_fields = {"text_format": text_format, "line_breaks": line_breaks}
    if chosen := {name: value for name, value in corpus_fields.items() if value}:
        Corpus.objects.filter(pk=benchmark.corpus_id).update(**chosen)
    newest = locked.guidelines.order_by("-version").first()
    # As browsers send lines, and as the guideline's own page keeps them.
    text = guideline.replace("\r\n", "\n").strip()
    if text and (newest is None or newest.text not in {text, guideline}):
        Guideline.objects.create(
            benchmark=benchmark, version=newest.version + 1 if newest else 1, text=text
        )
    audit.record(actor=actor, action="change-settings", benchmark=benchmark)
