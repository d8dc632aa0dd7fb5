"""Known grades in a file: tab-separated, with a header that names its columns."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from benchwright.errors import News, Problems, ToldProblems
from benchwright.formats.beir import BOM, text_problem
from benchwright.sandbox import reader

COLUMNS = ("query-id", "corpus-id", "grade")
PURPOSES = ("gold", "practice")


@dataclass(frozen=True, slots=True)
class Known:
    """A grade that somebody says is the right one; `line` is where a file has it, or 0."""

    qid: str
    docid: str
    grade: int
    purpose: str
    explanation: str = ""
    line: int = 0


@reader
def known_grades_in(
    content: bytes, file: str, purpose: str, queries: Collection[str], scale: Collection[int]
) -> tuple[list[Known], News]:
    """The known grades of a table: query-id, corpus-id, grade; perhaps purpose and explanation.

    `purpose` is that of rows which name none; `queries` and `scale` are what the benchmark has.

    Raises
    ------
    FileProblemsError
        As soon as too many lines cannot be used.
    """
    problems = ToldProblems()
    grades = {str(grade): grade for grade in sorted(scale)}
    known_grades: dict[tuple[str, str], Known] = {}
    for line, row in _rows(content, file, problems):
        if wrong := _problem_of(row, queries, grades):
            problems.add(file, line, wrong)
            continue
        known = Known(
            row["query-id"],
            row["corpus-id"],
            grades[row["grade"]],
            row.get("purpose") or purpose,
            row.get("explanation", "").strip(),
            line,
        )
        first = known_grades.setdefault((known.qid, known.docid), known)
        if (first.grade, first.purpose) != (known.grade, known.purpose):
            pair = f"document '{known.docid}' of query '{known.qid}'"
            problems.add(file, line, f"{pair} is in line {first.line} already, otherwise")
    return list(known_grades.values()), problems.news()


def _rows(content: bytes, file: str, problems: Problems) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row by the names of the header, with its line; a cell that is left out is empty."""
    lines = _lines(content, file, problems)
    _, header = next(lines, (1, ""))
    names = header.split("\t")
    if not set(COLUMNS) <= set(names):
        problem_text = f"the first line must name {', '.join(COLUMNS)}, separated by tabs"
        problems.add(file, 1, problem_text)
        return
    for line, text in lines:
        if text.strip():
            yield line, dict.fromkeys(names, "") | dict(zip(names, text.split("\t"), strict=False))


def _lines(content: bytes, file: str, problems: Problems) -> Iterator[tuple[int, str]]:
    for line, text in enumerate(content.removeprefix(BOM).splitlines(), start=1):
        try:
            yield line, text.decode()
        except UnicodeDecodeError as error:
            where = f"byte {error.start + 1} is not UTF-8; save the file as UTF-8"
            problems.add(file, line, where)


def _problem_of(row: dict[str, str], queries: Collection[str], grades: Collection[str]) -> str:
    if row["query-id"] not in queries:
        return f"no query '{row['query-id']}' in this benchmark"
    if row["grade"] not in grades:
        return f"grade is '{row['grade']}'; expected one of {', '.join(grades)}"
    if row.get("purpose") and row["purpose"] not in PURPOSES:
        return f"purpose is '{row['purpose']}'; expected {' or '.join(PURPOSES)}"
    for name in ("corpus-id", "explanation"):
        if unstorable := text_problem(row.get(name, "")):
            return f"{name} {unstorable}"
    return ""
