import pytest
from django.urls import reverse

from annotation.judging.protocol.errors import NothingUnjudgedError
from annotation.models import Pool, PoolEntry, Slot
from annotation.pools.services import pooling
from annotation.pools.services.planning import Plan, Sharing, planned_pool
from annotation.pools.services.topping_up import unjudged_in_top
from benchmarks_app.collections.services.candidates import make_candidate_list
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Document, DocumentContent, Job, QueryDraw, Run
from benchmarks_app.people.services.forgetting import delete_person
from benchmarks_app.queries.services import draw_families
from benchwright.corpora.store import StoredDocument
from benchwright.ids import content_hash
from benchwright.pools import Recipe, Stratum, recipe_of
from benchwright.pools.errors import PoolRecipeError
from tests import factories
from tests.annotation.making import judge

pytestmark = pytest.mark.django_db
BM25 = """
q1 Q0 a 1 9.0 bm25
q1 Q0 b 2 8.0 bm25
q1 Q0 c 3 7.0 bm25
q2 Q0 a 1 5.0 bm25
"""
TFIDF = """
q1 Q0 b 1 0.9 tfidf
q1 Q0 d 2 0.8 tfidf
q2 Q0 e 1 0.7 tfidf
"""


def rebuilt(pool: Pool):
    """The pool made anew from what is stored of it."""
    plan = Plan(
        recipe=recipe_of(pool.strategy, pool.order, pool.seed, pool.parameters),
        run_keys=tuple(pool.pool_runs.values_list("run", flat=True)),
        candidates=pool.candidate_list_id,
        manual=tuple((qid, docid) for qid, docid in pool.parameters.get("manual", ())),
        as_of=pool.parameters.get("as_of", 0),
    )
    return planned_pool(pool.benchmark, plan).table


@pytest.fixture
def runs(benchmark):
    factories.query(benchmark, "q1")
    factories.query(benchmark, "q2")
    return [
        factories.run(benchmark, BM25, name="bm25"),
        factories.run(benchmark, TFIDF, name="tfidf"),
    ]


@pytest.fixture
def texts(monkeypatch):
    """The corpus holds a to e."""
    known = {
        docid: StoredDocument(docid, f"title {docid}", f"text {docid}", "{}") for docid in "abcde"
    }
    text = "annotation.pools.services.pooling"
    monkeypatch.setattr(
        f"{text}.benchmark_documents",
        lambda _, docids: {docid: known[docid] for docid in docids if docid in known},
    )
    monkeypatch.setattr(f"{text}.unknown_documents", lambda _, docids: set(docids) - known.keys())
    return known


@pytest.fixture
def build(benchmark, owner, runs, do_jobs):
    """A function that builds a pool of both runs and returns its finished job."""

    def building(name="top 2", **options) -> Job:
        options = {"depth": 2, "seed": 7, "runs": runs, **options}
        arguments = pooling.pool_arguments(benchmark=benchmark, name=name, **options)
        pooling.jobs.start(benchmark=benchmark, user=owner, **arguments)
        return do_jobs()[-1]

    return building


def test_the_pool_is_the_union_of_the_first_documents(build, texts):
    job = build()

    entries = PoolEntry.objects.filter(pool_id=job.result["pool"])
    pairs = set(entries.values_list("query__qid", "document__docid"))
    assert pairs == {("q1", "a"), ("q1", "b"), ("q1", "d"), ("q2", "a"), ("q2", "e")}


def test_an_entry_keeps_who_found_it_and_how_high(build, texts):
    build()

    entry = PoolEntry.objects.get(query__qid="q1", document__docid="b")
    assert entry.contributors == {"bm25": 2, "tfidf": 1}
    assert entry.best_rank == 1


def test_better_ranks_stand_earlier_in_a_querys_queue(build, texts):
    build()

    of_query = PoolEntry.objects.filter(query__qid="q1").order_by("priority")
    assert [entry.best_rank for entry in of_query] == [1, 1, 2]


