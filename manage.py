#!/usr/bin/env python
"""Run a server command: `python manage.py help`."""

import sys

from benchmarks_app.__main__ import main

if __name__ == "__main__":
    main(sys.argv)
