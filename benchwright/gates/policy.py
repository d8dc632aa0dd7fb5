"""What a candidate must show, said before it is seen: a policy, and the digest that freezes it.

A policy is a JSON object; what it leaves out is as in `DEFAULTS`, but for `guard_rails.worst_rule`:
policies that were written before there was one mean "share", so that is what leaving it out means,
and "share" is not written in the canonical form. A digest goes on meaning what it meant.

Its digest is the SHA-256 of that form: every other field, sorted by name, no spaces, numbers as
Python writes them. So two policies have one digest exactly if they mean the same.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from benchwright.comparison.patterns import condensed_of
from benchwright.errors import ScoringError
from benchwright.gates.errors import PolicyFormatError
from benchwright.ids import is_storable
from benchwright.measures import parse_measure
from benchwright.measures.families import FAMILIES, Measure
from benchwright.recipes import gates
from benchwright.recipes.parameters import Choice, Parameter, ParameterError

UNSAID_RULE = "share"
"""What a policy means that does not say its rule, as those from before it could be chosen."""


@dataclass(frozen=True, slots=True)
class GuardRails:
    """What must not suffer beside the measure itself.

    `measures` must not fall beyond the margin; at most `worst_share` of the queries may lose more
    than `worst_loss`; on `exact_slice` the candidate must not fall behind the lexical run.
    `worst_rule` is "tested" where more than that share blocks only if this pair's own scatter does
    not explain it, "share" where it is a hard limit.
    """

    measures: tuple[str, ...] = ("R@100", "RR@10")
    worst_loss: float = gates.WORST_LOSS.default
    worst_share: float = gates.WORST_SHARE.default
    worst_rule: str = gates.WORST_RULE.default
    exact_slice: str = ""
    lexical: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """From where something about the process keeps a candidate back."""

    submissions: int = gates.SUBMISSIONS.default
    contaminated_share: float = gates.CONTAMINATED_SHARE.default
    stale_share: float = gates.STALE_SHARE.default
    agreement: float = gates.AGREEMENT.default


@dataclass(frozen=True, slots=True)
class Policy:
    """What is compared, by how much, where, and how sure one must be.

    On a site `split` is the part of the release that is looked at, all of it where it is empty.
    """

    baseline: str = ""
    measure: str = "nDCG@10"
    split: str = ""
    goal: str = gates.GOAL.default
    slices: tuple[str, ...] = ()
    margin: float = gates.MARGIN.default
    delta_min: float = gates.DELTA_MIN.default
    alpha: float = gates.ALPHA.default
    labels: str = gates.LABELS.default
    guard_rails: GuardRails = field(default_factory=GuardRails)
    limits: Limits = field(default_factory=Limits)
    smallest_slice: int = gates.SMALLEST_SLICE.default

    @property
    def cutoff(self) -> int:
        """How deep the measure looks; 10 where it says nothing of ranks."""
        cutoff = parse_measure(self.measure).cutoff
        return cutoff if isinstance(cutoff, int) else 10

    @property
    def judged(self) -> str:
        """The measure of how much of that depth is judged."""
        return f"Judged@{self.cutoff}"

    @property
    def measures(self) -> tuple[str, ...]:
        """Everything that both runs must be scored by, the policy's own measure first."""
        return tuple(dict.fromkeys([self.measure, *self.guard_rails.measures, self.judged]))

    @property
    def scored(self) -> tuple[str, ...]:
        """Those, and the gain without unjudged documents, which is only read beside them."""
        condensed = condensed_of([self.measure])
        return self.measures if condensed is None else (*self.measures, condensed)

    def as_dict(self) -> dict[str, Any]:
        """Every field, as JSON has it; `policy_from` reads it back."""
        policy: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return policy

    def frozen(self) -> dict[str, Any]:
        """What its digest is of, and a site stores; `policy_from` reads it back."""
        content = self.as_dict()
        if self.guard_rails.worst_rule == UNSAID_RULE:
            del content["guard_rails"]["worst_rule"]
        return content

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical(self.frozen()).encode()).hexdigest()


DEFAULTS = Policy()


