"""Notebooks of docs/notebooks, run without a kernel; `python -m tests.notebooks` renews outputs.

Each is run from the top of the repository in one namespace; the value of a cell's last line is kept
as HTML where it has any, as text else, and so is what was printed.
"""

import ast
import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "notebooks"


def run(notebook: Path) -> dict[str, Any]:
    """The notebook with the outputs that it has now."""
    content: dict[str, Any] = json.loads(notebook.read_text("utf-8"))
    space: dict[str, Any] = {"__name__": "__main__"}
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = list(_outputs("".join(cell["source"]), space))
    return content


def _outputs(source: str, space: dict[str, Any]) -> list[dict[str, Any]]:
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "cell", "exec"), space)
        shown = (
            None
            if last is None
            else eval(compile(ast.Expression(last.value), "cell", "eval"), space)
        )
    outputs = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": text.splitlines(True)})
    if shown is not None:
        data = {"text/plain": repr(shown).splitlines(True)}
        if hasattr(shown, "_repr_html_") and "benchwright" in type(shown).__module__:
            data = {"text/html": shown._repr_html_().splitlines(True), "text/plain": ["a result"]}
        result = {"execution_count": None, "metadata": {}, "output_type": "execute_result"}
        outputs.append({"data": data, **result})
    return outputs


def written(notebook: Path) -> str:
    """What its file says after it was run, with a folder of its own for what it writes."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NOTEBOOK_FOLDER"] = folder  # where a notebook writes
        os.chdir(ROOT)
        try:
            return json.dumps(run(notebook), indent=1, ensure_ascii=False) + "\n"
        finally:
            os.chdir(before)
            del os.environ["NOTEBOOK_FOLDER"]


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        path.write_text(written(path), "utf-8")
