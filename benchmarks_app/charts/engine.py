"""The process that draws: a line of JSON in, a line of JSON out, until nobody asks any more.

Run as a file by `drawing`, never imported by the site: the library holds the interpreter's lock
while it draws and keeps some 150 MB, neither of which a web server that people judge on can spare.
"""

import base64
import json
import select
import sys
from typing import Any

IDLE_SECONDS = 120
# A chart carries its rows with it; it may fetch nothing.
NOWHERE = ["https://nowhere.invalid/"]


def main() -> None:
    while select.select([sys.stdin], [], [], IDLE_SECONDS)[0]:
        line = sys.stdin.readline()
        if not line:
            return
        sys.stdout.write(json.dumps(_answer(json.loads(line))) + "\n")
        sys.stdout.flush()


def _answer(question: dict[str, Any]) -> dict[str, str]:
    try:
        drawn = _drawn(question)
    except Exception as error:  # noqa: BLE001  # told to the process that asked
        return {"error": str(error)}
    return {"drawn": base64.b64encode(drawn).decode()}


def _drawn(question: dict[str, Any]) -> bytes:
    import vl_convert

    if question["format"] == "bundle":
        return vl_convert.javascript_bundle(question["snippet"]).encode()
    if question["format"] == "png":
        return vl_convert.vegalite_to_png(question["spec"], scale=2, allowed_base_urls=NOWHERE)
    return vl_convert.vegalite_to_svg(question["spec"], allowed_base_urls=NOWHERE).encode()


if __name__ == "__main__":
    main()