def canonical(content: Mapping[str, Any]) -> str:
    """The one way to write a JSON object down: sorted, without spaces, as ASCII.

    Examples
    --------
    >>> canonical({"b": 0.02, "a": ["head"]})
    '{"a":["head"],"b":0.02}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def read_policy(path: Path) -> Policy:
    """The policy of a JSON file.

    Raises
    ------
    PolicyFormatError
        If it is no JSON object, or one of its fields is not what it must be.
    """
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise PolicyFormatError(
            where=path.name, field="the file", value=f"no JSON ({error})", expected="a JSON object"
        ) from error
    return policy_from(content, where=path.name)


def policy_from(content: Any, *, where: str = "policy") -> Policy:
    """The policy that a JSON object means; raises as `read_policy` does.

    Examples
    --------
    >>> policy_from({"goal": "not_worse", "slices": ["head"]}).slices
    ('head',)
    >>> policy_from({}).guard_rails.worst_rule, DEFAULTS.guard_rails.worst_rule
    ('share', 'tested')
    """
    reader = _Reader(where)
    if not is_storable(content):
        raise PolicyFormatError(
            where=where,
            field="a text",
            value="given U+0000 or half a character",
            expected="neither",
        )
    content = reader.object(content, "the policy", Policy)
    for name, part in (("guard_rails", GuardRails), ("limits", Limits)):
        reader.object(content.get(name, {}), name, part)
    return reader.policy(content)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads fields, and says of one that is wrong where it is and what was expected."""

    where: str

    def policy(self, content: Mapping[str, Any]) -> Policy:
        return Policy(
            baseline=self.text(content, "baseline", DEFAULTS),
            measure=self.measure(content.get("measure", DEFAULTS.measure), "measure"),
            split=self.text(content, "split", DEFAULTS),
            goal=self.read(content, gates.GOAL),
            slices=self.names(content.get("slices", ()), "slices"),
            margin=self.read(content, gates.MARGIN),
            delta_min=self.read(content, gates.DELTA_MIN),
            alpha=self.read(content, gates.ALPHA),
            labels=self.read(content, gates.LABELS),
            guard_rails=self.guard_rails(content.get("guard_rails", {})),
            limits=self.limits(content.get("limits", {})),
            smallest_slice=self.read(content, gates.SMALLEST_SLICE),
        )

    def guard_rails(self, of: Mapping[str, Any]) -> GuardRails:
        usual = DEFAULTS.guard_rails
        names = self.names(of.get("measures", usual.measures), "guard_rails.measures")
        return GuardRails(
            measures=tuple(
                dict.fromkeys(self.measure(name, "guard_rails.measures") for name in names)
            ),
            worst_loss=self.read(of, gates.WORST_LOSS),
            worst_share=self.read(of, gates.WORST_SHARE),
            worst_rule=self.read({"worst_rule": UNSAID_RULE, **of}, gates.WORST_RULE),
            exact_slice=self.text(of, "exact_slice", usual),
            lexical=self.text(of, "lexical", usual),
        )

    def limits(self, of: Mapping[str, Any]) -> Limits:
        return Limits(**{limit.name: self.read(of, limit) for limit in gates.LIMITS})

    def object(self, value: Any, name: str, shape: type) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise self.wrong(name, value, "a JSON object")
        names = [each.name for each in fields(shape)]
        for key in value:
            if key not in names:
                raise self.wrong(name, f"given a field '{key}'", f"only {', '.join(names)}")
        return value

    def text(self, of: Mapping[str, Any], name: str, usual: Any) -> str:
        value = of.get(name, getattr(usual, name))
        if not isinstance(value, str):
            raise self.wrong(name, value, "a text")
        return value.strip()

    def names(self, value: Any, name: str) -> tuple[str, ...]:
        is_list = isinstance(value, (list, tuple))
        if not is_list or not all(isinstance(text, str) and text.strip() for text in value):
            raise self.wrong(name, value, "a list of names")
        return tuple(dict.fromkeys(text.strip() for text in value))

    def read(self, of: Mapping[str, Any], parameter: Parameter) -> Any:
        """The value of a parameter; numbers are no texts in JSON."""
        value = of.get(parameter.name, parameter.default)
        if isinstance(value, str) != isinstance(parameter, Choice):
            raise self.wrong(parameter.name, value, parameter.expected)
        try:
            return parameter.read(value)
        except ParameterError as error:
            raise self.wrong(parameter.name, value, parameter.expected) from error

    def measure(self, name: Any, of: str) -> str:
        """The measure's whole name; it must be a mean over queries of which more is better."""
        try:
            measure: Measure = parse_measure(str(name))
        except ScoringError as error:
            raise self.wrong(of, name, f"a measure ({error})") from error
        if measure.aggregation != "mean":
            raise self.wrong(of, name, "a measure whose mean over queries is compared")
        if FAMILIES[measure.family].is_cost:
            raise self.wrong(of, name, "a measure of which more is better")
        return str(measure)

    def wrong(self, name: str, value: Any, expected: str) -> PolicyFormatError:
        quoted = value if isinstance(value, str) and " " in value else repr(value)
        return PolicyFormatError(where=self.where, field=name, value=quoted, expected=expected)
