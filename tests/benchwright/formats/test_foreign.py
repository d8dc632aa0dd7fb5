"""Files as other tools write them: told by content, read, and refused well when broken."""

import json

import polars as pl
import pytest

from benchwright.detection import FileKind
from benchwright.errors import FileProblemsError
from benchwright.formats.errors import UnreadableKindError
from benchwright.formats.mapped import query_key
from benchwright.uploads import Place, look_at

RANK_EVAL = {
    "requests": [
        {
            "id": "amsterdam",
            "request": {"query": {"match": {"text": "amsterdam city"}}},
            "ratings": [
                {"_index": "i", "_id": "d1", "rating": 0},
                {"_index": "i", "_id": "d2", "rating": 3},
            ],
        }
    ],
    "metric": {"precision": {"k": 20}},
}
OPENSEARCH = {
    "name": "Imported",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {
            "query": "red dress",
            "ratings": [{"docId": "d1", "rating": "3.0"}, {"docId": "d2", "rating": "0.0"}],
        }
    ],
}
OPENSEARCH_GOT = {"took": 3, "hits": {"hits": [{"_id": "x", "_source": OPENSEARCH}]}}
CASE = {
    "name": "films",
    "queries": [{"query_text": "star wars", "ratings": [{"doc_id": "d1", "rating": 2.0}]}],
}
LABEL_STUDIO = [
    {
        "id": 1,
        "data": {"query_id": "q1", "query": "red dress", "doc_id": "d1", "text": "A dress."},
        "annotations": [
            {
                "completed_by": 1,
                "was_cancelled": cancelled,
                "result": [
                    {
                        "from_name": "relevance",
                        "to_name": "text",
                        "type": "choices",
                        "value": {"choices": [choice]},
                    }
                ],
            }
            for cancelled, choice in ((True, "Not relevant"), (False, "Relevant"))
        ],
    }
]
ARGILLA = [
    {
        "id": "8f",
        "fields": {"query": "red dress", "passage": "A dress."},
        "metadata": {"query_id": "q1", "doc_id": "d1"},
        "suggestions": {},
        "responses": {"relevance": [{"value": 2, "user_id": "a"}]},
        "status": "completed",
    }
]
RESPONSES = [
    {"user_id": "a", "status": "draft", "values": {"relevance": {"value": 0}}},
    {"user_id": "b", "status": "submitted", "values": {"relevance": {"value": 2}}},
]
HIT = {"_index": "i", "_id": "d1", "_source": {"title": "One", "body": "words"}}
BULK = '{"index":{"_index":"i","_id":"d%d"}}\n{"title":"T","body":"words %d"}\n'
JUDGED, QRELS, DOCUMENTS = FileKind.JUDGED, FileKind.QREL_TABLE, FileKind.DOCUMENTS


def look(tmp_path, content, name="x"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    place = Place(path, name)
    return look_at(place, None, has_passages=False, is_short=False, is_whole=True).looks[0]


@pytest.mark.parametrize(
    ("content", "kind", "grades"),
    [
        ("query,docid,rating\nstar wars,d1,3\nrambo,d2,0\n", JUDGED, {3: 1, 0: 1}),
        (
            "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating\n"
            "t,c,1,star wars,d1,1,T,3\nt,c,1,rambo,d2,2,U,0\n",
            JUDGED,
            {3: 1, 0: 1},
        ),
        (json.dumps(CASE, indent=2), JUDGED, {2: 1}),
        (json.dumps(OPENSEARCH), JUDGED, {3: 1, 0: 1}),
        (json.dumps(OPENSEARCH, indent=1), JUDGED, {3: 1, 0: 1}),
        (json.dumps(OPENSEARCH_GOT), JUDGED, {3: 1, 0: 1}),
        (json.dumps(RANK_EVAL), JUDGED, {0: 1, 3: 1}),
        (json.dumps(RANK_EVAL, indent=4), JUDGED, {0: 1, 3: 1}),
        (json.dumps(LABEL_STUDIO), JUDGED, {"Relevant": 1}),
        (
            "annotation_id,annotator,doc_id,id,query,query_id,relevance\n"
            "1,1,d1,5,red dress,q1,Relevant\n",
            JUDGED,
            {"Relevant": 1},
        ),
        (json.dumps(ARGILLA, indent=1), JUDGED, {2: 1}),
        (json.dumps([ARGILLA[0] | {"responses": RESPONSES}], indent=1), JUDGED, {2: 1}),
        (
            '{"id": 1, "text": "A dress.", "label": ["relevant"], "query_id": "q1", '
            '"doc_id": "d1"}\n',
            QRELS,
            {"relevant": 1},
        ),
        (
            "example_id,query,query_id,product_id,product_locale,esci_label\n"
            "0,revent 80 cfm,0,B0,us,I\n1,revent 80 cfm,0,B1,us,E\n",
            JUDGED,
            {"I": 1, "E": 1},
        ),
        ("2 qid:10 1:0.03 2:0.66 # docid = GX029 inc = 1\n", QRELS, {2: 1}),
        ("# qid:1: rambo\n4\tqid:1 #\t7555\tRambo\n3\tqid:1 #\t1370\tIII\n", QRELS, {4: 1, 3: 1}),
        ('{"q1": {"d1": 2, "d2": 0}}', QRELS, {2: 1, 0: 1}),
        (json.dumps([{"_id": "d1", "title": "One", "text": "words"}]), DOCUMENTS, {}),
        (json.dumps([{"doc_id": "d1", "title": "One", "abstract": "w"}], indent=2), DOCUMENTS, {}),
        (BULK % (1, 1) + BULK % (2, 2), DOCUMENTS, {}),
        (json.dumps(HIT) + "\n", DOCUMENTS, {}),
        (json.dumps({"hits": {"hits": [HIT]}}, indent=1), DOCUMENTS, {}),
        (",cord_uid,title,abstract\n0,ug7,T,a\n1,ug8,U,b\n", DOCUMENTS, {}),
        ("\n.I 1  \n.T  \nTitle\n.W \nwords\n.I 2\n.W\nother\n.X\n1 2\n", DOCUMENTS, {}),
    ],
)
def test_what_another_tool_wrote_is_told_and_read(tmp_path, content, kind, grades):
    page = look(tmp_path, content)

    assert (page.part.kind, page.grades) == (kind, grades)
    assert page.is_ready, (page.error, page.problems)
    assert page.n_rows_read


@pytest.mark.parametrize("name", ["x", "queries.txt"])
@pytest.mark.parametrize("separator", [" ", "\t"])
def test_three_columns_with_decimals_are_asked_for(tmp_path, name, separator):
    rows = [("q1", "d1", "12.5"), ("q1", "d2", "11.25")]
    page = look(tmp_path, "".join(separator.join(row) + "\n" for row in rows), name)

    assert page.part.kind is None
    assert "a run's score, or a grade?" in page.part.note


def test_a_bulk_request_brings_what_it_indexes_and_updates(tmp_path):
    update = '{"update": {"_id": "d2"}}\n{"doc": {"title": "U", "body": "more"}}\n'

    page = look(tmp_path, BULK % (1, 1) + '{"delete": {"_id": "d0"}}\n' + update)

    assert page.columns == ("_id", "title", "body")
    assert page.rows == (("d1", "T", "words 1"), ("d2", "U", "more"))


def test_an_index_without_a_name_is_left_out(tmp_path):
    page = look(tmp_path, ",cord_uid,title,abstract\n0,ug7,T,a\n")

    assert page.columns == ("cord_uid", "title", "abstract")
    assert page.rows == (("ug7", "T", "a"),)


@pytest.mark.parametrize("first", [0, 2])
def test_a_sheet_is_read_and_others_are_named(tmp_path, first):
    import xlsxwriter

    path = tmp_path / "made.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Ratings")
        for number, row in enumerate([("query", "docid", "rating"), ("star wars", 7, 2)]):
            sheet.write_row(first + number, 0, row)
        book.add_worksheet("Notes").write(0, 0, "x")

    page = look(tmp_path, path.read_bytes(), "r.xlsx")

    assert (page.part.kind, page.grades) == (JUDGED, {2: 1})
    assert page.rows == (("star wars", "7", "2"),)
    assert page.part.note == "The sheet 'Ratings' is read, and not 'Notes'."


