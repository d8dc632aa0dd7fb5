"""Every measure there is: its function, what the function asks of a query, what its name may hold.

`registry` finds a measure by name, `trec_names` knows those of trec_eval.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import repeat
from math import exp, fsum, inf, isnan, log, nan
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from benchwright.errors import MeasureParameterError
from benchwright.measures import average_precision, gain, rank_biased, reciprocal_rank, user_models
from benchwright.measures import average_precision as interpolated
from benchwright.measures import gain as gain_by_level
from benchwright.measures import incomplete as bpref
from benchwright.measures import incomplete as judged
from benchwright.measures import rank_biased as compatibility
from benchwright.measures import reciprocal_rank as expected_reciprocal_rank
from benchwright.measures import sets as counts
from benchwright.measures import sets as set_at_cutoff
from benchwright.measures import sets as whole_set
from benchwright.measures.columns import Columns
from benchwright.measures.trec_table import trec_name, written_number
from benchwright.reading.hits import Judged, QueryHits

AnyHits = QueryHits[Any]
OptionValue = int | float | str | bool | None | tuple[Any, ...]
Options = Mapping[str, OptionValue]
Aggregation = Literal["mean", "sum", "geometric"]

SMALLEST_IN_GEOMETRIC_MEAN = 0.00001
"""What stands for a value below it, or one query with 0 would make the mean 0; as in trec_eval."""


class Measure(NamedTuple):
    """One measure with its parameters; `str()` is its canonical name, which parses to itself.

    `options` holds (name, value) of those that are not the family's default, in the family's order.
    The cutoff is a rank, or for `IPrec` and `Rprec_mult` a share.
    """

    family: str
    cutoff: int | float | None = None
    options: tuple[tuple[str, OptionValue], ...] = ()

    def __str__(self) -> str:
        options = ",".join(f"{name}={_written(value)}" for name, value in self.options)
        inside = f"({options})" if options else ""
        return f"{self.family}{inside}" + (f"@{self.cutoff}" if self.cutoff is not None else "")

    def option(self, name: str) -> Any:
        """What the option is set to, or the family's default."""
        return dict(self.options).get(name, FAMILIES[self.family].options.get(name))

    @property
    def rel(self) -> int:
        """The lowest grade that is relevant; 1 where the measure takes grades as they are."""
        return self.option("rel") or 1

    @property
    def aggregation(self) -> Aggregation:
        """How one value is made of those of all queries."""
        return FAMILIES[self.family].aggregation

    @property
    def is_total(self) -> bool:
        """Whether queries are added up, as counts are, instead of averaged."""
        return self.aggregation == "sum"

    @property
    def span(self) -> tuple[float, float]:
        """The lowest and the highest value a query can have.

        Gains below 0 can take a measure of gains out of what its family has.
        """
        listed = [gain for _, gain in self.option("gains") or ()]
        return (-inf, inf) if min(listed, default=0) < 0 else FAMILIES[self.family].span

    @property
    def is_monotone(self) -> bool:
        """Whether a higher grade of a document retrieved never lowers the value.

        So of P, RR, Success, DCG, RBP; not where the best there could be, or the number of relevant
        documents, grows with it, as in nDCG, AP and R. A list without its unjudged documents grows
        with every judgment, so it is none either.
        """
        listed = [grade for grade, _ in self.option("gains") or ()]
        is_monotone = FAMILIES[self.family].is_monotone and not self.option("judged_only")
        return is_monotone and self.rises_to(max(listed, default=0))

    def rises_to(self, top_grade: int) -> bool:
        """Whether no grade from 0 up to this one has a lower gain than one below it."""
        gains = dict(self.option("gains") or ())
        near = {max(grade + step, 0) for grade in (0, *gains) for step in (-1, 0, 1)}
        worth = [
            gains.get(grade, grade) for grade in sorted({*near, top_grade}) if grade <= top_grade
        ]
        return worth == sorted(worth)

    @property
    def trec_name(self) -> str | None:
        """What trec_eval prints it as, or None where it has no such measure or takes it from flags.

        Examples
        --------
        >>> Measure("nDCG", 10).trec_name, Measure("AP", None, (("rel", 2),)).trec_name
        ('ndcg_cut_10', None)
        """
        return trec_name(self.family, self.cutoff, self.options, self.option("p"))

    def with_options(self, changes: Mapping[str, OptionValue]) -> "Measure":
        """The measure with these options, as far as its family takes them.

        A measure that takes grades as they are, such as RBP, gets no `rel`.

        Examples
        --------
        >>> str(Measure("AP", 10).with_options({"rel": 2, "p": 0.5}))
        'AP(rel=2)@10'
        """
        default = FAMILIES[self.family].options
        options = {**default, **dict(self.options)}
        for name, value in changes.items():
            if name in options and not (name == "rel" and default["rel"] is None):
                options[name] = value
        changed = [(name, value) for name, value in options.items() if value != default[name]]
        return Measure(self.family, self.cutoff, tuple(changed))

    def value(self, query: AnyHits, grades: Judged, *, top_grade: int | None = None) -> float:
        """The measure of one query; NaN where it is undefined.

        `top_grade` is the highest grade of the scale; by default the highest of this query.
        """
        if top_grade is None:
            top_grade = max(grades.grades, default=0)
        return self.values(Columns([query], [grades]), top_grade=top_grade)[0]

    def values(self, columns: Columns, *, top_grade: int) -> list[float]:
        """The measure of each query; NaN where it is undefined."""
        needed = (columns.get(need, self.option) for need in FAMILIES[self.family].needs)
        return list(map(self.bound(top_grade), *needed))

    def bound(self, top_grade: int) -> Callable[..., float]:
        """The family's function with the parameters of this measure."""
        function = FAMILIES[self.family].function
        defaults: Mapping[str, Any] = getattr(function, "__kwdefaults__", None) or {}
        parameters = {
            name: value
            for name, value in self.parameters(top_grade).items()
            if name not in defaults or defaults[name] != value
        }
        # Called once a query: quicker without what the function takes as given anyway.
        return partial(function, **parameters) if parameters else function

    def parameters(self, top_grade: int) -> dict[str, Any]:
        """What the family's function takes by name."""
        family = FAMILIES[self.family]
        if family.cutoff == "needed" and self.cutoff is None:
            reason = "has no cutoff; expected one. Write it after an @, such as @10."
            raise MeasureParameterError(name=str(self), reason=reason)
        parameters: dict[str, Any] = {**family.options, **dict(self.options)}
        parameters.pop("judged_only", None)
        if parameters.get("gains"):
            parameters["gains"] = dict(parameters["gains"])
        if family.cutoff != "none":
            parameters[family.cutoff_as] = self.cutoff
        if family.uses_scale:
            # A scale without a grade above 0 still has room for one.
            parameters["top_grade"] = parameters.pop("max_rel") or max(top_grade, 1)
        return parameters

    def over_all(self, values: Sequence[float], weights: Sequence[float] | None = None) -> float:
        """One value for all queries; those that are undefined are left out. NaN for none.

        `weights` are of the queries; a sum is not weighted. Equal weights are no weights.
        """
        if weights is not None and all(weight == weights[0] for weight in weights):
            weights = None
        if self.aggregation == "sum":
            return fsum(value for value in values if not isnan(value))
        if self.aggregation == "mean" and weights is None:
            total = fsum(values)
            if values and not isnan(total):
                return total / len(values)
        counted = [
            (value, weight)
            for value, weight in zip(values, weights or repeat(1.0), strict=weights is not None)
            if not isnan(value)
        ]
        total = fsum([weight for _, weight in counted])
        if not total:
            return nan
        if self.aggregation == "geometric":
            smallest = SMALLEST_IN_GEOMETRIC_MEAN
            return exp(fsum([log(max(v, smallest)) * weight for v, weight in counted]) / total)
        return fsum([value * weight for value, weight in counted]) / total