def test_each_document_has_as_many_slots_as_people_are_wanted(build, texts):
    build(overlap=2)

    assert Slot.objects.count() == 10
    first, second = (Slot.objects.filter(number=number) for number in (1, 2))
    last_first = first.order_by("-queue_position")[0].queue_position
    assert last_first < second.order_by("queue_position")[0].queue_position


def test_the_numbers_of_slots_do_not_tell_the_queue(build, texts, benchmark):
    """A token holds the slot's number; in queue order it would tell how high a document ranked."""
    lines = "\n".join(f"q1 Q0 doc{n} {n} {100 - n} long" for n in range(1, 51))
    texts |= {f"doc{n}": StoredDocument(f"doc{n}", "", "text", "{}") for n in range(1, 51)}
    build(runs=[factories.run(benchmark, lines, name="long")], depth=50)

    numbers = list(Slot.objects.order_by("queue_position").values_list("pk", flat=True))
    assert numbers != sorted(numbers)


def test_the_texts_of_pooled_documents_are_stored_with_a_hash(build, texts):
    build()

    content = DocumentContent.objects.get(document__docid="a")
    assert (content.title, content.text) == ("title a", "text a")
    assert content.content_hash == content_hash("title a", "text a")
    assert not Document.objects.filter(docid="c").exists()


def test_a_changed_text_is_a_further_row(build, texts):
    build()
    texts["a"] = StoredDocument("a", "title a", "another text", "{}")

    build(name="again")

    assert DocumentContent.objects.filter(document__docid="a").count() == 2
    assert DocumentContent.objects.filter(document__docid="b").count() == 1


def test_a_corpus_of_ids_is_pooled_without_texts(build):
    assert build().state == "done"

    assert Document.objects.filter(docid="a").exists()
    assert not DocumentContent.objects.exists()


def test_the_same_inputs_give_an_equal_digest(build, texts):
    assert build().result["digest"] == build(name="again").result["digest"]


@pytest.mark.parametrize("change", [{"depth": 1}, {"seed": 8}])
def test_other_inputs_give_another_digest(build, texts, change):
    assert build().result["digest"] != build(name="other", **change).result["digest"]


def test_the_statistics_say_what_each_run_brought(build, texts):
    statistics = Pool.objects.get(pk=build().result["pool"]).statistics

    assert statistics["runs"] == [
        {"run": "bm25", "n": 3, "n_unique": 2},
        {"run": "tfidf", "n": 3, "n_unique": 2},
    ]
    assert statistics["per_query"] == {"min": 2, "median": 2.5, "max": 3}
    (pair,) = statistics["overlaps"]
    assert (pair["a"], pair["b"], pair["n_shared"], pair["jaccard"]) == ("bm25", "tfidf", 1, 0.2)
    assert statistics["hours"] == pytest.approx(5 * 20 / 3600)


def test_the_runs_know_how_deep_they_were_pooled(build, texts, runs):
    build()
    build(name="shallow", depth=1)

    assert set(Run.objects.values_list("pooled_depth", flat=True)) == {2}


def test_a_query_the_benchmark_lacks_is_not_pooled(build, texts, benchmark):
    extra = factories.run(benchmark, "q9 Q0 a 1 1.0 x\nq1 Q0 a 1 1.0 x", name="extra")

    job = build(runs=[extra])

    assert job.result["n_entries"] == 1


def test_runs_of_other_queries_build_no_pool(build, texts, benchmark):
    job = build(runs=[factories.run(benchmark, "q9 Q0 a 1 1.0 x", name="stranger")])

    assert job.state == "failed"
    assert "None of the 1 runs has a document" in job.error


def test_a_document_the_corpus_lacks_is_refused_with_its_run(build, texts):
    del texts["d"]

    job = build()

    assert job.state == "failed"
    assert "1 documents that the runs rank are not in the corpus" in job.error
    assert "'d' (run tfidf, query q1, rank 2)" in job.error
    assert not Pool.objects.exists()
    assert not Document.objects.exists()


