#!/usr/bin/env python
"""Run a server command: `python manage.py help`."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except Exception as error:
        from benchmarks_app.migrated import NotMigratedError, explained

        found = explained(error)
        if not isinstance(found, NotMigratedError):
            raise
        sys.exit(f"{error}\n{found}")