class Family(NamedTuple):
    """How measures of one name are computed, and what their names may hold.

    `needs` names the columns (see `columns`) that the function takes, in its order; `options` the
    parameters it takes by name, with their defaults. `max_rel` is given to the function as
    `top_grade`, and `judged_only` changes the columns instead. `is_cost` says that less is better.
    """

    function: Callable[..., float]
    needs: tuple[str, ...]
    cutoff: Literal["needed", "allowed", "none"] = "none"
    options: Options = MappingProxyType({})
    aggregation: Aggregation = "mean"
    is_monotone: bool = False
    uses_scale: bool = False
    cutoff_as: str = "cutoff"
    aliases: tuple[str, ...] = ()
    span: tuple[float, float] = (0.0, 1.0)
    is_cost: bool = False


def _written(value: OptionValue) -> str:
    """An option's value as it is parsed: `{1:1,2:3}`, `[0.5,1.0]`, `'log2'`, `2`."""
    if not isinstance(value, tuple):
        return repr(value)
    if value and isinstance(value[0], tuple):
        return "{" + ",".join(f"{grade}:{written_number(gain)}" for grade, gain in value) + "}"
    return "[" + ",".join(written_number(number) for number in value) + "]"


_REL: Options = MappingProxyType({"rel": 1})
_LIST: Options = MappingProxyType({"rel": 1, "judged_only": False})
_GAIN: Options = MappingProxyType({"dcg": "log2", "gains": None, "judged_only": False})
_BEST: Options = MappingProxyType({"dcg": "log2", "gains": None})
_LEVELS: Options = MappingProxyType({"gains": None})
_F: Options = MappingProxyType({"beta": 1.0, "rel": 1, "judged_only": False})
_ERR: Options = MappingProxyType({"max_rel": None, "judged_only": False})
_RBP: Options = MappingProxyType({"rel": None, "p": 0.8, "max_rel": None, "judged_only": False})
_READER: Options = MappingProxyType({"min_rel": 0, "max_rel": None, "judged_only": False})
_WANTS: Options = MappingProxyType({"T": 1.0, **_READER})
_PATIENT: Options = MappingProxyType({"p": 0.9, **_READER})
_COMPAT: Options = MappingProxyType({"p": 0.95, "normalize": True, "judged_only": False})
_SET_P: Options = MappingProxyType({"rel": 1, "relative": False, "judged_only": False})
_AT: Options = MappingProxyType({"at": interpolated.ELEVEN, "rel": 1, "judged_only": False})
_UTILITY: Options = MappingProxyType({"weights": (1.0, -1.0, 0.0, 0.0), "n_documents": 0, "rel": 1})

