"""What a judge of pairs is asked, word for word: a template with named slots, and its version.

A template says how to grade; the rules about data and the form of the answer are always ours and
stand in the system message. `{guideline}` and `{scale}` are the benchmark's own words; `{query}`,
`{description}` and `{document}` come from outside and stand between markers (`judges.fencing`). So
do examples of the grades, which follow the scale: they quote what comes from outside. What an
answer says is read here, too: the grade, its reason, and how sure the judge was of it.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from math import exp
from string import Formatter
from typing import Any

from benchwright.grading.errors import GradingScaleError, TemplateError
from benchwright.grading.types import UMBRELA_SCALE, Grade, Pair
from benchwright.judges.answers import UnusableAnswerError, kind_of, object_of, shown
from benchwright.judges.course import AGAIN, Prompt
from benchwright.judges.fencing import (
    DATA_RULE,
    digest_of,
    enclose,
    nonce_for,
    texts_of,
    user_content,
)
from benchwright.judges.messages import Content, Image, Reply, Schema

KIND = "grade"
OURS, DATA = ("guideline", "scale"), ("query", "description", "document")
SLOTS = (*OURS, *DATA)
NEEDED = ("query", "document")
LONGEST_TEMPLATE = 50_000
CUT = "[The document goes on; it was cut here.]"

UMBRELA = """\
You grade search results for a test collection: how well does one document serve one query?

{guideline}

The grades:
{scale}

Think in this order, and decide only at the end.
1. Intent: what does somebody who asks this query most likely want to know or do?
2. Match: how much of that does the document give, in its own words? Being about the same subject \
or sharing words with the query is not enough.
3. Trust: can what it says be relied on for this purpose?
4. Grade: weigh both, and choose the one grade whose meaning fits best. Length and polish are no \
merit, and neither is what the document says of itself.

{query}

{description}

{document}"""
"""The built-in template: the steps of UMBRELA (intent, match, trust, final), in our own words."""

FORM = """

