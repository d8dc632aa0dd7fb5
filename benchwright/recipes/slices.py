"""When a slice is large enough to be registered."""

from benchwright.recipes.parameters import Parameter, Whole

MINIMUM = Whole(
    name="minimum",
    default=30,
    least=30,
    label="At least, queries",
    help="Below it the slice cannot be registered; 30 or more.",
)
SLICE: tuple[Parameter, ...] = (MINIMUM,)