def test_a_sheet_that_polars_writes_is_read(tmp_path):
    path = tmp_path / "p.xlsx"
    pl.DataFrame({"qid": ["q1"], "text": ["star wars"]}).write_excel(path)

    page = look(tmp_path, path.read_bytes(), "p.xlsx")

    assert (page.part.kind, page.n_rows_read) == (FileKind.QUERIES, 1)


@pytest.mark.parametrize("content", [b"\xd0\xcf\x11\xe0 and no more", b"\xd0\xcf\x11\xe0"])
def test_a_broken_office_file_says_what_to_do(tmp_path, content):
    with pytest.raises(UnreadableKindError, match="save a sheet as xlsx or CSV UTF-8"):
        look(tmp_path, content, "x.xls")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('[\n{"_id": "d1", "text": "x"},\n{"_id":', r"x:3: is not JSON: .*cut short"),
        ('{\n"requests": 7\n}', r"x:1: is JSON of no known shape; expected a list of objects"),
        ("[\n7\n]", r"x:1: record 1 is 7; expected an object"),
        pytest.param(
            '[{"n": 1' + 5000 * "0" + "}]", "x: holds a number of more digits", id="digits"
        ),
        ('[{"fields": {"query": "a"}, "responses": {"r": [1]}}]', "record 1 is no annotated task"),
        ('[{"fields": {"query": "a"}, "responses": ["r"]}]', "record 1 is no annotated task"),
        ('[{"data": {"query": "a"}, "annotations": [{"result": 5}]}]', "1 is no annotated task"),
    ],
)
def test_a_broken_document_is_refused_with_its_line(tmp_path, content, words):
    with pytest.raises(FileProblemsError, match=words):
        look(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "query,docid,rating\nstar wars,d1,high\nrambo,d2,1\n",
            "grade (column 'rating') is 'high'",
        ),
        (BULK % (1, 1) + '{"index": {"_id": "d2"}}\n', "the document of this action is missing"),
        (BULK % (1, 1) + '{"title": "T"}\n', "is no action; expected one of index, create"),
        (
            json.dumps([{"data": {"qid": "q1", "query": "a b"}, "annotations": [{}, {}]}]),
            "query q1 was on line 1 already",
        ),
        ("2 qid:1 1:0.5 # d1\n1 qid:1 1:0.5\n", "names no document; expected its id after '#'"),
        (
            json.dumps([{"query_text": "a b", "doc_id": "d 1", "rating": 1}], indent=1),
            "white space",
        ),
    ],
)
def test_bad_records_are_told(tmp_path, content, words):
    page = look(tmp_path, content)

    assert any(words in str(problem) for problem in page.problems), page


def test_a_query_without_an_id_has_one_of_its_words():
    assert query_key("star  wars") == query_key(" star wars") != query_key("Star Wars")