def test_an_attempt_that_died_leaves_nothing(build, texts, monkeypatch):
    def die(*_):
        raise RuntimeError("power cut")

    monkeypatch.setattr(pooling, "_stage_slots", die)

    assert build().state == "failed"
    assert not Pool.objects.exists()
    assert not PoolEntry.objects.exists()


def test_a_pool_is_unseen_until_it_is_whole(build, texts, monkeypatch):
    seen = []
    stage = pooling._stage_slots

    def look(*staged):
        n_made = stage(*staged)
        seen.append(Pool.objects.built().count())
        return n_made

    monkeypatch.setattr(pooling, "_stage_slots", look)
    build()

    assert seen == [0]
    assert Pool.objects.built().count() == 1


def test_a_second_pool_of_one_name_is_refused(build, texts):
    build()

    with pytest.raises(pooling.PoolNameTakenError, match="named 'top 2'"):
        build()


def test_a_pool_needs_a_run(benchmark):
    with pytest.raises(pooling.PoolRunsError, match="No run is chosen"):
        pooling.pool_arguments(benchmark=benchmark, name="none", runs=[], depth=2)


def test_a_run_of_another_benchmark_is_refused(benchmark):
    other = factories.benchmark()
    foreign = factories.run(other, BM25)

    with pytest.raises(pooling.PoolRunsError, match="another benchmark"):
        pooling.pool_arguments(benchmark=benchmark, name="x", runs=[foreign], depth=2)


def test_the_command_prints_the_digest(build, texts, benchmark, owner, capsys):
    from django.core.management import call_command

    digest = build().result["digest"]
    call_command(
        "build_pool", benchmark.slug, runs="bm25,tfidf", depth=2, seed=7, name="by command"
    )

    printed = capsys.readouterr().out
    assert "5 documents to judge, seed 7" in printed
    assert f"digest {digest}" in printed


def test_the_command_takes_every_part_of_a_recipe(build, texts, benchmark, owner, runs):
    from django.core.management import CommandError, call_command

    options = {"strategy": "layered", "budget": 2, "order": "rrf", "control": 0.5}
    call_command("build_pool", benchmark.slug, runs="all", double_share=0.5, **options)
    record = Pool.objects.get(name="layered")
    assert (record.order, record.parameters["budget"], record.double_share) == ("rrf", 2, 0.5)
    with pytest.raises(CommandError, match=r"No list 'x' in stdlib. There are: none yet"):
        call_command("build_pool", benchmark.slug, strategy="top-up", candidates="x")


def test_the_command_names_a_run_that_is_not_there(runs, benchmark, owner):
    from django.core.management import CommandError, call_command

    with pytest.raises(CommandError, match=r"No run 'bm26' in stdlib. There are: bm25, tfidf"):
        call_command("build_pool", benchmark.slug, runs="bm26")


def test_the_command_takes_a_run_with_a_comma_in_its_name(build, texts, benchmark, owner):
    from django.core.management import call_command

    build()
    tuned = factories.run(benchmark, BM25, name="bm25(k1=0.9,b=0.4)")
    call_command("build_pool", benchmark.slug, runs=f"{tuned.name}, tfidf", name="tuned")

    pooled = Pool.objects.get(name="tuned").runs.values_list("name", flat=True)
    assert set(pooled) == {tuned.name, "tfidf"}


# What a pool may be besides the first ranks of its runs


def built(build, **options):
    """A pool of a recipe, and its entries by query and document."""
    name = options.pop("name", "special")
    job = build(name=name, **options)
    assert job.state == "done", job.error
    record = Pool.objects.get(pk=job.result["pool"])
    return record, {
        (entry.query.qid, entry.document.docid): entry for entry in record.entries.all()
    }


def n_slots(entry):
    return entry.slots.count()