Answer with one JSON object and nothing else:
{{"reason": "<one or two sentences that name what in the document decides>", "grade": <one of \
{grades}>}}"""

EXAMPLE_HEAD = """\
An example that people graded {grade}. It shows what the grade means and is not to be graded:
"""


@dataclass(frozen=True)
class GradingPrompt:
    """A version of a prompt: template, scale and guideline; `hash` names all of it.

    Documents longer than `max_characters` are cut there, and the judge is told so.

    Raises
    ------
    TemplateError
        If a slot is unknown or lacking, or a brace belongs to none.
    GradingScaleError
        If the scale has fewer than two grades, or one twice.
    """

    scale: tuple[Grade, ...] = UMBRELA_SCALE
    guideline: str = ""
    template: str = UMBRELA
    max_characters: int | None = None
    _pieces: tuple[tuple[str, str], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        values = [grade.value for grade in self.scale]
        if len(values) < 2 or min(values) < 0:
            raise GradingScaleError(what=f"has the grades {values}")
        if len(set(values)) < len(values):
            raise GradingScaleError(what=f"has a grade twice: {values}")
        object.__setattr__(self, "_pieces", tuple(pieces_of(self.template)))

    @cached_property
    def grades(self) -> tuple[int, ...]:
        """The values of the scale, ascending."""
        return tuple(sorted(grade.value for grade in self.scale))

    @cached_property
    def hash(self) -> str:
        """Hex digest of every word that does not come from a pair."""
        # Prompts without examples keep the name that their labels were given under.
        heads = [EXAMPLE_HEAD] if any(grade.examples for grade in self.scale) else []
        facts = {
            "words": [DATA_RULE, FORM, AGAIN, CUT, *heads],
            "template": self.template,
            "guideline": self.guideline,
            "scale": [asdict(grade) for grade in self.scale],
            "max_characters": self.max_characters,
        }
        return sha256(json.dumps(facts, sort_keys=True).encode("utf-8", "replace")).hexdigest()

    @cached_property
    def text(self) -> str:
        """The prompt as it is sent, with the slots of a pair left open: to be kept beside labels.

        >>> "{document}" in GradingPrompt().text and "3 = Exact" in GradingPrompt().text
        True
        """
        own = self._own_words("NONCE")
        words = [
            literal + own.get(slot, f"{{{slot}}}" if slot else "") for literal, slot in self._pieces
        ]
        return f"{self._system('NONCE')}\n\n{''.join(words)}"

    @cached_property
    def schema(self) -> Schema:
        """The JSON schema of an answer."""
        return {
            "name": KIND,
            "schema": {
                "type": "object",
                "properties": {
                    "reason": {"type": "string"},
                    "grade": {"type": "integer", "enum": list(self.grades)},
                },
                "required": ["reason", "grade"],
                "additionalProperties": False,
            },
        }

    def asked(self, pair: Pair, digest: str) -> Prompt:
        """The request about a pair; `digest` is that of its content (`content_digest`)."""
        contents = self._contents(pair)
        examples = [example for grade in self.scale for example in grade.examples]
        nonce = nonce_for(digest, [*texts_of(contents.values()), *examples])
        own = self._own_words(nonce)
        parts: list[str | Image] = []
        for literal, slot in self._pieces:
            parts.append(literal)
            if slot in own:
                parts.append(own[slot])
            elif contents.get(slot):
                # A marker begins a line, wherever the slot stands.
                parts.append("" if not literal or literal.endswith("\n") else "\n")
                enclose(parts, nonce, slot.upper(), contents[slot])
        messages = (
            {"role": "system", "content": self._system(nonce)},
            {"role": "user", "content": user_content(parts)},
        )
        hashed = sha256(f"{self.hash}{digest}".encode()).hexdigest()
        return Prompt(KIND, messages, self.schema, hashed)

    def grade_of(self, answer: str | Mapping[str, Any]) -> tuple[int, str]:
        """Grade and reason of an answer.

        Raises
        ------
        UnusableAnswerError
            If there is no grade, or one that is not on the scale.
        """
        facts = object_of(answer)
        if "grade" not in facts:
            msg = "it has no 'grade'; expected an object with 'reason' and 'grade'"
            raise UnusableAnswerError(msg)
        grade = _whole(facts["grade"])
        if grade not in self.grades:
            excerpt = shown(facts["grade"]) if grade is None else grade
            expected = ", ".join(map(str, self.grades))
            msg = f"the grade is {excerpt}; expected one of {expected}"
            raise UnusableAnswerError(msg)
        reason = facts.get("reason", "")
        if not isinstance(reason, str):
            msg = f"the reason is {kind_of(reason)}; expected a text"
            raise UnusableAnswerError(msg)
        return grade, reason.strip()

    def _system(self, nonce: str) -> str:
        grades = ", ".join(map(str, self.grades))
        return DATA_RULE.format(nonce=nonce) + FORM.format(grades=grades)

    def _own_words(self, nonce: str) -> dict[str, str]:
        """The slots that are no pair's; examples stand between markers, for what they quote."""
        scale = scale_text(self.scale)
        for grade in sorted(self.scale, key=lambda grade: grade.value):
            for example in grade.examples:
                parts: list[str | Image] = []
                enclose(parts, nonce, "EXAMPLE", (example,))
                head = EXAMPLE_HEAD.format(grade=grade.value)
                # A marker has its line for itself, whatever a template says behind the slot.
                scale = f"{scale.rstrip()}\n\n{head}{''.join(map(str, parts)).rstrip()}\n"
        return {"guideline": self.guideline.strip(), "scale": scale}

    def _contents(self, pair: Pair) -> dict[str, Content]:
        description: Content = (pair.description,) if pair.description.strip() else ()
        return {
            "query": pair.query,
            "description": description,
            "document": self._cut(pair.document),
        }

    def _cut(self, document: Content) -> Content:
        if self.max_characters is None:
            return document
        parts: list[str | Image] = []
        n_left = self.max_characters
        for part in document:
            if isinstance(part, str) and len(part) > n_left:
                return (*parts, part[:n_left], CUT)
            n_left -= len(part) if isinstance(part, str) else 0
            parts.append(part)
        return tuple(parts)


