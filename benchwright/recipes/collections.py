"""What is agreed to when files are imported, and when a slice is large enough to be registered."""

from benchwright.recipes.parameters import Parameter, Whole

AGREED = Whole(
    name="n_agreed",
    option="agreed",
    label="Bad records agreed to",
    help="With bad records left out: how many at most. Where more are bad, nothing is imported.",
)
MINIMUM = Whole(
    name="minimum",
    default=30,
    least=30,
    label="At least, queries",
    help="Below it the slice cannot be registered; 30 or more.",
)
SLICE: tuple[Parameter, ...] = (MINIMUM,)