def test_a_budget_a_query_and_a_random_control_keep_their_probabilities(build, texts):
    recipe = Recipe(strategy="layered", depth=2, budget=2, control_share=0.5)

    new_pool, entries = built(build, recipe=recipe)
    origins = sorted(entry.origin for pair, entry in entries.items() if pair[0] == "q1")
    assert origins == ["random", "run", "run"]
    (control,) = [entry for entry in entries.values() if entry.origin == "random"]
    assert (control.query.qid, control.document.docid) == ("q1", "c")
    assert (control.best_rank, control.contributors) == (None, {})
    assert new_pool.parameters["control"] == [0.5, 200, ""]


def test_what_was_judged_is_carried_over_and_not_asked_for_again(build, texts, benchmark, ada):
    built(build, name="before")
    judge(Slot.objects.get(entry__query__qid="q1", entry__document__docid="a"), ada, 1)
    judge(Slot.objects.get(entry__query__qid="q1", entry__document__docid="d"), ada, 0)

    new_pool, entries = built(build, name="after", recipe=Recipe(depth=1, carry=True))
    assert entries["q1", "d"].origin == "carried"
    assert [n_slots(entries["q1", docid]) for docid in "adb"] == [0, 0, 1]
    assert new_pool.n_wanted == new_pool.n_entries - 2
    assert new_pool.statistics["n_without"] == 2


def test_a_label_from_before_counts_where_two_are_wanted(build, texts, ada):
    built(build, name="before")
    judge(Slot.objects.get(entry__query__qid="q1", entry__document__docid="a"), ada, 1)

    _, entries = built(
        build, name="after", recipe=Recipe(depth=1, carry=True), sharing=Sharing(overlap=2)
    )
    assert [n_slots(entries["q1", docid]) for docid in "ab"] == [1, 2]


@pytest.mark.parametrize("overlap", [1, 2])
def test_a_document_with_a_label_from_before_counts_among_the_doubles(build, texts, ada, overlap):
    built(build, name="before")
    judge(Slot.objects.get(entry__query__qid="q1", entry__document__docid="a"), ada, 1)
    recipe = Recipe(depth=1, carry=True)
    plain, _ = built(build, name="plain", recipe=recipe, sharing=Sharing(overlap=overlap))

    sharing = Sharing(overlap=overlap, double_share=1.0)
    doubled, _ = built(build, name="doubled", recipe=recipe, sharing=sharing)

    assert doubled.statistics["n_doubles"] == doubled.n_wanted - plain.n_wanted
    assert doubled.statistics["n_doubles"] == doubled.n_entries


def test_a_share_of_the_documents_gets_a_second_label(build, texts):
    new_pool, _ = built(build, sharing=Sharing(double_share=0.4))

    assert new_pool.n_wanted == 7
    assert Slot.objects.filter(number=2).count() == 2
    assert new_pool.statistics["n_doubles"] == 2
    assert new_pool.statistics["n_labels"] == 7


def test_people_and_settings_are_kept_with_the_pool(build, texts, ada):
    sharing = Sharing(
        repeat_share=0.04, gold_share=0.05, assignment="family-to-one", annotators=(ada.pk,)
    )

    new_pool, _ = built(build, sharing=sharing, recipe=Recipe(depth=2, order="maxmean"))
    assert (new_pool.repeat_share, new_pool.gold_share, new_pool.order) == (0.04, 0.05, "maxmean")
    assert new_pool.assignment == Pool.Assignment.FAMILY_TO_ONE
    assert list(new_pool.annotators.all()) == [ada]


def test_a_document_added_by_hand_is_in_and_one_the_corpus_lacks_is_refused(build, texts):
    _, entries = built(build, manual=[("q2", "d")])

    assert entries["q2", "d"].origin == "manual"
    job = build(name="lacking", manual=[("q2", "nowhere")])
    assert "'nowhere' (query q2)" in job.error


