"""A process of a site that does what `Site.call` asks, until its input ends.

A process for each question would spend most of its time on starting Django.
"""

import json
import sys
import traceback

import django


def main() -> None:
    """Answer each line, [name, arguments], with the line {"answer": …} or {"error": …}."""
    answers, sys.stdout = sys.stdout, sys.stderr
    django.setup()

    from django.db import connections

    from tests.system import inside

    for line in sys.stdin:
        name, arguments = json.loads(line)
        try:
            fields = {"answer": inside.call(name, arguments)}
        except Exception:  # noqa: BLE001 (the asker raises it)
            fields = {"error": traceback.format_exc()}
        connections.close_all()
        print(json.dumps(fields), file=answers, flush=True)


if __name__ == "__main__":
    main()
