"""What this app does when something happens below it."""

from typing import Any


def furnish_demo(sender: Any, **sent: Any) -> None:
    """The demo gets a disagreement and a question; what makes them is loaded for nothing else."""
    from annotation.demo import furnish

    furnish(sender, **sent)


def index_corpus(sender: Any, **sent: Any) -> None:
    """A version of a corpus that was just taken is made searchable."""
    from annotation.searching.services import index_taken

    index_taken(sent["version"], sent["user"])
