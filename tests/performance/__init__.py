"""Timings and simulations; `python -m tests.performance` says more."""

from tests.made_once import begin_run

begin_run()  # the processes that parts start share what is made once
