"""Slices of a file: `query-id TAB slice`, a line for each query of each slice."""

from collections.abc import Callable, Container, Iterable

from benchwright.errors import Problems
from benchwright.slices.errors import SliceNameError
from benchwright.slices.names import checked_name

HEADER = (b"query-id", b"slice")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Members = dict[str, dict[str, None]]


def read_slice_file(
    lines: Iterable[bytes],
    *,
    file: str,
    problems: Problems,
    known: Container[str],
    refusal: Callable[[str], str] = lambda name: "",
) -> Members:
    """The queries of each slice, both in the order of the file.

    Blank lines, lines that begin with `#`, and a first line that names the columns are passed
    over. Every line that is wrong is told; `refusal` says why a slice of a name takes no queries,
    if it does not.
    """
    members: Members = {}
    refused: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        cells = _cells(line, number)
        if cells is None:
            continue
        if len(cells) != 2 or not all(cells):
            problems.add(file, number, _columns_problem(cells))
            continue
        qid, named = (cell.decode("utf-8", "backslashreplace") for cell in cells)
        name = named.strip()  # Blanks of Unicode, too, as wherever a slice is named.
        if name not in refused:
            refused[name] = _name_problem(name) or refusal(name)
        if refused[name]:
            problems.add(file, number, refused[name])
        elif qid not in known:
            text = f"query '{qid}' is not in the benchmark. Import it first, or drop the line."
            problems.add(file, number, text)
        else:
            _keep(members, qid, name, file, number, problems)
    return members


def _keep(slices: Members, qid: str, name: str, file: str, number: int, problems: Problems) -> None:
    members = slices.setdefault(name, {})
    if qid in members:
        problems.warn(file, number, f"query '{qid}' was put into slice '{name}' before.")
    members[qid] = None


def _cells(line: bytes, number: int) -> list[bytes] | None:
    """The columns of a line; None for one that says nothing."""
    text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
    cells = [cell.strip(b" \r\n") for cell in text.split(b"\t")]
    is_header = number == 1 and tuple(cell.lower() for cell in cells) == HEADER
    return None if is_header or not any(cells) or text.startswith(b"#") else cells


def _columns_problem(cells: list[bytes]) -> str:
    filled = sum(map(bool, cells))
    columns = f"{filled} column{'' if filled == 1 else 's'}"
    return f"{columns}; expected 2 (query-id, slice) separated by a tab. Correct the line."


def _name_problem(name: str) -> str:
    try:
        checked_name(name)
    except SliceNameError as error:
        return str(error)
    return ""
