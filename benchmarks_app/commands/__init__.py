"""Commands of `benchwright` about collections of queries, without Django; see `benchmarks_app.cli`.

Here stands only what help shows; a command's module is imported when it is run.
"""

from collections.abc import Sequence

COMMANDS: dict[str, tuple[str, str]] = {}


def about() -> Sequence[str]:
    """Lines for `benchwright --version`: none of its own."""
    return ()
