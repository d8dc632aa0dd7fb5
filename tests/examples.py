"""How many examples a property is tried with."""

import os

# Set in CI, which runs often and draws others each time: so many times fewer of those of which
# there are many. `make test` tries all.
FEWER = int(os.environ.get("PROPERTY_EXAMPLES_FEWER", "1"))
# So few find next to nothing, and cost next to nothing.
LEAST = 15


def examples(n: int) -> int:
    """What is to be tried here of `n` examples."""
    return max(min(n, LEAST), n // FEWER)
