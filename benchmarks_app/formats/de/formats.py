"""A point before decimals, and days as inputs of the browser take them: as in English."""

from django.conf.locale.en.formats import *  # type: ignore[import-untyped]  # noqa: F403
