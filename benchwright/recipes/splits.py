"""What decides a split of queries, beside the queries and the shares of the splits."""

from enum import StrEnum

from benchwright.recipes.parameters import Choice, Day, Parameter, Real, Whole


class Mode(StrEnum):
    STRATIFIED = "stratified"
    RANDOM = "random"
    CHRONOLOGICAL = "chronological"
    LEAVE_SLICE_OUT = "leave_slice_out"
    GIVEN = "given"


class Straddling(StrEnum):
    """What happens to a family that was asked on both sides of a cut."""

    KEEP_EARLIER = "keep_earlier"
    DROP_FAMILY = "drop_family"


MODE = Choice(
    name="mode",
    default=Mode.STRATIFIED,
    label="How",
    help="How families are given out: every slice and label density evenly (stratified), at "
    "random, by when they were first asked, a slice as test, or as a file says.",
    choices={
        Mode.STRATIFIED: "Stratified",
        Mode.RANDOM: "Random",
        Mode.CHRONOLOGICAL: "By time",
        Mode.LEAVE_SLICE_OUT: "Leave a slice out",
        Mode.GIVEN: "From a file",
    },
)
SHARE = Real(name="share", help="Of the queries; of what is left where a slice is left out.")
SEED = Whole(name="seed", default=0, help="The same seed gives the same split, on every machine.")
TEST_FROM = Day(
    name="test_from",
    label="Test begins on",
    help="The day on which test begins. Empty: found from the shares.",
)
DEV_FROM = Day(
    name="dev_from",
    label="Dev begins on",
    help="The day on which dev begins. Empty: no dev split, where the day of test is given.",
)
GAP_DAYS = Whole(
    name="gap_days",
    option="gap",
    default=0,
    most=3650,
    label="Gap, days",
    help="Queries of so many days after a cut are in no split.",
)
STRADDLING = Choice(
    name="straddling",
    default=Straddling.KEEP_EARLIER,
    label="A family asked on both sides",
    help="Of a family asked on both sides of a cut: keep what came earlier, or drop it whole.",
    choices={
        Straddling.KEEP_EARLIER: "keep the earlier wordings in train, leave the later out",
        Straddling.DROP_FAMILY: "leave the whole family out",
    },
)
SPLITTING: tuple[Parameter, ...] = (MODE, SEED, TEST_FROM, DEV_FROM, GAP_DAYS, STRADDLING)
