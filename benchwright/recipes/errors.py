"""A value that a parameter does not take."""

from benchwright.errors import BenchmarkError


class ParameterError(BenchmarkError):
    """`name` is the parameter's, `shown` what it was given, `expected` what it takes."""

    code = "parameter"
    message = "{name} is {shown}; expected {expected}."
