"""What a query is after, guessed from its wording, clicks and relevant documents.

Every rule gives a reason or nothing; what it gives is a suggestion for a person to confirm. A query
may be of several kinds, or of none.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchwright.slices.asked import AskedQuery, Reason
from benchwright.slices.words import contains_run, weighted_overlap, words_of

CLICK_SHARE = 0.6
MIN_CLICKS = 5
LOW_OVERLAP = 0.3
# Three words of ten that weigh 1.1 each are a little more than 0.3.
ROUNDING = 1e-9
LONG_WORDS = 6
MOST_RELEVANT = 2
# Characters of a query in which patterns are looked for: a code far behind is not what it is about.
LOOKED_AT = 500
VOCABULARY_GAP = "vocabulary_gap"

SITE_WORDS = frozenset(
    (
        *("homepage", "website", "webpage", "portal", "intranet", "webmail"),
        *("login", "logon", "signin", "facebook", "youtube", "wikipedia", "google"),
        *("twitter", "instagram", "linkedin", "github", "amazon", "reddit"),
    )
)
SITE_PHRASES = (
    ["home", "page"],
    ["log", "in"],
    ["sign", "in"],
    ["sign", "up"],
    ["official", "site"],
    ["web", "site"],
)
QUESTION_WORDS = frozenset(("who", "whom", "whose", "what", "when", "where", "which", "why", "how"))

_URL = re.compile(
    r"(?:https?://|www\.)\S+"
    r"|\b[\w-]{2,}(?:\.[\w-]{2,})*\.(?:com|org|net|edu|gov|io|dev|info|co\.uk|eu|de|fr|no|se)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«]\s*\S[^\"”“»]*[\"”“»]")
_VERSION = re.compile(
    r"\bv\d+(?:\.\d+)+\b|\b\d+\.\d+\.\d+(?:\.\d+)*\b|\b[^\W\d][\w+#]*[ -]\d+\.\d+\b", re.IGNORECASE
)
_ERROR_NAME = re.compile(r"\b\w*[^\W\d_](?:Error|Exception|Warning|Fault)\b|\b0x[0-9a-fA-F]{2,}\b")
_ERROR_CODE = re.compile(
    r"\b(?:error|errno|code|status|exit)\s+(?:code\s+)?[#-]?\d{2,}\b", re.IGNORECASE
)
_CODE = re.compile(
    r"(?<![\w.])(?=[\w/-]*\d[\w/-]*\d[\w/-]*\d)(?=[\d/-]*[^\W\d_])[\w/-]{4,}(?![\w.])"
)
_LONG_NUMBER = re.compile(r"(?<![\w.])\d[\d -]{5,}\d(?![\w.])|\b10\.\d{4,}/\S+")


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the rules know beside the query itself.

    `weights` are rarities of words among the corpus' documents; `brands` are words and phrases that
    stand for a site or a brand here.
    """

    brands: frozenset[str] = frozenset()
    weights: Mapping[str, float] = field(default_factory=dict)


def navigational(query: AskedQuery, knowledge: Knowledge) -> Reason | None:
    """It is after one place: an address, a brand, a site, or one document takes the clicks."""
    address = _URL.search(query.text[:LOOKED_AT])
    if address:
        return Reason("url", f"“{address[0]}” is an address")
    words = words_of(query.text)
    brand = next(
        (name for name in sorted(knowledge.brands) if contains_run(words, words_of(name))), None
    )
    if brand:
        return Reason("brand", f"“{brand}” is a brand or a site here")
    site = next((word for word in words if word in SITE_WORDS), None)
    if site is None:
        site = next((" ".join(two) for two in SITE_PHRASES if contains_run(words, two)), None)
    if site:
        return Reason("site-word", f"“{site}” asks for a site")
    return _one_clicked(query)


def _one_clicked(query: AskedQuery) -> Reason | None:
    n_clicks = query.n_clicks or 0
    if n_clicks < MIN_CLICKS:
        return None
    docid, most = max(query.clicks.items(), key=lambda pair: (pair[1], pair[0]))
    if most < CLICK_SHARE * n_clicks:
        return None
    return Reason("clicks", f"{100 * most / n_clicks:.0f} % of {n_clicks} clicks are on {docid}")


def exact_match(query: AskedQuery, knowledge: Knowledge) -> Reason | None:
    """It names the very thing: in quotes, by a code, a version, or by the title of a document."""
    beginning = query.text[:LOOKED_AT]
    for code, pattern, what in (
        ("quoted", _QUOTED, "stands in quotes"),
        ("error-code", _ERROR_NAME, "names an error"),
        ("error-code", _ERROR_CODE, "names an error"),
        ("identifier", _LONG_NUMBER, "looks like an identifier"),
        ("version", _VERSION, "is a version"),
        ("identifier", _CODE, "looks like an identifier"),
    ):
        match = pattern.search(beginning)
        if match:
            return Reason(code, f"{match[0].strip()} {what}")
    return _title_named(query)


def _title_named(query: AskedQuery) -> Reason | None:
    """The title of one of at most two relevant documents, and BM25 has one of them first."""
    n_relevant = len(query.relevant) if query.n_relevant is None else query.n_relevant
    if not 1 <= n_relevant <= MOST_RELEVANT or query.is_lexical_hit is False:
        return None
    words = words_of(query.text)
    first = "; BM25 has it first" if query.is_lexical_hit else "; no BM25 run to look at"
    for document in query.relevant:
        title = words_of(document.title)
        if words and words == title:
            return Reason("title", f"equals the title of {document.docid}{first}")
        if _is_contained(words, title):
            return Reason("title", f"holds the title of {document.docid}, or the other way{first}")
    return None


def _is_contained(words: list[str], title: list[str]) -> bool:
    """Whether one holds the other; a single word inside a longer text says nothing."""
    short, long = sorted((words, title), key=len)
    return len(short) >= 2 and contains_run(long, short)


def semantic(query: AskedQuery, knowledge: Knowledge) -> Reason | None:
    """Its words are not those of its relevant documents."""
    if query.metadata.get(VOCABULARY_GAP) in (True, "1", "true", "yes"):
        return Reason("vocabulary-gap", "its metadata says so")
    words = set(words_of(query.text))
    if not words or not query.relevant:
        return None
    overlaps = [
        weighted_overlap(
            words, set(words_of(f"{document.title} {document.text}")), knowledge.weights
        )
        for document in query.relevant
    ]
    most = max(overlaps)
    if most > LOW_OVERLAP + ROUNDING:
        return None
    return Reason(
        "low-overlap", f"at most {most:.2f} of its words, by rarity, are in a relevant text"
    )


def informational(query: AskedQuery, knowledge: Knowledge) -> Reason | None:
    """It is a question, or as long as one."""
    words = words_of(query.text)
    if words and words[0] in QUESTION_WORDS:
        return Reason("question", f"begins with “{words[0]}”")
    if contains_run(words, ["how", "to"]):
        return Reason("question", "asks “how to”")
    if len(words) > LONG_WORDS:
        return Reason("long", f"has {len(words)} words")
    return None