def test_a_top_up_is_the_unjudged_rest_of_a_list_in_its_order(build, texts, benchmark, owner, ada):
    built(build, name="before")
    judge(Slot.objects.get(entry__query__qid="q1", entry__document__docid="b"), ada, 1)
    listed = make_candidate_list(
        benchmark=benchmark,
        rows=[("q2", "c", 3), ("q1", "b", 2), ("q1", "e", 1), ("q1", "a", 9), ("q9", "a", 1)],
        name="worth it",
        origin="a test",
        user=owner,
    )

    new_pool, _ = built(
        build, runs=[], candidates=listed, recipe=Recipe(strategy="top-up", order="listed")
    )
    queue = new_pool.entries.order_by("priority").values_list(
        "query__qid", "document__docid", "origin"
    )
    assert list(queue) == [
        ("q1", "e", "candidate"),
        ("q1", "a", "candidate"),
        ("q2", "c", "candidate"),
    ]
    assert (listed.n_documents, listed.n_queries) == (4, 2)
    assert new_pool.candidate_list == listed


def test_the_unjudged_top_of_a_run_becomes_a_list(build, texts, runs, owner, ada):
    built(build, name="before")
    judge(Slot.objects.get(entry__query__qid="q1", entry__document__docid="b"), ada, 1)

    listed = unjudged_in_top(run=runs[0], depth=3, user=owner)
    assert listed.n_documents == 3
    with pytest.raises(NothingUnjudgedError, match="first 1 of tfidf"):
        judge(Slot.objects.get(entry__query__qid="q2", entry__document__docid="e"), ada, 1)
        unjudged_in_top(run=runs[1], depth=1, user=owner)


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(depth=2),
        Recipe(strategy="layered", depth=2, budget=1, order="rrf", control_share=0.5),
        Recipe(strategy="stratified", strata=(Stratum(1, 1.0), Stratum(3, 0.5)), order="rbp"),
        Recipe(depth=1, carry=True, order="mtf"),
    ],
    ids=["depth-k", "layered", "stratified", "carried"],
)
def test_a_pool_is_made_again_from_what_is_stored_whatever_was_judged_since(
    build, texts, ada, recipe
):
    built(build, name="before")
    judge(Slot.objects.get(entry__query__qid="q1", entry__document__docid="d"), ada, 1)
    new_pool, _ = built(build, recipe=recipe, manual=[("q1", "e")])
    judge(Slot.objects.filter(entry__query__qid="q2").first(), ada, 1)

    again = rebuilt(Pool.objects.get(pk=new_pool.pk))
    assert again.digest == new_pool.digest
    queue = new_pool.entries.order_by("priority").values_list("query__qid", "document__docid")
    assert [entry.pair for entry in again.entries()] == list(queue)


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(depth=1, control_share=1.0, control_run="zelda-q eval", carry=True),
        Recipe(strategy="top-up", order="listed", depth=1),
    ],
    ids=["control", "top-up"],
)
def test_a_run_that_loses_a_person_s_name_is_the_same_run_in_its_pools(
    build, texts, benchmark, owner, recipe
):
    zelda = factories.member(benchmark, "zelda-q", "annotator")
    sent = [factories.run(benchmark, BM25, name=f"{name} eval") for name in ("zelda-q", "Zelda-Q")]
    listed = None
    if recipe.strategy == "top-up":
        rows = [("q2", "c", 3), ("q1", "e", 1)]
        listed = make_candidate_list(
            benchmark=benchmark, rows=rows, name="l", origin="", user=owner
        )
    new_pool, entries = built(
        build, runs=sent, recipe=recipe, candidates=listed, manual=[("q1", "d")]
    )
    added = {"query": benchmark.queries.get(qid="q2"), "document": entries["q1", "d"].document}
    PoolEntry.objects.create(pool=new_pool, origin="known", priority=99, **added)

    delete_person(user=zelda, actor=owner)

    pool = Pool.objects.get(pk=new_pool.pk)
    names = {run.name for run in pool.runs.all()}
    assert len(names) == 2 and not any("zelda" in name.casefold() for name in names)
    results = [set(entry.contributors) for entry in pool.entries.all()]
    assert set().union(*results) == (set() if listed else names)
    assert "zelda" not in f"{pool.parameters} {pool.statistics} {results}".casefold()
    assert {row["run"] for row in pool.statistics["runs"]} == names
    assert pool.digest == rebuilt(pool).digest != new_pool.digest


