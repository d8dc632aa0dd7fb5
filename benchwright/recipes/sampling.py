"""How families are drawn from a query log, and what of the log is kept."""

from enum import StrEnum

from benchwright.recipes.parameters import Choice, Parameter, Real, Whole


class By(StrEnum):
    """What families are put into strata by."""

    FREQUENCY = "frequency"
    MONTH = "month"
    LANGUAGE = "language"
    LENGTH = "length"
    NOTHING = "nothing"


class Allocation(StrEnum):
    """How many families each stratum gives."""

    PROPORTIONAL = "proportional"
    EQUAL = "equal"
    OPTIMAL = "optimal"
    GIVEN = "given"


class Weighting(StrEnum):
    """What a weighted mean is a mean over."""

    TRAFFIC = "traffic"
    QUERIES = "queries"


class Wordings(StrEnum):
    """Which members of a drawn family become queries."""

    ALL = "all"
    ONE = "one"


N_FAMILIES = Whole(
    name="n_families",
    option="families",
    short="-n",
    default=200,
    least=1,
    most=1_000_000,
    label="Families to draw",
    help="Wordings of one need are a family, and are drawn together.",
)
BY = Choice(
    name="by",
    default=By.FREQUENCY,
    label="Strata by",
    help="What strata are made by; by frequency these are head, torso and tail.",
    choices={
        By.FREQUENCY: "frequency: head, torso and tail",
        By.MONTH: "month first seen",
        By.LANGUAGE: "language",
        By.LENGTH: "length in words",
        By.NOTHING: "nothing: one stratum",
    },
)
ALLOCATION = Choice(
    name="allocation",
    default=Allocation.EQUAL,
    label="How many from each",
    help="As many from each stratum, in proportion to its families, where it makes the weighted "
    "mean most exact, or given numbers.",
    choices={
        Allocation.PROPORTIONAL: "in proportion to its families",
        Allocation.EQUAL: "as many from each",
        Allocation.OPTIMAL: "where it makes the weighted mean most exact",
        Allocation.GIVEN: "the numbers below",
    },
)
HEAD_SHARE = Real(
    name="head_share",
    option="head",
    default=0.05,
    above=True,
    below=True,
    label="Head",
    help="Share of the distinct queries, those asked most, that is head.",
)
TAIL_SHARE = Real(
    name="tail_share",
    option="tail",
    default=0.5,
    above=True,
    below=True,
    label="Tail",
    help="Share of the distinct queries, those asked least, that is tail. Ties at a cut are torso.",
)
WEIGHTING = Choice(
    name="weighting",
    default=Weighting.TRAFFIC,
    label="Weighted means are over",
    help="Whether weights make means over searches, or over distinct queries.",
    choices={
        Weighting.TRAFFIC: "searches: each counts as often as it was asked",
        Weighting.QUERIES: "distinct queries: each counts once",
    },
)
WORDINGS = Choice(
    name="wordings",
    default=Wordings.ALL,
    label="Of a family take",
    help="Take every wording of a family, or the one asked most, which then stands for all.",
    choices={
        Wordings.ALL: "every wording in the log",
        Wordings.ONE: "the wording asked most",
    },
)
SEED = Whole(
    name="seed",
    most=2**53 - 1,  # what a script of a browser can count to
    help="The same seed draws the same families. A site draws one where none is given.",
)
FLOOR = Whole(
    name="floor",
    default=1,
    least=1,
    most=1_000_000,
    label="Asked at least",
    help="Queries asked fewer times are dropped: a rare one may tell who asked it.",
)
DESIGN: tuple[Parameter, ...] = (
    *(N_FAMILIES, BY, ALLOCATION, HEAD_SHARE, TAIL_SHARE, WEIGHTING, WORDINGS),
)
SAMPLING = (*DESIGN, SEED)

FAMILIES_DRAWN = Whole(
    name="n",
    default=100,
    least=1,
    most=1_000_000,
    label="Families",
    help="Drawn at random, for people to label all of their queries. 20 are the least a corrected "
    "mean rests on, 50 are better; a later draw goes on in the same order.",
)