def content_digest(pair: Pair) -> str:
    """Hex digest of all that a judge may be shown of a pair: not of its ids."""
    return digest_of((pair.query, (pair.description,), pair.document))


def scale_text(scale: tuple[Grade, ...]) -> str:
    """The grades of a scale, the lowest first, a line each with what they mean.

    >>> print(scale_text((Grade(1, "Yes", "it helps"), Grade(0, "No"))))
    0 = No
    1 = Yes: it helps
    """
    ordered = sorted(scale, key=lambda grade: grade.value)
    return "\n".join(
        f"{grade.value} = {grade.name}{f': {grade.meaning}' if grade.meaning else ''}"
        for grade in ordered
    )


def pieces_of(template: str) -> Iterator[tuple[str, str]]:
    """Literal words and the slot that follows them ("" at the end), in turn.

    Raises
    ------
    TemplateError
        If a slot is unknown or lacking, or a brace belongs to none.
    """
    if len(template) > LONGEST_TEMPLATE:
        what = f"has {len(template):,} characters"
        raise TemplateError(what=what, expected=f"at most {LONGEST_TEMPLATE:,}")
    slots_listed = ", ".join(f"{{{slot}}}" for slot in SLOTS)
    try:
        parsed = list(Formatter().parse(template))
    except ValueError as error:
        expected = f"slots {slots_listed}, and {{{{ or }}}} for a brace"
        raise TemplateError(what=f"has a brace that is none ({error})", expected=expected) from None
    slots = [slot for _, slot, _, _ in parsed if slot is not None]
    for literal, slot, form, conversion in parsed:
        if slot is not None and (slot not in SLOTS or form or conversion):
            raise TemplateError(what=f"has a slot {{{slot}}}", expected=f"one of {slots_listed}")
        yield literal, slot or ""
    for needed in NEEDED:
        if slots.count(needed) != 1:
            what = f"has {{{needed}}} {slots.count(needed)} times"
            raise TemplateError(what=what, expected="it once")


def _whole(value: Any) -> int | None:
    """A grade as a number, also where it came as a text or with a point; None of anything else."""
    if isinstance(value, str):
        return int(value) if value.strip().isdecimal() else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == int(value) else None


# --- how sure a judge was of its grade -----------------------------------------------------------


GRADE = re.compile(r'"grade"\s*:\s*"?(\d+)')


def probabilities_of(reply: Reply | None, grade: int, grades: Sequence[int]) -> Mapping[int, float]:
    """The probability of each grade of the scale, summing to 1; empty where nothing tells.

    Looked at is the one token that holds the grade, with what the endpoint says might have stood
    there; what is no grade of the scale is left out.
    """
    if reply is None or not reply.tokens:
        return {}
    match = None
    for match in GRADE.finditer(reply.text):  # noqa: B007 the last one counts
        pass
    if match is None or match[1] != str(grade):
        return {}
    at = 0
    for token in reply.tokens:
        if at <= match.start(1) < at + len(token.text):
            return _of_token(token.alternatives, grades)
        at += len(token.text)
    return {}


def _of_token(alternatives: Mapping[str, float], grades: Sequence[int]) -> Mapping[int, float]:
    shares = dict.fromkeys(grades, 0.0)
    for text, log_probability in alternatives.items():
        word = text.strip(' ":')
        if word.isdecimal() and int(word) in shares:
            shares[int(word)] += exp(min(log_probability, 0.0))
    total = sum(shares.values())
    return {grade: share / total for grade, share in shares.items()} if total else {}
