"""A split that a file gives: a line is a query id, a TAB and its split."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from benchwright.errors import Problems
from benchwright.splits.recipe import SPLITS
from benchwright.texts.counting import counted

HEADERS = frozenset({"query-id", "query_id", "qid", "_id", "query"})
OTHER_NAMES = {"validation": "dev", "valid": "dev", "val": "dev", "training": "train"}
NO_SPLIT = "none"
SHOWN = 5


def read_given(
    lines: Iterable[bytes], *, file: str, families: Mapping[str, str], problems: Problems
) -> dict[str, str]:
    """{query id: split} of a file; "" for a query that the file leaves out with `none`.

    `families` is {query id: family} of the benchmark. A query that the benchmark lacks, one that
    the file lacks, one that comes twice, and a family on two sides are problems with their line.
    """
    split_of: dict[str, str] = {}
    line_of: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        row = _row(line, number, file, problems, families)
        if row is None:
            continue
        qid, split = row
        if qid not in families:
            problems.add(file, number, f"query '{qid}' is not in this benchmark; drop the line")
        elif qid in split_of:
            problems.add(file, number, f"query '{qid}' was on line {line_of[qid]} already")
        else:
            split_of[qid], line_of[qid] = split, number
    _refuse_missing(families, split_of, file, problems)
    _refuse_torn(families, split_of, line_of, file, problems)
    return split_of


def given_rows(
    lines: Iterable[bytes], *, file: str, problems: Problems
) -> Iterator[tuple[str, str]]:
    """Each line's query and split, "" for `none`; whether they fit a benchmark is not looked at."""
    for number, line in enumerate(lines, start=1):
        if row := _row(line, number, file, problems):
            yield row


def _row(
    line: bytes, number: int, file: str, problems: Problems, known: Collection[str] = ()
) -> tuple[str, str] | None:
    """The query and the split of a line; what is `known` as a query is no comment and no header."""
    text = line.decode(errors="replace").rstrip("\r\n").removeprefix("\ufeff")
    qid, tab, word = text.partition("\t")
    if not text.strip() or (text.startswith("#") and qid not in known):
        return None
    word = word.strip()
    if number == 1 and (word.lower() == "split" or (qid in HEADERS and qid not in known)):
        return None
    split = OTHER_NAMES.get(word.lower(), word.lower())
    if not tab or split not in (*SPLITS, NO_SPLIT):
        what = f"split is '{word}'" if tab else "the line has no TAB"
        expected = f"expected query id, TAB and one of {', '.join(SPLITS)} or {NO_SPLIT}"
        problems.add(file, number, f"{what}; {expected}")
        return None
    return qid, "" if split == NO_SPLIT else split


def _refuse_missing(
    families: Mapping[str, str], split_of: Collection[str], file: str, problems: Problems
) -> None:
    missing = sorted((qid for qid in families if qid not in split_of), key=str.encode)
    if missing:
        named = ", ".join(missing[:SHOWN]) + (", …" if len(missing) > SHOWN else "")
        text = (
            f"{counted(len(missing), 'query')} of the benchmark "
            f"{'is' if len(missing) == 1 else 'are'} not in the file ({named}); "
            f"give each a line, with {NO_SPLIT} for those that no split should have"
        )
        problems.add(file, 0, text)


def _refuse_torn(
    families: Mapping[str, str],
    split_of: Mapping[str, str],
    line_of: Mapping[str, int],
    file: str,
    problems: Problems,
) -> None:
    """Tell of each family that the file puts on two sides, at the line that does it."""
    first: dict[str, str] = {}
    for qid, split in split_of.items():
        if not split:
            continue
        other = first.setdefault(families[qid], qid)
        if split_of[other] != split:
            text = (
                f"query '{qid}' is in {split}, and '{other}' of the same family is in "
                f"{split_of[other]} (line {line_of[other]}); put them on one side, or split the "
                "family up on the families page"
            )
            problems.add(file, line_of[qid], text)
