"""Why a split cannot be made, and what to do about it."""

from benchwright.errors import BenchmarkError


class SplittingError(BenchmarkError, code="split"):
    """The root of what a split can be refused for."""


class NothingToSplitError(SplittingError, code="split-nothing"):
    message = "There is no query to split. Import queries first."


class SharesError(SplittingError, code="split-shares"):
    message = "The shares are {shown}: {reason}. Write shares that add up to {whole}."


class EmptySplitError(SplittingError, code="split-empty"):
    message = (
        "{split} would hold no query: {n_families} families, the largest of {largest} queries, "
        "cannot fill it. {advice}"
    )


class EmptyPeriodError(EmptySplitError):
    message = (
        "{split} would hold no query: of {n} asked in its time, {n_gap} lie in the gap and {n_out} "
        "belong to families that were asked earlier, too. Move the cut, make the gap smaller, or "
        "do without {split}."
    )


class MissingDatesError(SplittingError, code="split-dates-missing"):
    message = (
        "{n} of {of} queries have no date of their first use, such as {example}; a chronological "
        "split needs one for each. Import a query file with a column first_seen, or choose "
        "another mode."
    )


class CutMissingError(SplittingError, code="split-cut-missing"):
    message = (
        "A chronological split needs to know where to cut: give a date for the cut, or shares "
        "from which it is found."
    )


class CutOutsideError(SplittingError, code="split-cut-outside"):
    message = (
        "The cut {cut} lies outside the queries' dates, {first} to {last}: one side would be "
        "empty. Choose a later day than {first} and none after {last}."
    )


class CutOrderError(SplittingError, code="split-cut-order"):
    message = (
        "The dev split begins on {dev}, not before the test split ({test}); choose an earlier day."
    )


class UnknownSliceError(SplittingError, code="split-unknown-slice"):
    message = "There is no slice '{name}'. {advice}"


class SliceEverywhereError(SplittingError, code="split-slice-everywhere"):
    message = (
        "Every family has a query in the slice '{name}', so nothing is left to train on. Choose a "
        "smaller slice, or another mode."
    )


class SmallSliceError(SplittingError, code="split-slice-small"):
    message = "{message} {advice}"


class SplitChangedError(SplittingError, code="split-changed", status=409):
    message = (
        "Queries or families changed while they were being split, so nothing was stored. Look at "
        "the preview and apply it again."
    )


class SamePairError(SplittingError, code="split-same-pair"):
    message = (
        "{a} and {b} are one family or the same text, so they cannot be told apart. Merge their "
        "families, or split the family up on its page."
    )


class UnknownSplitError(SplittingError, code="split-unknown"):
    message = "'{split}' is no split; train, dev and test are."
