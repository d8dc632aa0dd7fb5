"""Where `benchwright` begins: a plain line goes straight to its work, any other to `cli`."""

import gc
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import NoReturn

# How the process ends where nothing was decided: interrupted, or nobody reads on.
INTERRUPTED, NO_READER = 130, 141
# A command whose module has `run(words)`, which does without the group where it can.
STRAIGHT = {"score": "benchwright.cli.scoring.straight"}


def main() -> NoReturn:
    """Run the command line of this process, and end it as `cli.EXIT_CODES` says."""
    # It lives for a moment: searching it for cycles takes a tenth of its time.
    gc.disable()
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        # What was done is told all the same where the output has no place for a letter.
        sys.stdout.reconfigure(errors="backslashreplace")
    name, *words = sys.argv[1:] or [""]
    module = STRAIGHT.get(name)
    if module is None or "_BENCHWRIGHT_COMPLETE" in os.environ or not _went_straight(module, words):
        import_module("benchwright.cli.main").main()
    if "tempfile" not in sys.modules:
        # As Python ends it searches once more, which removes temporary files where there are any.
        gc.freeze()
    sys.exit(0)


def _went_straight(module: str, words: list[str]) -> bool:
    try:
        is_done: bool = import_module(module).run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more as it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(NO_READER)
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(INTERRUPTED)
    except Exception as error:  # noqa: BLE001 the boundary of the process
        cli = import_module("benchwright.cli.main")
        sys.exit(cli.told(error, is_debug=cli.is_debug(words)))
    return is_done


if __name__ == "__main__":
    main()
