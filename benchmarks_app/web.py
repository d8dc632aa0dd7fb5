"""`python -m benchmarks_app.web OPTIONS`: granian, whose processes share what is loaded.

The pages are loaded once, in the process that the others are forked from: that takes seconds of
processor, and is most of what a web process holds.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from benchmarks_app.memory import loading_for_good


def load() -> None:
    """Load settings, models and pages, if they are not; this opens no connection and no thread."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
    with loading_for_good():
        import django
        from django.conf import settings

        django.setup()
        import_module(settings.ROOT_URLCONF)


def main(words: Sequence[str]) -> None:
    from granian.cli import cli

    load()
    cli(["--interface", "wsgi", "benchmarks_app.wsgi:application", *words])


if __name__ == "__main__":
    main(sys.argv[1:])