@pytest.mark.parametrize("step", ["_stage_pool", "_stage_documents", "_stage_slots"])
def test_a_run_that_loses_a_person_s_name_while_a_pool_is_built_has_lost_it_there(
    build, texts, benchmark, owner, monkeypatch, step
):
    zelda = factories.member(benchmark, "zelda-q", "annotator")
    run = factories.run(benchmark, BM25, name="zelda-q eval")
    stage = getattr(pooling, step)

    def forgotten_before(*staged):
        delete_person(user=zelda, actor=owner)
        return stage(*staged)

    monkeypatch.setattr(pooling, step, forgotten_before)
    job = build(runs=[run])

    pool = Pool.objects.get()
    (name,) = (run.name for run in pool.runs.all())
    assert all(set(entry.contributors) == {name} for entry in pool.entries.all())
    assert "zelda" not in f"{pool.parameters} {pool.statistics}".casefold()
    assert job.result["digest"] == pool.digest == rebuilt(pool).digest


def test_a_run_that_is_called_as_a_word_of_the_program_leaves_these_words(
    build, texts, benchmark, owner
):
    """A person called “depth” has a run of that name, and another one called “seconds”."""
    person = factories.member(benchmark, "depth", "annotator")
    runs = [factories.run(benchmark, BM25, name=name) for name in ("depth", "seconds")]
    new_pool, _ = built(build, runs=runs, recipe=Recipe(depth=2, control_share=1.0))

    pseudonym = delete_person(user=person, actor=owner).pseudonym

    pool = Pool.objects.get(pk=new_pool.pk)
    assert pool.parameters == new_pool.parameters | {"runs": sorted([pseudonym, "seconds"])}
    assert pool.statistics.keys() == new_pool.statistics.keys()
    assert pool.statistics["judged_left_out"].keys() == {pseudonym, "seconds"}
    assert pool.digest == rebuilt(pool).digest


def test_a_recipe_whose_parts_do_not_fit_is_refused_before_any_job(benchmark, runs):
    with pytest.raises(PoolRecipeError, match="A layered pool has no budget"):
        pooling.pool_arguments(
            benchmark=benchmark, name="x", runs=runs, recipe=Recipe(strategy="layered")
        )
    with pytest.raises(PoolRecipeError, match="No list is chosen"):
        pooling.pool_arguments(benchmark=benchmark, name="x", recipe=Recipe(strategy="top-up"))


def test_a_pool_can_be_of_the_drawn_queries_alone(benchmark, runs, texts, owner, signed_in):
    for number in range(3, 9):
        factories.query(benchmark, f"q{number}")
    with pytest.raises(PoolRecipeError, match="No queries were drawn"):
        pooling.pool_arguments(benchmark=benchmark, name="early", runs=runs, is_drawn=True)
    draw = draw_families(benchmark=benchmark, n=8, user=owner)
    QueryDraw.objects.filter(pk=draw.pk).update(families=["q2", "q5"])

    arguments = pooling.pool_arguments(benchmark=benchmark, name="drawn", runs=runs, is_drawn=True)
    factories.done(jobs.run_here(benchmark=benchmark, user=owner, **arguments))

    pool = Pool.objects.get(name="drawn")
    pairs = pool.entries.values_list("query__qid", "document__docid")
    assert sorted(pairs) == [("q2", "a"), ("q2", "e")]
    assert pool.parameters["draw"] == draw.pk
    page = signed_in(owner).get(reverse("annotation:pool-new", args=[benchmark.slug]))
    assert "Drawn queries alone" in page.content.decode()
