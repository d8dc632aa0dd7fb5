#!/usr/bin/env python
"""Run a server command: `python manage.py help`."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
