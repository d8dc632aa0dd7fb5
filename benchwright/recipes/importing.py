"""What is agreed to when files are imported."""

from benchwright.recipes.parameters import Whole

AGREED = Whole(
    name="n_agreed",
    option="agreed",
    label="Bad records agreed to",
    help="With bad records left out: how many at most. Where more are bad, nothing is imported.",
)
