"""What a benchmark is made of."""

from benchwright.cli.sites.nouns.table import (
    ALL,
    JSON_FILE,
    NUMBER,
    QUERIES,
    RENAMED,
    SENT,
    SHOWN,
    SPLIT,
    THESE,
    Noun,
    among,
    changed,
    done,
    either,
    listed,
    one,
    removed,
    seen,
    several,
    word,
)

UPON = several(
    "--seen", "queries_seen", metavar="ID", help="Refuse it unless it has these queries."
)
UNIT = among("passage", "document", "image")

NOUNS = {
    "benchmarks": Noun(
        "benchmarks/", "slug name visibility created_at",
        {
            "show": SHOWN,
            "change": changed(
                "Change what it is called, who sees it, how its texts are shown.",
                RENAMED,
                one("--description", metavar="TEXT", help="What it is for."),
                one("--visibility", type=among("private", "public"), help="Who sees it."),
                either("--embed/--no-embed", "may_embed", "Its board on other sites, or not."),
                one("--text-format", type=among("plain", "markdown", "html"), help="Of its texts."),
                one("--line-breaks", type=among("auto", "join", "keep"), help="Of plain texts."),
            ),
        },
        is_of_site=True,
    ),
    "corpora": Noun(
        "corpora/", "name unit lang n_documents newest_number benchmarks",
        is_of_site=True,
    ),
    "corpus": Noun(
        "corpus/",
        verbs={
            "show": seen("", ALL),
            "change": changed(
                "Change what is known of it.",
                one("--unit", type=UNIT, help="What it holds."),
                one("--measures", type=UNIT, help="What the benchmark measures on it."),
                one("--language", "lang", metavar="CODE", help="Such as en, de, sw."),
                either("--pass-on/--withhold", "may_be_passed_on", "Its texts in releases."),
                several("--show-metadata", "shown_metadata", metavar="KEY",
                        help="A key that people who judge see; once for each."),
                path="",
            ),
            "fetch": done(
                "fetch/", "Fetch a collection by its name, and import it.",
                word("collection"),
                one("--max-docs", type=int, metavar="N", help="A part: at most so many."),
                one("--seed", type=int, metavar="N", help="Draws the same part again."),
                one("--take", is_flag=True, help="Take it as the corpus's next version."),
            ),
            "index": done("searchable/", "Make it searchable by words."),
            "version": seen("versions/{number}/", "What a version changes.", NUMBER),
            "decide": done(
                "versions/{number}/", "Take a version that is proposed, or discard it.",
                NUMBER, word("decision", type=among("take", "discard")),
            ),
        },
    ),
    "documents": Noun(
        "documents/",
        verbs={
            "show": SHOWN,
            "grades": seen("/pair/", "All that was said of one for a query, and why its grade is.",
                           word("query"), word("document")),
        },
    ),
    "queries": Noun(
        "queries/", "query text family split weight",
        {
            "show": SHOWN,
            "search": listed("{}/search/", "Documents with words, beside a query.",
                             "document title grade excerpt",
                             one("--words", "q", required=True, metavar="TEXT", help="Which."),
                             one("--unjudged", is_flag=True, help="Without a grade alone.")),
        },
    ),
    "draws": Noun(
        "query-draws/", "id seed n_population n_drawn created_at",
        {
            "new": done(
                "", "Draw families, or go on with a draw.",
                one("-n", "--families", "n", type=int, required=True, metavar="N", help="In all."),
            ),
            "queries": listed("{}/queries/", "The queries of a draw.", "query family"),
        },
    ),
    "family": Noun(
        "families/", "id split n_queries doubt is_flagged reviewed_by",
        {
            "show": SHOWN,
            "links": listed("links/", "Links between queries, the strongest first.",
                            "query_a query_b reason similarity verdict"),
            "confirm": done(
                "confirm/", "Say of each that its queries are one need.",
                word("families", nargs=-1, required=True, type=int),
            ),
            "merge": done(
                "{}/merge/", "Merge another one into it.",
                word("other", type=int), UPON,
                one("--split", type=SPLIT, help="Where they are in two: which one they go to."),
            ),
            "split": done("{}/split/", "Make a family of its own of some queries.", THESE, UPON),
            "tell": done(
                "{}/verdict/", "Say of two of its queries whether they are one need.",
                word("query_a"), word("query_b"), word("verdict", type=among("same", "different")),
                UPON,
            ),
            "undo": done(
                "undo/", "Undo a change of families: the last, unless one is named.",
                one("--change", type=int, metavar="ID", help="Of the change."),
            ),
        },
    ),
    "splits": Noun(
        "splits/",
        verbs={
            "show": seen("", ALL),
            "queries": listed("queries/", "Which query is in which.", "query split"),
            "hide": done(
                "hide/", "Hide the grades of these splits alone; of none where none is named.",
                word("hidden", nargs=-1, type=SPLIT),
            ),
            "leaks": seen("leaks/", "What leaks between them, with the proof."),
        },
    ),
    "slices": Noun(
        "slices/", "name kind n_members minimum is_registered",
        {
            "queries": listed(
                "{}/queries/", "The queries of one.", "query source state reason",
                one("--state", type=among("member", "rejected", "suggested"), help="Those alone."),
            ),
            "add": done("{}/queries/", "Put queries into it by hand.", THESE),
            "decide": done(
                "{}/decide/", "Confirm or reject suggestions, or take members out.",
                word("verdict", type=among("confirm", "reject")), QUERIES,
            ),
            "refresh": done("{}/refresh/", "Apply its rule again."),
            "change": changed(
                "Change its name, description, minimum or rule.",
                RENAMED,
                one("--description", metavar="TEXT", help="What its queries have in common."),
                one("--minimum", type=int, metavar="N", help="With fewer none can register it."),
                one("--rule", type=JSON_FILE, metavar="FILE", help="JSON (docs/slices.md)."),
            ),
            "remove": removed("Delete it; its queries stay."),
        },
        by="name", at="name",
    ),
    "contamination": Noun(
        "contamination/", "id name kind n_outside n_exact n_near",
        {
            "new": done(
                "", "Check the queries against FILE.",
                SENT,
                one("--name", metavar="NAME", help="What the list is; by default the file's."),
                one("--salt", metavar="TEXT", help="Of a sketch with a salt of its owner's."),
            ),
            "salt": seen("salt/", "The salt of a sketch that is made for it (`sketch --salt`)."),
            "show": SHOWN,
            "matches": listed("{}/matches/", "The queries that are known there, nearest first.",
                              "query degree similarity outside_text"),
            "clean": listed("{}/clean/", "The queries that are not.", "query"),
            "slice": done(
                "{}/clean/", "Make a slice of those that are not.",
                one("--without-possible", is_flag=True, help="Leave possible matches out, too."),
            ),
            "remove": removed("Delete it."),
        },
        by="name", single="check",
    ),
    "logs": Noun(
        "logs/", "name n_rows n_distinct n_traffic created_at",
        {
            "show": SHOWN,
            "samples": listed("{}/samples/", "What was drawn from it.",
                              "id seed n_families n_queries created_at"),
        },
        by="name",
    ),
    "files": Noun(
        "uploads/", "id name size created_at",
        {"show": SHOWN, "remove": removed("Take it away.")},
        by="name",
    ),
}  # fmt: skip
