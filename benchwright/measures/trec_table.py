"""The measures of trec_eval 10, and what each is with us."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

Kind = Literal["value", "count", "run", "string"]
Takes = Literal["", "cutoffs", "pairs", "beta", "at", "weights", "length"]


class TrecMeasure(NamedTuple):
    """One of trec_eval's measures: what it is with us, and how it is printed.

    `takes` says what its parameters are. `defaults` are its cutoffs where none are given.
    """

    family: str
    preset: tuple[tuple[str, Any], ...] = ()
    takes: Takes = ""
    defaults: tuple[int | float, ...] = ()
    kind: Kind = "value"
    is_per_query: bool = True


_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)

TREC_MEASURES: Mapping[str, TrecMeasure] = MappingProxyType(
    {
        "runid": TrecMeasure("", kind="run", is_per_query=False),
        "num_q": TrecMeasure("NumQ", kind="count", is_per_query=False),
        "num_ret": TrecMeasure("NumRet", kind="count"),
        "num_rel": TrecMeasure("NumRel", kind="count"),
        "num_rel_ret": TrecMeasure("NumRelRet", kind="count"),
        "map": TrecMeasure("AP"),
        "gm_map": TrecMeasure("GMAP", is_per_query=False),
        "Rprec": TrecMeasure("Rprec"),
        "bpref": TrecMeasure("bpref"),
        "recip_rank": TrecMeasure("RR"),
        "iprec_at_recall": TrecMeasure("IPrec", (), "cutoffs", _RECALLS),
        "P": TrecMeasure("P", (), "cutoffs", _CUTOFFS),
        "relstring": TrecMeasure("", (), "length", kind="string"),
        "recall": TrecMeasure("R", (), "cutoffs", _CUTOFFS),
        "infAP": TrecMeasure("infAP"),
        "gm_bpref": TrecMeasure("GMbpref", is_per_query=False),
        "Rprec_mult": TrecMeasure("Rprec_mult", (), "cutoffs", _MULTIPLES),
        "utility": TrecMeasure("utility", (), "weights"),
        "11pt_avg": TrecMeasure("11pt_avg", (), "at"),
        "binG": TrecMeasure("binG"),
        "G": TrecMeasure("G", (), "pairs"),
        "dcg": TrecMeasure("DCG", (), "pairs"),
        "ideal_dcg": TrecMeasure("IDCG", (), "pairs"),
        "ndcg": TrecMeasure("nDCG", (), "pairs"),
        "ndcg_rel": TrecMeasure("ndcg_rel", (), "pairs"),
        "Rndcg": TrecMeasure("Rndcg", (), "pairs"),
        "ndcg_cut": TrecMeasure("nDCG", (), "cutoffs", _CUTOFFS),
        "map_cut": TrecMeasure("AP", (), "cutoffs", _CUTOFFS),
        "relative_P": TrecMeasure("R_cap", (), "cutoffs", _CUTOFFS),
        "success": TrecMeasure("Success", (), "cutoffs", (1, 5, 10)),
        "set_P": TrecMeasure("SetP"),
        "set_relative_P": TrecMeasure("SetP", (("relative", True),)),
        "set_recall": TrecMeasure("SetR"),
        "set_map": TrecMeasure("SetAP"),
        "set_F": TrecMeasure("SetF", (), "beta"),
        "num_nonrel_judged_ret": TrecMeasure("NumNonrelRet", kind="count"),
        "num_nonjudged_ret": TrecMeasure("NumUnjudgedRet", kind="count"),
        "yaap": TrecMeasure("yaap"),
        "rbp": TrecMeasure("rbp", (), "pairs"),
        "rbp_resid": TrecMeasure("rbp_resid", (), "pairs"),
        "unj": TrecMeasure("unj", (), "cutoffs", (5, 10, 20)),
    }
)
"""In the order in which trec_eval 10 prints them."""

_OFFICIAL = (
    *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref"),
    *("recip_rank", "iprec_at_recall", "P"),
)
_NOT_IN_ALL_TREC = {"dcg", "ideal_dcg", "num_nonjudged_ret", "yaap"}

NICKNAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "official": _OFFICIAL,
        "all_trec": tuple(name for name in TREC_MEASURES if name not in _NOT_IN_ALL_TREC),
        "set": (
            *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P"),
            *("set_relative_P", "set_recall", "set_map", "set_F"),
        ),
    }
)
"""What `-m official`, `-m all_trec` and `-m set` stand for; those of preferences are not ours."""


def trec_name(
    family: str, cutoff: int | float | None, options: tuple[tuple[str, Any], ...], p: float | None
) -> str | None:
    """What trec_eval prints a measure as; None where it has none, or has it from its flags.

    `options` are those that are not our default, `p` is the persistence of measures that have one.
    """
    for name, measure in TREC_MEASURES.items():
        if measure.family == family and (measure.takes == "cutoffs") == (cutoff is not None):
            if options == measure.preset:
                return name if cutoff is None else f"{name}_{written_cutoff(cutoff)}"
            if suffix := _suffix(measure.takes, dict(options), p):
                return f"{name}_{suffix}"
    return None


def written_cutoff(cutoff: int | float | None) -> str:
    """The cutoff as trec_eval writes it: a rank as it is, a share with two decimals."""
    return f"{cutoff:.2f}" if isinstance(cutoff, float) else str(cutoff)


def written_number(number: float) -> str:
    """The number without a needless fraction, and with every digit that it needs."""
    return str(int(number)) if number == int(number) else repr(number)


def _suffix(takes: Takes, options: dict[str, Any], p: float | None) -> str:
    """What the name says of the options; empty if it cannot."""
    if takes == "pairs" and not options.keys() - {"gains", "p"}:
        gains = [f"{grade}={written_number(gain)}" for grade, gain in options.get("gains") or ()]
        return ",".join([*([] if p is None else [f"p={written_number(p)}"]), *gains])
    if options.keys() != {takes}:
        return ""
    numbers = options[takes] if isinstance(options[takes], tuple) else (options[takes],)
    return ",".join(written_number(number) for number in numbers)
