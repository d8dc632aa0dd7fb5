"""Why a slice cannot be made, changed or registered."""

from benchwright.errors import BenchmarkError


class SliceRuleError(BenchmarkError, code="slice-rule"):
    message = "{why}"


class ExpressionError(BenchmarkError, code="slice-expression"):
    """An expression that cannot be read; `column` counts from 1."""

    message = "Column {column}: {why}"


class SliceNameError(BenchmarkError, code="slice-name"):
    message = "'{name}' cannot be the name of a slice: {why}."


class SliceTakenError(BenchmarkError, code="slice-name-taken", status=409):
    message = "There is a slice '{name}' already. Choose another name, or change that one."


class SliceRegisteredError(BenchmarkError, code="slice-registered", status=409):
    message = (
        "Slice '{name}' is registered: its {what} cannot change any more, so that results are "
        "never chosen after they were seen. Make a new slice under another name."
    )


class SliceAlreadyRegisteredError(BenchmarkError, code="slice-registered-already", status=409):
    message = "Slice '{name}' is registered already, since {since}."


class SliceTooSmallError(BenchmarkError, code="slice-too-small"):
    message = (
        "Slice '{name}' has {n_members} confirmed queries and needs {minimum} to be registered: "
        "below that its mean says little and no gate may use it. Confirm suggestions, or add "
        "{n_lacking} more queries."
    )


class SliceHasSuggestionsError(BenchmarkError, code="slice-has-suggestions", status=409):
    message = (
        "Slice '{name}' has {n_suggested} suggestions that nobody has confirmed or rejected. "
        "Decide on them first: members cannot change once the slice is registered."
    )


class SliceEmptyError(BenchmarkError, code="slice-empty"):
    message = "The rule takes none of the {n_queries} queries. {why}"


class SliceWithoutRuleError(BenchmarkError, code="slice-without-rule", status=409):
    message = (
        "Slice '{name}' has no rule: its queries came from {source}, so there is nothing to "
        "apply again."
    )


class SliceInUseError(BenchmarkError, code="slice-in-use", status=409):
    message = (
        "Slice '{name}' is named in the rule of {others}. Change those rules first, or they would "
        "ask for a slice that is not there."
    )
