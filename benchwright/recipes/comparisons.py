"""What a comparison of runs asks of its statistics."""

from benchwright.recipes.parameters import Real, Whole

DELTA = Real(
    name="delta",
    default=0.01,
    most=1e6,
    above=True,
    help="A difference that matters: how many queries would show it?",
)
N_DRAWS = Whole(
    name="n_draws",
    option="draws",
    default=10_000,
    least=100,
    most=10_000_000,
    help="Random flips of the test and draws of the bootstrap.",
)
