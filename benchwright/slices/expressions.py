"""A small language over queries: `frequency >= 100 and not lang = "de"`.

    expression  = any ("or" any)*
    any         = one ("and" one)*
    one         = "not" one | "(" expression ")" | "in" "slice" name | test
    test        = field ("=" | "!=" | "<" | "<=" | ">" | ">=") value
                | field ("contains" | "matches") "text"
                | field "is" ["not"] "missing"
    field       = text id lang length characters frequency clicks relevant first_seen last_seen
                | "metadata." key
    value       = number | "text" | "2024-05-31"

Words of the language may be written in any case. A test on something that a query lacks does not
hold, whatever it asks; `is missing` asks for that. Nothing is evaluated but this.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from operator import eq, ge, gt, le, lt, ne
from typing import Any, NoReturn

from benchwright.slices.asked import AskedQuery
from benchwright.slices.errors import ExpressionError
from benchwright.slices.words import words_of

# --- Patterns with `*` (anything) and `?` (one character), not as regular expressions.


def glob_matches(pattern: str, text: str) -> bool:
    """Whether the whole text is what the pattern says.

    Examples
    --------
    >>> glob_matches("how * file?", "how to read files"), glob_matches("how", "how to")
    (True, False)
    """
    at = place = 0
    star = resume = -1
    while place < len(text):
        if at < len(pattern) and pattern[at] == "*":
            star, resume = at, place
            at += 1
        elif at < len(pattern) and pattern[at] in ("?", text[place]):
            at += 1
            place += 1
        elif star >= 0:
            # What the last star stands for is one character longer than was thought.
            resume += 1
            at, place = star + 1, resume
        else:
            return False
    return set(pattern[at:]) <= {"*"}


# --- A small language over queries: `frequency >= 100 and not lang = "de"`.

LONGEST = 2000
DEEPEST = 40

Slices = Mapping[str, Collection[str]]
Test = Callable[[AskedQuery, Slices], bool]
Value = float | str | date

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": eq,
    "==": eq,
    "!=": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}
NUMBERS: dict[str, Callable[[AskedQuery], float | None]] = {
    "length": lambda query: len(words_of(query.text)),
    "characters": lambda query: len(query.text),
    "frequency": lambda query: query.frequency,
    "clicks": lambda query: query.n_clicks,
    "relevant": lambda query: query.n_relevant,
}
TEXTS: dict[str, Callable[[AskedQuery], str | None]] = {
    "text": lambda query: query.text,
    "id": lambda query: query.qid,
    "lang": lambda query: query.lang or None,
}
DATES: dict[str, Callable[[AskedQuery], date | None]] = {
    "first_seen": lambda query: query.first_seen,
    "last_seen": lambda query: query.last_seen,
}
FIELDS = (*TEXTS, *NUMBERS, *DATES, "metadata.KEY")
METADATA = "metadata."

_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?\d+(?:\.\d+)?(?![\w.]))|(?P<text>\"[^\"]*\")|(?P<operator>[<>!=]=?)"
    r"|(?P<bracket>[()])|(?P<word>[^\W\d][\w.-]*))"
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    column: int

    @property
    def word(self) -> str:
        """A word of the language; empty where it is something else."""
        return self.text.lower() if self.kind == "word" else ""

    @property
    def shown(self) -> str:
        return "the end" if self.kind == "end" else f"'{self.text}'"


@dataclass(frozen=True, slots=True)
class Expression:
    """What was written, the test that it means, and the slices and fields it names."""

    source: str
    test: Test
    slices: frozenset[str]
    fields: frozenset[str]

    def holds(self, query: AskedQuery, slices: Slices) -> bool:
        return self.test(query, slices)


def parse_expression(source: str, known_slices: Collection[str] | None = None) -> Expression:
    """The test that an expression means; `known_slices` are those it may name, or any where None.

    Raises
    ------
    ExpressionError
        With the column, what was found and what was expected.

    Examples
    --------
    >>> rare = parse_expression('frequency < 10 and text contains "python"')
    >>> rare.holds(AskedQuery("q1", "learn Python", frequency=3), {})
    True
    """
    if len(source) > LONGEST:
        why = f"{len(source)} characters; an expression has at most {LONGEST}. Split it up."
        raise ExpressionError(column=LONGEST, why=why)
    parser = _Parser(list(_tokens(source)), known_slices)
    test = parser.whole()
    return Expression(source, test, frozenset(parser.named), frozenset(parser.fields))


def _tokens(source: str) -> Iterator[Token]:
    at, end = 0, len(source.rstrip())
    while at < end:
        match = _TOKEN.match(source, at, end)
        if match is None or match.end() == at:
            start = at + len(source[at:]) - len(source[at:].lstrip())
            _refuse_character(source, start)
        kind = str(match.lastgroup)
        yield Token(kind, match[kind], match.start(kind) + 1)
        at = match.end()
    yield Token("end", "", end + 1)


def _refuse_character(source: str, at: int) -> NoReturn:
    if source[at] == '"':
        why = 'this text has no closing ". Put one behind it.'
    elif source[at] == "'":
        why = 'text stands in double quotes here: "…". Replace the single quotes.'
    else:
        why = f"'{source[at]}' means nothing here. Remove it, or put text into double quotes."
    raise ExpressionError(column=at + 1, why=why)


class _Parser:
    def __init__(self, tokens: list[Token], known_slices: Collection[str] | None) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0
        self.known_slices = known_slices
        self.named: set[str] = set()
        self.fields: set[str] = set()

    # --- tokens ---------------------------------------------------------------------------

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.next
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def takes(self, *words: str) -> bool:
        """Whether the next tokens are these words; then they are taken."""
        ahead = self.tokens[self.at : self.at + len(words)]
        if [token.word for token in ahead] != list(words):
            return False
        self.at += len(words)
        return True

    def refuse(self, token: Token, expected: str) -> NoReturn:
        raise ExpressionError(column=token.column, why=f"found {token.shown}; expected {expected}.")

    # --- grammar --------------------------------------------------------------------------

    def whole(self) -> Test:
        test = self.expression()
        if self.next.kind != "end":
            self.refuse(self.next, "'and', 'or' or the end")
        return test

    def expression(self) -> Test:
        tests = [self.all_of()]
        while self.takes("or"):
            tests.append(self.all_of())
        return tests[0] if len(tests) == 1 else _any(tests)

    def all_of(self) -> Test:
        tests = [self.one()]
        while self.takes("and"):
            tests.append(self.one())
        return tests[0] if len(tests) == 1 else _all(tests)

    def one(self) -> Test:
        self.depth += 1
        if self.depth > DEEPEST:
            why = f"brackets and 'not' are nested deeper than {DEEPEST}. Make it simpler."
            raise ExpressionError(column=self.next.column, why=why)
        test = self._one()
        self.depth -= 1
        return test

    def _one(self) -> Test:
        if self.takes("not"):
            inner = self.one()
            return lambda query, slices: not inner(query, slices)
        if self.next.text == "(":
            opened = self.take()
            inner = self.expression()
            if self.take().text != ")":
                raise ExpressionError(
                    column=opened.column, why="this bracket is never closed. Add ')'."
                )
            return inner
        if self.takes("in", "slice"):
            return self.in_slice()
        return self.comparison()

    def in_slice(self) -> Test:
        token = self.take()
        if token.kind not in ("word", "text"):
            self.refuse(token, "the name of a slice, in double quotes where it is not one word")
        name = token.text.strip('"')
        if self.known_slices is not None and name not in self.known_slices:
            slice_names = ", ".join(sorted(self.known_slices)[:10]) or "none yet"
            why = f"there is no slice '{name}'. There are: {slice_names}."
            raise ExpressionError(column=token.column, why=why)
        self.named.add(name)
        return lambda query, slices: query.qid in slices.get(name, ())

    def comparison(self) -> Test:
        token = self.take()
        # The field in any case, its key as it is written.
        has_key = token.word.startswith(METADATA)
        name = METADATA + token.text[len(METADATA) :] if has_key else token.word
        read = _reader(name)
        if read is None:
            self.refuse(token, f"a field ({', '.join(FIELDS)}), 'not', 'in slice' or '('")
        self.fields.add(name)
        if self.takes("is", "not", "missing"):
            return lambda query, slices: read(query) is not None
        if self.takes("is", "missing"):
            return lambda query, slices: read(query) is None
        return self.compared(name, read)

    def compared(self, name: str, read: Callable[[AskedQuery], Any]) -> Test:
        token = self.take()
        if token.word in ("contains", "matches"):
            return self.matched(name, token, read)
        if token.text not in OPERATORS:
            self.refuse(token, "one of = != < <= > >= contains matches, or 'is missing'")
        compare, wanted_value = OPERATORS[token.text], self.value(name)
        return lambda query, slices: _compares(compare, read(query), wanted_value)

    def matched(self, name: str, verb: Token, read: Callable[[AskedQuery], Any]) -> Test:
        if name in NUMBERS or name in DATES:
            self.refuse(verb, f"one of = != < <= > >=, as {name} is no text")
        token = self.take()
        if token.kind != "text":
            self.refuse(token, f'text in double quotes after {verb.word}, such as "how *"')
        text_wanted = token.text[1:-1].casefold()
        pattern = text_wanted if verb.word == "matches" else None

        def test(query: AskedQuery, slices: Slices) -> bool:
            value = read(query)
            if value is None:
                return False
            text = str(value).casefold()
            return text_wanted in text if pattern is None else glob_matches(pattern, text)

        return test

    def value(self, name: str) -> Value:
        token = self.take()
        if token.kind == "number":
            if name in TEXTS or name in DATES:
                self.refuse(token, f'text in double quotes, as {name} is no number: "{token.text}"')
            return float(token.text)
        if token.kind != "text":
            self.refuse(token, "a number, or text in double quotes")
        if name in NUMBERS:
            self.refuse(token, f"a number, as {name} counts something")
        return self.date_of(token) if name in DATES else token.text[1:-1]

    def date_of(self, token: Token) -> date:
        try:
            return date.fromisoformat(token.text[1:-1])
        except ValueError:
            self.refuse(token, 'a day as year-month-day, such as "2024-05-31"')


def _reader(name: str) -> Callable[[AskedQuery], Any] | None:
    if name.startswith(METADATA) and len(name) > len(METADATA):
        key = name.removeprefix(METADATA)
        return lambda query: query.metadata.get(key)
    return NUMBERS.get(name) or TEXTS.get(name) or DATES.get(name)


def _any(tests: list[Test]) -> Test:
    return lambda query, slices: any(test(query, slices) for test in tests)


def _all(tests: list[Test]) -> Test:
    return lambda query, slices: all(test(query, slices) for test in tests)


def _compares(compare: Callable[[Any, Any], bool], value: Any, wanted_value: Value) -> bool:
    """Whether a value is as wanted; one of another kind, or none at all, is not."""
    if value is None:
        return False
    if isinstance(wanted_value, float):
        number = _number(value)
        return number is not None and compare(number, wanted_value)
    if isinstance(wanted_value, date):
        return isinstance(value, date) and compare(value, wanted_value)
    return compare(str(value).casefold(), wanted_value.casefold())


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
