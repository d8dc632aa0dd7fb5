"""Graded documents as tasks of Label Studio, with the configuration that shows them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from benchwright.exports.exporter import Exporter, Member, Snippet, documents_of, judged
from benchwright.exports.side_files import MANIFEST, machine_files, manifest_json
from benchwright.releases.source import ReleaseSource

GRADE, TEXT = "grade", "text"


def members(source: ReleaseSource, work: Path) -> Iterator[Member]:
    """Yield the configuration, a list of tasks of each split, and the manifest."""
    yield from machine_files(source)
    yield MANIFEST, [manifest_json(source.manifest)]
    yield "config.xml", [config_xml(source)]
    for split in source.splits:
        yield f"tasks/{split}.json", tasks_json(source, split)


def config_xml(source: ReleaseSource) -> bytes:
    """The labeling configuration: query above, document below, one choice of the scale's grades."""
    choices = "\n".join(
        f"    <Choice value={quoteattr(str(grade['value']))} hint={quoteattr(grade['name'])}/>"
        for grade in source.grades
    )
    return (
        "<View>\n"
        '  <Header value="$query"/>\n'
        '  <Header value="$title" size="5"/>\n'
        f'  <Text name="{TEXT}" value="$text"/>\n'
        f'  <Choices name="{GRADE}" toName="{TEXT}" choice="single-radio" required="true">\n'
        f"{choices}\n"
        "  </Choices>\n"
        "</View>\n"
    ).encode()


def tasks_json(source: ReleaseSource, split: str) -> Iterator[bytes]:
    """Yield a task for each graded document of a query, with its grade as an annotation.

    Tasks come by document, in the order of the corpus: its texts are gone through once.
    """
    texts = {query.qid: query.text for query in source.queries()}
    grades: dict[str, list[tuple[str, int]]] = {}
    for qid, docid, grade in judged(source, split):
        grades.setdefault(docid, []).append((qid, grade))
    separator = b"[\n"
    for document in documents_of(source):
        for qid, grade in grades.get(document.docid, ()):
            task = {
                "data": {
                    "query_id": qid,
                    "query": texts[qid],
                    "doc_id": document.docid,
                    "title": document.title,
                    TEXT: document.text,
                },
                "annotations": [{"result": [_result(grade)]}],
            }
            yield separator + json.dumps(task, ensure_ascii=False).encode()
            separator = b",\n"
    yield b"[]\n" if separator == b"[\n" else b"\n]\n"


def _result(grade: int) -> dict[str, Any]:
    value = {"choices": [str(grade)]}
    return {"from_name": GRADE, "to_name": TEXT, "type": "choices", "value": value}


LABEL_STUDIO = Exporter(
    name="label-studio",
    label="Label Studio",
    about="For each split the graded documents as tasks with their grades; the configuration.",
    needs_texts=True,
    loses=(
        "Documents and queries without a grade.",
        "Metadata of documents, and what is known of a query beyond its text.",
        "Families, slices and weights.",
    ),
    members=members,
    snippets=(
        Snippet(
            "Label Studio",
            "# a project with {folder}/config.xml as its labeling interface, then\n"
            "curl -H 'Authorization: Token …' -F file=@{folder}/tasks/{split}.json \\\n"
            "  localhost:8080/api/projects/1/import",
        ),
    ),
    suffix="-label-studio",
)
