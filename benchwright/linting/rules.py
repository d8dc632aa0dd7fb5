"""What may be wrong with a benchmark in the field's formats, and how bad it is for each of them.

One table: code, what is wrong, what to do, and the severity for each target. A target that a rule
does not name reads such data well. docs/formats.md says of each rule which reader does what.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from benchwright.findings import Severity

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

CONTENT = "content"
TSV = ("beir", "croissant", "ids-only")  # tables with a header, whose readers guess types
JSONL = ("beir", "croissant", "ids-only")
PARQUET = ("hub", "mteb", "sentence-transformers")
TREC = ("trec", "ir-datasets")
FORMATS = (*TSV, *PARQUET, *TREC)
TARGETS = (*FORMATS, CONTENT)
# Formats whose readers drop a result that has the id of its query.
DROPS_OWN_ID = ("beir", "hub", "mteb", "croissant")
# Formats in which a grade below 0 is read as a grade.
NO_NEGATIVE = (*TSV, "hub", "mteb")


@dataclass(frozen=True, slots=True)
class Rule:
    """`says` and `advice` are sentences; `says` is followed by what the first case is."""

    code: str
    says: str
    advice: str
    severities: Mapping[str, Severity]

    def severity(self, target: str) -> Severity | None:
        return self.severities.get(target)


def _rule(code: str, says: str, advice: str, *levels: tuple[Severity, tuple[str, ...]]) -> Rule:
    severities = {target: severity for severity, targets in levels for target in targets}
    return Rule(code, says, advice, MappingProxyType(severities))


_ALL = (
    # --- ids ---
    _rule(
        "id-not-string",
        "An id is not a JSON string; its keys would not match those of the qrels.",
        'Write it in quotes: "_id": "7".',
        (ERROR, JSONL),
        (WARNING, PARQUET),
    ),
    _rule(
        "id-empty",
        "An id is empty.",
        "Give each row an id of its own.",
        (ERROR, FORMATS),
    ),
    _rule(
        "id-white-space",
        "An id holds white space, a control character or half a character.",
        "Rename it: ids are written without them.",
        (ERROR, FORMATS),
    ),
    _rule(
        "id-quote",
        "An id begins with a quote, which readers of TSV take away.",
        "Rename it.",
        (ERROR, TSV),
    ),
    _rule(
        "id-leading-zeros",
        "Readers that guess types take an id for a number, and write it otherwise.",
        "Put a letter before it, such as d-007.",
        (ERROR, TSV),
    ),
    _rule(
        "id-number",
        "An id is a number in another form than readers that guess types write one.",
        "Put a letter before it, such as d-1e5.",
        (WARNING, TSV),
    ),
    _rule(
        "id-null-word",
        "Readers that guess types take an id for a missing value.",
        "Put a letter before it, such as d-NA.",
        (ERROR, TSV),
    ),
    _rule(
        "id-duplicate",
        "An id comes twice.",
        "Keep one of the two.",
        (ERROR, FORMATS),
    ),
    _rule(
        "id-order",
        "Ids are not in the order of their bytes, so that the same data can have another hash.",
        "Sort the rows by the bytes of their ids.",
        (NOTE, FORMATS),
    ),
    _rule(
        "query-id-is-document-id",
        "A query has the id of a document; BEIR and MTEB drop such results without a word.",
        "Give queries ids of their own, such as q-1.",
        (WARNING, DROPS_OWN_ID),
    ),
    # --- qrels ---
    _rule(
        "header-missing",
        "The header is missing; BEIR's reader would lose the first judgment.",
        "Put query-id<TAB>corpus-id<TAB>score above the rows.",
        (ERROR, TSV),
    ),
    _rule(
        "header-unexpected",
        "The first line is a header, which the format has not.",
        "Drop it.",
        (ERROR, TREC),
    ),
    _rule(
        "columns",
        "A row has another number of columns.",
        "Write the columns that the format names, with one separator between them.",
        (ERROR, FORMATS),
    ),
    _rule(
        "grade-not-integer",
        "A score is not a whole number.",
        "Write 0, 1, 2; not 1.0.",
        (ERROR, FORMATS),
    ),
    _rule(
        "grade-negative",
        "A score is below 0; readers take -1 for a grade, not for unjudged.",
        "Drop the line, or use TREC qrels.",
        (ERROR, NO_NEGATIVE),
    ),
    _rule(
        "grade-range",
        "A grade is outside -127 to 127, which is what TREC's readers hold.",
        "Map the scale to smaller numbers.",
        (ERROR, FORMATS),
    ),
    _rule(
        "pair-duplicate",
        "A pair of query and document is judged twice; the last one wins, or the reader stops.",
        "Keep one of the two.",
        (ERROR, FORMATS),
    ),
    _rule(
        "query-dangling",
        "A query of the qrels is not among the queries.",
        "Add it, or drop the line.",
        (ERROR, FORMATS),
    ),
    _rule(
        "document-dangling",
        "A document of the qrels is not in the corpus.",
        "Add it, or drop the line.",
        (ERROR, FORMATS),
    ),
    _rule(
        "queries-lacking",
        "Queries of a split are not among the queries: its qrels are of another split or version.",
        "Take the qrels that belong to these queries.",
        (WARNING, FORMATS),
    ),
    _rule(
        "documents-lacking",
        "Judged documents are not in the corpus: it was cut, or is another version.",
        "Take the whole corpus: on a part of it every system looks better than it is.",
        (WARNING, FORMATS),
    ),
    _rule(
        "query-in-two-splits",
        "A query is judged in two splits.",
        "Keep it in one of them.",
        (ERROR, FORMATS),
    ),
    _rule(
        "separator",
        "Columns are not separated by one space, as all readers of TREC qrels take it.",
        "Write single spaces.",
        (WARNING, TREC),
    ),
    _rule(
        "comment",
        "A line begins with #; most readers of TREC qrels take it for a judgment, or stop.",
        "Drop the line.",
        (ERROR, TREC),
    ),
    # --- texts ---
    _rule(
        "not-json",
        "A line is not a JSON object.",
        "Write one object a line.",
        (ERROR, JSONL),
    ),
    _rule(
        "title-missing",
        "A document has no title; readers hand over None, and models put title and text together.",
        'Write "title": "" where there is none.',
        (WARNING, ("beir", "croissant", "hub", "mteb")),
    ),
    _rule(
        "text-null",
        "A text is missing or not a string, and would reach the encoder so.",
        'Write "text": "", or drop the row.',
        (ERROR, (*JSONL, *PARQUET)),
    ),
    _rule(
        "metadata-differs",
        "Metadata has other keys or types than in the rows before; older readers stop at that.",
        "Write the same keys with the same types in every row, null where there is nothing.",
        (WARNING, JSONL),
    ),
    _rule(
        "topic-field-missing",
        "A topic lacks one of num, title, desc and narr, which ir_datasets asserts.",
        "Write all four; desc and narr may be empty.",
        (ERROR, ("trec",)),
    ),
    # --- files ---
    _rule(
        "file-missing",
        "A file of the format is missing.",
        "Add it beside the others.",
        (ERROR, FORMATS),
    ),
    _rule(
        "file-unreadable",
        "A file cannot be read.",
        "Write it again.",
        (ERROR, FORMATS),
    ),
    _rule(
        "encoding",
        "A line is not UTF-8.",
        "Save the file as UTF-8.",
        (ERROR, FORMATS),
    ),
    _rule(
        "byte-order-mark",
        "The file begins with a byte order mark, at which readers of JSON lines stop.",
        "Save it as UTF-8 without BOM.",
        (ERROR, (*TSV, *TREC)),
    ),
    _rule(
        "blank-line",
        "A line is blank; BEIR's reader stops at it.",
        "Remove it.",
        (ERROR, TSV),
        (WARNING, TREC),
    ),
    _rule(
        "line-end",
        "Lines end in CR LF; readers take it, and hashes differ.",
        "Write LF.",
        (WARNING, (*TSV, *TREC)),
    ),
    _rule(
        "top-folder",
        "The zip has not one top folder of its own name, and BEIR's helper returns that path.",
        "Zip the folder itself, and call the zip like it.",
        (WARNING, ("beir",)),
    ),
    _rule(
        "hub-config",
        "README.md does not name the configs corpus, queries and qrels, with qrels as the default.",
        "Write them into its head, with default: true on qrels.",
        (ERROR, PARQUET),
    ),
    _rule(
        "hub-script",
        "There is a loading script, which datasets 4 and later refuse.",
        "Drop it: the README.md says what the files are.",
        (ERROR, PARQUET),
    ),
    _rule(
        "hub-type",
        "A column has another type than readers want: ids and texts are strings, scores int32.",
        "Cast it.",
        (WARNING, PARQUET),
    ),
    _rule(
        "split-names",
        "Corpus, queries and qrels have not the same split names, and its evaluator asks for one.",
        "List the files of corpus and queries under each split of the qrels.",
        (ERROR, ("sentence-transformers",)),
    ),
    # --- content ---
    _rule(
        "text-conflict",
        "Two documents of the same text have different grades for one query.",
        "Judge them alike, or drop one.",
        (WARNING, (CONTENT,)),
    ),
    _rule(
        "document-empty",
        "A document has neither title nor text.",
        "Fill it, or drop it.",
        (WARNING, (CONTENT, "sentence-transformers")),
    ),
    _rule(
        "query-empty",
        "A query has no text.",
        "Give it words, or drop it.",
        (ERROR, (CONTENT,)),
        (WARNING, ("sentence-transformers",)),
    ),
    _rule(
        "machine-untold",
        "A machine gave grades here, and nothing that people read says so.",
        "Write into README.md or MACHINE_JUDGED.md which model judged, and how it was checked.",
        (WARNING, (CONTENT,)),
    ),
    _rule(
        "query-all-zero",
        "All grades of a query are 0: every run scores 0 on it, and means count it.",
        "Judge more, or drop it from the release.",
        (WARNING, (CONTENT,)),
    ),
)
RULES: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in _ALL})