_HITS = ("hits",)
_RELEVANT = ("hits", "n_relevant")
_JUDGED = ("judged_hits",)
_JUDGED_OF_RETRIEVED = ("judged_hits", "n_retrieved")
_SET = ("hits", "n_relevant", "n_retrieved")
_IDEAL = ("hits", "ideal")
_BPREF = ("judged_hits", "n_relevant", "n_nonrelevant")

_ap = average_precision.average_precision
_iprec = interpolated.interpolated_precision
_rprec = set_at_cutoff.r_precision

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "nDCG": Family(gain.ndcg, _IDEAL, "allowed", _GAIN),
        "DCG": Family(
            gain.discounted_gain, _HITS, "allowed", _GAIN, is_monotone=True, span=(0, inf)
        ),
        "IDCG": Family(gain.ideal_gain, ("ideal",), "allowed", _BEST, span=(0, inf)),
        "AP": Family(_ap, _RELEVANT, "allowed", _LIST, aliases=("MAP",)),
        "RR": Family(
            reciprocal_rank.reciprocal_rank,
            _HITS,
            "allowed",
            _LIST,
            is_monotone=True,
            aliases=("MRR",),
        ),
        "P": Family(
            set_at_cutoff.precision,
            _HITS,
            "needed",
            _LIST,
            is_monotone=True,
            aliases=("Precision",),
        ),
        "R": Family(set_at_cutoff.recall, _RELEVANT, "needed", _LIST, aliases=("Recall",)),
        "R_cap": Family(
            set_at_cutoff.capped_recall, _RELEVANT, "needed", _LIST, aliases=("Recall_cap",)
        ),
        "F": Family(set_at_cutoff.f_measure, _RELEVANT, "needed", _F, aliases=("F1",)),
        "Success": Family(
            set_at_cutoff.success,
            _HITS,
            "needed",
            _LIST,
            is_monotone=True,
            aliases=("hit_rate", "HitRate"),
        ),
        "Rprec": Family(_rprec, _RELEVANT, "none", _LIST, aliases=("r-precision",)),
        "Rprec_mult": Family(_rprec, _RELEVANT, "needed", _LIST, cutoff_as="multiple"),
        "bpref": Family(bpref.bpref, _BPREF, "none", _REL),
        "infAP": Family(average_precision.inferred_ap, ("judged_hits", "n_relevant"), "none", _REL),
        "IPrec": Family(_iprec, _RELEVANT, "needed", _LIST, cutoff_as="recall"),
        "11pt_avg": Family(interpolated.mean_interpolated_precision, _RELEVANT, "none", _AT),
        "RBP": Family(rank_biased.rbp, _HITS, "allowed", _RBP, is_monotone=True, uses_scale=True),
        "RBP_res": Family(rank_biased.rbp_residual, _JUDGED, "allowed", {"p": 0.8}, is_cost=True),
        "rbp": Family(rank_biased.trec_rbp, ("hits", "top_of_query"), "none", {"p": 0.9}),
        "rbp_resid": Family(
            rank_biased.trec_rbp_residual,
            _JUDGED_OF_RETRIEVED,
            "none",
            {"p": 0.9},
            is_cost=True,
        ),
        "ERR": Family(expected_reciprocal_rank.err, _HITS, "allowed", _ERR, uses_scale=True),
        "nERR": Family(expected_reciprocal_rank.nerr, _IDEAL, "allowed", _ERR, uses_scale=True),
        "SDCG": Family(
            user_models.sdcg, _HITS, "needed", _READER, is_monotone=True, uses_scale=True
        ),
        "BPM": Family(user_models.bpm, _HITS, "needed", _WANTS, uses_scale=True),
        "INSQ": Family(user_models.insq, _HITS, "none", _WANTS, is_monotone=True, uses_scale=True),
        "INST": Family(user_models.inst, _HITS, "none", _WANTS, uses_scale=True),
        "NERR8": Family(user_models.nerr8, _HITS, "needed", _READER, uses_scale=True),
        "NERR9": Family(user_models.nerr9, _HITS, "needed", _READER, uses_scale=True),
        "NERR10": Family(user_models.nerr10, _HITS, "none", _PATIENT, uses_scale=True),
        "NERR11": Family(user_models.nerr11, _HITS, "none", _WANTS, uses_scale=True),
        "Compat": Family(
            compatibility.compatibility, ("hits", "ideal", "n_retrieved"), "none", _COMPAT
        ),
        "GMAP": Family(_ap, _RELEVANT, "none", _REL, aggregation="geometric"),
        "Accuracy": Family(bpref.accuracy, ("hits", "n_retrieved"), "allowed", _LIST),
        "GMbpref": Family(bpref.bpref, _BPREF, "none", _REL, aggregation="geometric"),
        "SetP": Family(whole_set.set_precision, _SET, "none", _SET_P),
        "SetR": Family(whole_set.set_recall, _RELEVANT, "none", _LIST),
        "SetF": Family(whole_set.set_f, _SET, "none", _F),
        "SetAP": Family(whole_set.set_ap, _SET, "none", _LIST),
        "utility": Family(whole_set.utility, _SET, "none", _UTILITY, span=(-inf, inf)),
        "G": Family(gain_by_level.graded_g, _IDEAL, "none", _LEVELS),
        "binG": Family(gain_by_level.binary_g, _RELEVANT, "none", _REL),
        "ndcg_rel": Family(gain_by_level.ndcg_at_relevant, _IDEAL, "none", _LEVELS),
        "Rndcg": Family(
            gain_by_level.ndcg_at_levels,
            ("hits", "ideal", "n_retrieved", "n_relevant"),
            "none",
            {"gains": None, "rel": 1},
        ),
        "yaap": Family(average_precision.log_odds_of_ap, _RELEVANT, "none", _REL, span=(-inf, inf)),
        "Judged": Family(judged.judged, _JUDGED_OF_RETRIEVED, "allowed"),
        "Hole": Family(judged.hole, _JUDGED_OF_RETRIEVED, "allowed", is_cost=True),
        "unj": Family(judged.unjudged, _JUDGED_OF_RETRIEVED, "needed", is_cost=True),
        "NumRet": Family(
            counts.n_documents_retrieved, ("n_retrieved",), "none", aggregation="sum", span=(0, inf)
        ),
        "NumRel": Family(
            counts.n_documents_relevant,
            ("n_relevant",),
            "none",
            _REL,
            aggregation="sum",
            span=(0, inf),
        ),
        "NumRelRet": Family(
            counts.n_relevant_retrieved, _HITS, "none", _REL, aggregation="sum", span=(0, inf)
        ),
        "NumNonrelRet": Family(
            counts.n_nonrelevant_retrieved, _JUDGED, "none", _REL, aggregation="sum", span=(0, inf)
        ),
        "NumUnjudgedRet": Family(
            counts.n_unjudged_retrieved,
            _JUDGED_OF_RETRIEVED,
            "none",
            aggregation="sum",
            span=(0, inf),
        ),
        "NumQ": Family(
            counts.n_queries, ("n_retrieved",), "none", aggregation="sum", span=(0, inf)
        ),
    }
)
