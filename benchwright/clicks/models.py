"""What clicks say of a document: four models, each a value with an interval and its evidence.

Pairs are told apart by the words of the query and the id of the document. All are maximum
likelihood, without smoothing: what has little evidence is left out by `Value.n`, not pulled to a
middle. Pages without a click count: nobody wanted what they showed.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from benchwright.clicks.pages import Page
from benchwright.recipes.clicks import Model
from benchwright.statistics.descriptive import wilson

Pair: TypeAlias = tuple[str, str]
MOST_ROUNDS = 200
CLOSE = 1e-8
TAIL = 0.025


@dataclass(frozen=True, slots=True)
class Value:
    """What a model says of a pair.

    `value` has a 95 % interval: for clicks over expected clicks it begins at 0 and is 1 where it
    was clicked as often as its places are on average; else it is a probability. `n` is how often it
    was shown (expected clicks) or looked at (the others; an expectation where nobody can know),
    `clicks` how often it was clicked.
    """

    value: float
    low: float
    high: float
    n: float
    clicks: int


@dataclass(frozen=True)
class Fitted:
    """Values of all pairs; `priors`: the click-through by position, `continuing`: the gamma."""

    values: dict[Pair, Value]
    n_pages: int
    priors: tuple[float, ...] = ()
    continuing: float | None = None
    n_rounds: int = 0


def fitted(pages: Iterable[Page], model: Model = Model.COEC) -> Fitted:
    """The values of a model, from pages that are gone through once.

    Examples
    --------
    A document that is clicked at rank 2 as often as at rank 1 is worth more there.

    >>> up, down = ("a", "b"), ("b", "a")
    >>> pages = [Page("q", up, (1,)), Page("q", down, (1,)), Page("q", up, (2,))]
    >>> {doc: round(value.value, 3) for (_, doc), value in fitted(pages).values.items()}
    {'a': 0.6, 'b': 1.5}
    """
    return FITS[model](pages)


# --- clicks over expected clicks -----------------------------------------------------------------


def _expected_clicks(pages: Iterable[Page]) -> Fitted:
    """Clicks, over the sum of the click-through of each place it was shown at.

    Zhang and Jones, Comparing click logs and editorial labels for training query rewriting, WWW
    2007 workshop on query log analysis. The interval is Garwood's for a Poisson count over the
    expectation: exact but for the priors, which are the log's own, and never too short by it.
    """
    displays: Counter[int] = Counter()
    clicked: Counter[int] = Counter()
    places: dict[Pair, Counter[int]] = defaultdict(Counter)
    clicks: Counter[Pair] = Counter()
    n_pages = 0
    for page in pages:
        n_pages += 1
        for position, doc in enumerate(page.docs, start=1):
            rank = page.rank(position)
            displays[rank] += 1
            places[page.query, doc][rank] += 1
        for position in page.clicked:
            clicked[page.rank(position)] += 1
            clicks[page.query, page.docs[position - 1]] += 1
    ranks = range(1, max(displays, default=0) + 1)
    priors = tuple(clicked[rank] / max(displays[rank], 1) for rank in ranks)
    values = {}
    for pair, at in places.items():
        expected = sum(n * priors[rank - 1] for rank, n in at.items())
        if expected:
            low, high = garwood(clicks[pair])
            values[pair] = Value(
                clicks[pair] / expected,
                low / expected,
                high / expected,
                at.total(),
                clicks[pair],
            )
    return Fitted(values, n_pages, priors=priors)


def garwood(n: int) -> tuple[float, float]:
    """The exact 95 % interval of the mean of a Poisson count (Garwood, Biometrika 28, 1936).

    Examples
    --------
    >>> [round(end, 4) for end in garwood(3)]
    [0.6187, 8.7673]
    """
    import scipy.special

    low = scipy.special.gammaincinv(n, TAIL) if n else 0.0
    return float(low), float(scipy.special.gammaincinv(n + 1, 1 - TAIL))


# --- the cascade ---------------------------------------------------------------------------------


def _cascade(pages: Iterable[Page]) -> Fitted:
    """The share of looks that end in the first click: people read down until they click.

    Craswell, Zoeter, Taylor and Ramsey, An experimental comparison of click position-bias models,
    WSDM 2008. A page without a click was read to its end; what is after a first click says nothing.
    """
    looks: Counter[Pair] = Counter()
    clicks: Counter[Pair] = Counter()
    n_pages = 0
    for page in pages:
        n_pages += 1
        end = page.clicked[0] if page.clicked else len(page.docs)
        for doc in page.docs[:end]:
            looks[page.query, doc] += 1
        if page.clicked:
            clicks[page.query, page.docs[end - 1]] += 1
    values = {
        pair: Value(clicks[pair] / n, *wilson(clicks[pair], n), n, clicks[pair])
        for pair, n in looks.items()
    }
    return Fitted(values, n_pages)


# --- the dynamic Bayesian network ----------------------------------------------------------------


def _simplified_network(pages: Iterable[Page]) -> Fitted:
    """Attraction times satisfaction, where nobody reads on after their last click.

    Chapelle and Zhang, A dynamic Bayesian network click model for web search ranking, WWW 2009,
    section 3.1 with gamma 1: clicks over looks down to the last click, times the share of clicks
    that were the last. By counting alone, and too high where people leave without being satisfied.
    Each factor's interval is Wilson's at 97.5 %: their product covers 95 % or more.
    """
    looks: Counter[Pair] = Counter()
    clicks: Counter[Pair] = Counter()
    lasts: Counter[Pair] = Counter()
    n_pages = 0
    for page in pages:
        n_pages += 1
        end = page.clicked[-1] if page.clicked else len(page.docs)
        for doc in page.docs[:end]:
            looks[page.query, doc] += 1
        for position in page.clicked:
            clicks[page.query, page.docs[position - 1]] += 1
        if page.clicked:
            lasts[page.query, page.docs[end - 1]] += 1
    values = {pair: _product(clicks[pair], n, lasts[pair]) for pair, n in looks.items()}
    return Fitted(values, n_pages)


def _product(clicks: int, looks: float, satisfied: float) -> Value:
    """The value of attraction clicks/looks times satisfaction satisfied/clicks."""
    low_a, high_a = share_interval(clicks, looks)
    low_s, high_s = share_interval(satisfied, clicks)
    value = satisfied / looks if looks else 0.0
    return Value(value, low_a * low_s, high_a * high_s, looks, clicks)


def share_interval(n: float, of: float) -> tuple[float, float]:
    """Wilson's interval at 97.5 % of a share n / of, which need not be whole; (0, 1) of nothing."""
    if of <= 0:
        return 0.0, 1.0
    z = 2.241402727604947  # of the normal, .9875
    p = min(1.0, n / of)
    middle = (p + z * z / (2 * of)) / (1 + z * z / of)
    half = z * (p * (1 - p) / of + z * z / (4 * of * of)) ** 0.5 / (1 + z * z / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def _network(pages: Iterable[Page]) -> Fitted:
    """The same with people who leave unsatisfied: gamma, attraction and satisfaction by EM.

    Chapelle and Zhang (above), appendix: forward and backward over whether a position is looked at.
    Equal pages are gone through once. The intervals take the expected looks for counted ones and
    gamma for known, and are a little short for it.
    """
    patterns = Counter((page.query, page.docs, page.clicked) for page in pages)
    displays: Counter[Pair] = Counter()
    clicks: Counter[Pair] = Counter()
    for (query, docs, clicked), n in patterns.items():
        for doc in docs:
            displays[query, doc] += n
        for position in clicked:
            clicks[query, docs[position - 1]] += n
    attraction = {pair: (clicks[pair] + 1) / (n + 2) for pair, n in displays.items()}
    satisfaction = dict.fromkeys(displays, 0.5)
    gamma, n_rounds, change = 0.7, 0, 1.0
    sums = _Sums()
    while change > CLOSE and n_rounds < MOST_ROUNDS:
        n_rounds += 1
        sums = _expected(patterns, attraction, satisfaction, gamma)
        change = 0.0
        for pair, n in displays.items():
            a = sums.attracted[pair] / n
            s = sums.satisfied[pair] / clicks[pair] if clicks[pair] else 0.5
            change = max(change, abs(a - attraction[pair]), abs(s - satisfaction[pair]))
            attraction[pair], satisfaction[pair] = a, s
        if sums.could_go_on:
            change = max(change, abs(sums.went_on / sums.could_go_on - gamma))
            gamma = sums.went_on / sums.could_go_on
    values = {}
    for pair in displays:
        low_a, high_a = share_interval(clicks[pair], sums.looked[pair])
        low_s, high_s = share_interval(sums.satisfied[pair], clicks[pair])
        value = attraction[pair] * satisfaction[pair] if clicks[pair] else 0.0
        low, high = min(value, low_a * low_s), max(value, high_a * high_s)
        values[pair] = Value(value, low, high, sums.looked[pair], clicks[pair])
    return Fitted(values, patterns.total(), continuing=gamma, n_rounds=n_rounds)


@dataclass(slots=True)
class _Sums:
    """What is expected of the hidden events of all pages."""

    looked: Counter[Pair] = field(default_factory=Counter)
    attracted: Counter[Pair] = field(default_factory=Counter)
    satisfied: Counter[Pair] = field(default_factory=Counter)
    could_go_on: float = 0.0
    went_on: float = 0.0


def _expected(
    patterns: Mapping[tuple[str, tuple[str, ...], tuple[int, ...]], int],
    attraction: Mapping[Pair, float],
    satisfaction: Mapping[Pair, float],
    gamma: float,
) -> _Sums:
    sums = _Sums()
    for (query, docs, clicked), n in patterns.items():
        pairs = [(query, doc) for doc in docs]
        a, s = [attraction[pair] for pair in pairs], [satisfaction[pair] for pair in pairs]
        for pair, at in zip(pairs, posterior(a, s, gamma, set(clicked)), strict=True):
            sums.looked[pair] += n * at.looked  # type: ignore[assignment] # a counter of shares
            sums.attracted[pair] += n * at.attracted  # type: ignore[assignment]
            sums.satisfied[pair] += n * at.satisfied  # type: ignore[assignment]
            sums.went_on += n * at.went_on
            sums.could_go_on += n * at.could_go_on
    return sums


@dataclass(frozen=True, slots=True)
class Posterior:
    """Of one position, given the clicks of its page: the chances that it was looked at, that the
    document attracts, that a click satisfied, and that somebody could go on, and did.
    """

    looked: float
    attracted: float
    satisfied: float
    could_go_on: float
    went_on: float


def posterior(a: list[float], s: list[float], gamma: float, clicked: set[int]) -> list[Posterior]:
    """What is believed of each position of a page; the first is looked at for certain."""
    n = len(a)
    is_clicked = [position in clicked for position in range(1, n + 1)]
    # Forward: the chance of the clicks before i, with i looked at.
    looked = [1.0] * (n + 1)
    for i in range(n):
        looked[i + 1] = looked[i] * _steps(a[i], s[i], gamma, is_clicked[i])[0]
    # Backward: the chance of the clicks at i and later, where i is looked at or not.
    later_on, later_off = [1.0] * (n + 1), [1.0] * (n + 1)
    for i in reversed(range(n)):
        on, off = _steps(a[i], s[i], gamma, is_clicked[i])
        later_on[i] = on * later_on[i + 1] + off * later_off[i + 1]
        later_off[i] = 0.0 if is_clicked[i] else later_off[i + 1]
    whole = later_on[0] or 1.0
    positions = []
    for i in range(n):
        at = looked[i] * later_on[i] / whole
        joint = looked[i] * (a[i] * (1 - s[i]) if is_clicked[i] else 1 - a[i]) / whole
        # After the last position nobody can go on.
        went = joint * gamma * later_on[i + 1] if i + 1 < n else 0.0
        stopped = joint * (1 - gamma) * later_off[i + 1] if i + 1 < n else 0.0
        positions.append(
            Posterior(
                looked=at,
                attracted=1.0 if is_clicked[i] else (1 - at) * a[i],
                satisfied=looked[i] * a[i] * s[i] * later_off[i + 1] / whole
                if is_clicked[i]
                else 0.0,
                could_go_on=went + stopped,
                went_on=went,
            )
        )
    return positions


def _steps(a: float, s: float, gamma: float, is_clicked: bool) -> tuple[float, float]:
    """The chance of what was seen at a position looked at, and then to look at the next, or not."""
    if is_clicked:
        return a * (1 - s) * gamma, a * (s + (1 - s) * (1 - gamma))
    return (1 - a) * gamma, (1 - a) * (1 - gamma)


FITS: dict[Model, Callable[[Iterable[Page]], Fitted]] = {
    Model.COEC: _expected_clicks,
    Model.CASCADE: _cascade,
    Model.SDBN: _simplified_network,
    Model.DBN: _network,
}
