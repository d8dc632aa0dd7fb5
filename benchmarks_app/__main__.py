"""`python -m benchmarks_app COMMAND`: what `manage.py COMMAND` is in a checkout."""

import os
import sys
from collections.abc import Sequence

from benchmarks_app.data_folder import choose_site
from benchmarks_app.env import EnvError
from benchmarks_app.memory import loading_for_good
from benchwright.cli.start import INTERRUPTED

# Commands that have the options --data, --host and --port.
SITES = ("up", "demo")


def main(words: Sequence[str]) -> None:
    """Run a server command; `words` begin with the name of the program, as `sys.argv` does."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
    choose_site(words[2:] if words[1:2] and words[1] in SITES else ())
    try:
        with loading_for_good():
            import django
            from django.core.management import execute_from_command_line

            django.setup()
        execute_from_command_line(list(words))
    except EnvError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(INTERRUPTED)
    except Exception as error:
        from benchmarks_app.migrated import NotMigratedError, explained, is_database_away

        explanation = explained(error)
        if isinstance(explanation, NotMigratedError):
            sys.exit(f"{error}\n{explanation}")
        if is_database_away(error):
            sys.exit(f"The database does not answer: {error}\nStart it, or correct DATABASE_URL.")
        raise


if __name__ == "__main__":
    main(["python -m benchmarks_app", *sys.argv[1:]])
