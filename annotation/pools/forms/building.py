"""The forms that pools and lists of candidates are made with."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotation.common.selectors.ledger import last_event
from annotation.common.selectors.pools import free_pool_name
from annotation.models import Pool
from annotation.pools.services.doubting import families_to_doubt_by
from annotation.pools.services.planning import Sharing
from benchmarks_app.common.forms import ListFileField, has_rows, row_field
from benchmarks_app.common.parameters import form_field, percent_field
from benchmarks_app.models import Benchmark, CandidateList, QrelSet, Run, User
from benchmarks_app.permissions import ALLOWED, Action
from benchmarks_app.queries.selectors import newest_draw
from benchwright.errors import FileProblemsError, Problems
from benchwright.pools import Recipe, Stratum
from benchwright.pools.adaptive import BURN_IN
from benchwright.pools.entries import ENOUGH_DOUBLES
from benchwright.pools.errors import PoolError
from benchwright.qrels.candidates import read_candidates
from benchwright.recipes import pools
from benchwright.recipes import pools as recipes
from benchwright.recipes.parameters import ParameterError

WITHOUT_RUNS = (Pool.Strategy.TOP_UP, Pool.Strategy.MANUAL)
DEFAULT_STRATA = "10:100 50:20 100:5"
MOST_MANUAL_CHARACTERS = 1_000_000
LONGEST_SUGGESTION = 112  # A number fits behind it.


class PoolForm(forms.Form):
    name = forms.CharField(max_length=120)
    # The name that the page proposed: as long as nobody changed it, it follows the other fields.
    suggested = forms.CharField(max_length=120, required=False, widget=forms.HiddenInput)
    strategy = form_field(recipes.STRATEGY, required=True, help_text="")
    runs = forms.ModelMultipleChoiceField(
        Run.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        help_text="Three or more different systems, a lexical one among them.",
        error_messages={"required": "Choose the runs that the pool is made of."},
    )
    depth = form_field(recipes.DEPTH, required=True)
    budget = form_field(recipes.BUDGET)
    measure = form_field(recipes.MEASURE)
    labels = form_field(recipes.LABELS)
    strata = forms.CharField(
        max_length=200,
        required=False,
        initial=DEFAULT_STRATA,
        label="Strata",
        help_text="For the stratified strategy: down to which rank what per cent is drawn.",
    )
    candidates = forms.ModelChoiceField(
        CandidateList.objects.none(),
        required=False,
        label="List of candidates",
        empty_label="none",
        help_text="For a top-up: what of it has no label yet.",
    )
    order = form_field(
        recipes.ORDER,
        choices=[("", "as usual for them"), *recipes.ORDER.choices.items()],
        help_text="People get a query's documents shuffled, whatever the pool's order, but for "
        "those that learn: two give its first five ranks first, and what comes next tells "
        "annotators what systems rank high; most doubtful first goes by people's labels so far, of "
        "30 families or more.",
    )
    control = percent_field(recipes.CONTROL_SHARE, initial=5)
    control_run = forms.ModelChoiceField(
        Run.objects.none(),
        required=False,
        label="Drawn from",
        empty_label="all chosen runs",
        help_text="Best a lexical run.",
    )
    carry = forms.BooleanField(
        required=False,
        initial=True,
        label="Carry over what was judged before",
        help_text="Such documents count in the pool, and nobody judges them again.",
    )
    manual = forms.CharField(
        required=False,
        max_length=MOST_MANUAL_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        label="Also these documents",
        help_text="A line each: query and document, with a blank between.",
    )
    overlap = form_field(recipes.OVERLAP, required=True)
    doubles = percent_field(recipes.DOUBLE_SHARE, initial=10)
    enough_doubles = forms.BooleanField(
        required=False,
        label=f"At least {ENOUGH_DOUBLES} graded by one more, or all where there are fewer",
        help_text="Agreement is known to about 0.08 then, and to 0.12 with 200.",
    )
    repeats = percent_field(recipes.REPEAT_SHARE, initial=4)
    gold = percent_field(recipes.GOLD_SHARE, initial=5)
    assignment = forms.ChoiceField(
        choices=Pool.Assignment.choices,
        initial=Pool.Assignment.ANYBODY,
        label="Wordings of one need",
    )
    annotators = forms.ModelMultipleChoiceField(
        User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Who may judge it",
        help_text="Nobody chosen: everybody who judges in this benchmark.",
    )
    is_drawn = forms.BooleanField(
        required=False,
        label="Drawn queries alone",
        help_text="Those drawn last for people: what a mean corrected by a machine rests on.",
    )
    seconds = form_field(recipes.SECONDS, required=True)
    due_on = form_field(recipes.DUE)
    seed = form_field(recipes.SEED)

    def __init__(
        self,
        data: Any = None,
        *,
        benchmark: Benchmark,
        runs: Any,
        is_preview: bool = False,
        **kwargs: Any,
    ) -> None:
        if data is not None:
            data = data.copy()
            data.setdefault("strategy", Pool.Strategy.DEPTH_K)
            data.setdefault("measure", recipes.MEASURE.default)
            data.setdefault("assignment", Pool.Assignment.ANYBODY)
            if not data.get("name") and data.get("suggested"):
                data["name"] = data["suggested"]
        super().__init__(data, **kwargs)
        self.benchmark, self.is_preview = benchmark, is_preview
        judges = benchmark.memberships.filter(role__in=ALLOWED[Action.JUDGE]).values("user")
        row_field(self, "runs").queryset = row_field(self, "control_run").queryset = runs
        if newest_draw(benchmark) is None:
            del self.fields["is_drawn"]
        row_field(self, "candidates").queryset = benchmark.candidate_lists.order_by("-pk")
        row_field(self, "annotators").queryset = User.objects.filter(pk__in=judges).order_by(
            "username"
        )
        if data is not None:
            self.fields["runs"].required = data["strategy"] not in WITHOUT_RUNS

    def full_clean(self) -> None:
        # A preview needs no name; the field says all the same that a pool does.
        self.fields["name"].required = not self.is_preview
        super().full_clean()
        self.fields["name"].required = True

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if name and name == self.data.get("suggested"):
            return name
        if Pool.objects.built().filter(benchmark=self.benchmark, name=name).exists():
            message = "A pool of this name is in this benchmark already."
            raise ValidationError(message)
        return name

    def clean_strata(self) -> tuple[Stratum, ...]:
        text = self.cleaned_data["strata"] or DEFAULT_STRATA
        try:
            parts = [part.split(":") for part in text.replace(",", " ").split()]
            return tuple(Stratum(int(rank), float(share) / 100) for rank, share in parts)
        except ValueError as error:
            message = f"Write it like {DEFAULT_STRATA}: rank, colon, per cent."
            raise ValidationError(message) from error

    def clean_manual(self) -> tuple[tuple[str, str], ...]:
        lines = self.cleaned_data["manual"].encode().splitlines()
        problems = Problems()
        try:
            rows = list(read_candidates(lines, file="line", problems=problems))
            problems.raise_found()
        except FileProblemsError as error:
            raise ValidationError([str(problem) for problem in error.problems]) from error
        unknown = {qid for qid, _, _ in rows} - set(
            self.benchmark.queries.committed().values_list("qid", flat=True)
        )
        if unknown:
            message = f"There is no query '{min(unknown)}' in this benchmark."
            raise ValidationError(message)
        return tuple((qid, docid) for qid, docid, _ in rows)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        recipe = self.recipe()
        try:
            recipe.check()
            if recipe.order == Pool.Order.DOUBT:
                families_to_doubt_by(self.benchmark, last_event(self.benchmark))
        except (ParameterError, PoolError) as error:
            raise ValidationError(str(error)) from error
        if recipe.strategy == Pool.Strategy.TOP_UP and not cleaned["candidates"]:
            has_lists = has_rows(self, "candidates")
            self.add_error("candidates" if has_lists else None, "Choose a list, or make one first.")
        if recipe.strategy == Pool.Strategy.ESTIMATE and cleaned["manual"]:
            self.add_error("manual", "An estimate has those documents alone that are drawn for it.")
        source = cleaned["control_run"]
        if source and source not in cleaned["runs"]:
            self.add_error("control_run", "Choose one of the pool's runs.")
        if cleaned["name"] == cleaned["suggested"]:
            data: Any = self.data
            cleaned["name"] = data["name"] = data["suggested"] = self.suggestion()
        return cleaned

    def suggestion(self) -> str:
        """A name that says what the pool is made of, and that no other has."""
        cleaned, recipe = self.cleaned_data, self.recipe()
        n_runs = len(cleaned["runs"])
        of_runs = f"of {n_runs} run{'' if n_runs == 1 else 's'}"
        names = {
            Pool.Strategy.DEPTH_K: f"Depth {recipe.depth} {of_runs}",
            Pool.Strategy.LAYERED: f"{recipe.budget} a query {of_runs}",
            Pool.Strategy.STRATIFIED: f"Samples to rank {recipe.reach} {of_runs}",
            Pool.Strategy.TOP_UP: f"top-up: {cleaned['candidates']}",
            Pool.Strategy.MANUAL: "Chosen documents",
            Pool.Strategy.ESTIMATE: f"{recipe.measure.upper()}@{recipe.depth} estimated {of_runs}",
        }
        name = names[Pool.Strategy(recipe.strategy)]
        return free_pool_name(self.benchmark, name[:LONGEST_SUGGESTION])

    def recipe(self) -> Recipe:
        cleaned = self.cleaned_data
        strategy = cleaned["strategy"]
        is_top_up = strategy == Pool.Strategy.TOP_UP
        is_estimate = strategy == Pool.Strategy.ESTIMATE
        usual = Pool.Order.LISTED if is_top_up else Pool.Order.LAYERED
        return Recipe(
            strategy=str(strategy),
            order=str(cleaned["order"] or usual),
            depth=cleaned["depth"],
            budget=cleaned["budget"] if strategy == Pool.Strategy.LAYERED else None,
            measure=cleaned["measure"] or recipes.MEASURE.default,
            labels=cleaned["labels"] if is_estimate else None,
            strata=cleaned["strata"],
            # The page begins with some: only what is drawn for it goes with an estimate.
            control_share=0.0 if is_estimate else share(cleaned["control"]),
            control_run=cleaned["control_run"].name if cleaned["control_run"] else "",
            carry=cleaned["carry"] and not is_top_up,
        )

    def arguments(self) -> dict[str, Any]:
        """What `services.pooling.pool_arguments` takes besides the benchmark."""
        cleaned = self.cleaned_data
        sharing = Sharing(
            overlap=cleaned["overlap"],
            double_share=share(cleaned["doubles"]),
            doubles_at_least=ENOUGH_DOUBLES if cleaned["enough_doubles"] else 0,
            repeat_share=share(cleaned["repeats"]),
            gold_share=share(cleaned["gold"]),
            assignment=cleaned["assignment"],
            annotators=tuple(person.pk for person in cleaned["annotators"]),
        )
        recipe = self.recipe()
        return {
            "name": cleaned["name"],
            "runs": list(cleaned["runs"]) if recipe.reach else [],
            "recipe": recipe,
            "sharing": sharing,
            "seed": cleaned["seed"],
            "seconds": cleaned["seconds"],
            "candidates": cleaned["candidates"] if recipe.strategy == "top-up" else None,
            "manual": cleaned["manual"],
            "due_on": cleaned["due_on"],
            "is_drawn": cleaned.get("is_drawn", False),
        }


def share(percent: Any) -> float:
    return float(percent or 0) / 100


class UnjudgedForm(forms.Form):
    """Which run's first documents are to be judged where they are not."""

    run = forms.ModelChoiceField(Run.objects.none(), empty_label="choose a run")
    depth = form_field(recipes.DEPTH, required=True, help_text="Its first so many of each query.")

    def __init__(self, *args: Any, runs: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row_field(self, "run").queryset = runs


class CandidateUploadForm(forms.Form):
    """A file of documents worth judging."""

    file = ListFileField(
        label="File",
        help_text="A line each: query, document and, if you like, priority (1 comes first), with "
        "tabs or blanks between.",
    )
    name = forms.CharField(
        max_length=120, required=False, help_text="The file's own name if left empty."
    )


class SimulationForm(forms.Form):
    qrel_set = forms.ModelChoiceField(
        QrelSet.objects.none(),
        label="Known grades",
        help_text="The labels that would have come.",
    )
    runs = forms.ModelMultipleChoiceField(
        Run.objects.none(), widget=forms.CheckboxSelectMultiple, help_text="Two or more."
    )
    depth = form_field(
        pools.DEPTH,
        required=True,
        initial=20,
        help_text="Of the pool: each run's first so many.",
    )
    burn_in = forms.IntegerField(
        min_value=0,
        max_value=1000,
        initial=BURN_IN,
        label="Ranks before learning",
        help_text="The orders that learn judge each run's first so many ranks before they begin.",
    )

    def __init__(self, *args: Any, runs: Any, qrel_sets: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row_field(self, "runs").queryset = runs
        row_field(self, "qrel_set").queryset = qrel_sets
