"""Timings and simulations; `python -m tests.performance` says more."""

import atexit
import os

from tests.made_once import FOLDER, begin_run, end_run

# Parts start sites as tests do; outside of a test run, a part is a run of its own.
if FOLDER not in os.environ:
    begin_run()
    atexit.register(end_run)
