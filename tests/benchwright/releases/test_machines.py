"""A release of a machine's grades says so in every format; labels beside people's stay apart."""

import io
import zipfile
from dataclasses import replace

import pytest

from benchwright.detection import parts_of_collection
from benchwright.exports import EXPORTERS
from benchwright.exports.croissant import croissant
from benchwright.exports.exporter import written, zipped
from benchwright.files.archives import open_source
from benchwright.linting.folders import lint_folder
from benchwright.releases.machines import MachineLabel, label_lines
from tests.benchwright.odd_toy import source

DERIVATION = {"judge": "nova", "models": ["nova-1-0"], "prompt_hash": "0123456789abcdef"}
BESIDE = {"name": "by nova", "judge": "nova", "models": ["nova-1-0"], "n": 2}
LABELS = [
    MachineLabel("q-cjk", "d-cjk", 2, "nova", "nova-1-0", "1 (0123456789ab)"),
    MachineLabel("q-cjk", "d-empty", 0, "a\tjudge\nof two lines", "", ""),
]
SENTENCE = "A machine gave these grades, not people: nova (nova-1-0), prompt 0123456789ab."


def by_machine():
    of = source()
    qrels = {"kind": "machine", "derivation": DERIVATION}
    return replace(of, manifest={**of.manifest, "qrels": qrels})


def with_labels():
    of = source()
    return replace(
        of,
        manifest={**of.manifest, "machine_labels": [BESIDE]},
        machine_labels=lambda: label_lines(LABELS),
    )


@pytest.mark.parametrize("name", EXPORTERS)
def test_every_format_says_that_a_machine_judged(tmp_path, name):
    written(EXPORTERS[name], by_machine(), tmp_path / "by")
    written(EXPORTERS[name], source(), tmp_path / "people")

    words = {
        folder: "".join(path.read_text() for path in sorted((tmp_path / folder).rglob("*.md")))
        for folder in ("by", "people")
    }

    assert SENTENCE in words["by"]
    assert "achine" not in words["people"]


@pytest.mark.parametrize("name", ["beir", "trec", "ids-only", "hub", "mteb", "ir-datasets"])
def test_labels_of_a_machine_are_a_file_of_their_own(tmp_path, name):
    folder, without = tmp_path / "with", tmp_path / "without"
    written(EXPORTERS[name], with_labels(), folder)
    written(EXPORTERS[name], source(), without)

    assert (folder / "machine_labels.tsv").read_text() == (
        "query-id\tcorpus-id\tgrade\tjudge\tmodel\tprompt-version\n"
        "q-cjk\td-cjk\t2\tnova\tnova-1-0\t1 (0123456789ab)\n"
        "q-cjk\td-empty\t0\ta judge of two lines\t\t\n"
    )
    changed = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
        and (
            not (without / path.relative_to(folder)).is_file()
            or path.read_bytes() != (without / path.relative_to(folder)).read_bytes()
        )
    }
    assert changed - {"manifest.json"} == {"machine_labels.tsv"}


def test_labels_beside_the_grades_are_taken_for_qrels_by_no_import(tmp_path):
    path = tmp_path / "toy.zip"
    work = tmp_path / "work"
    work.mkdir()
    path.write_bytes(b"".join(zipped(EXPORTERS["beir"], with_labels(), work)))

    with open_source(path) as archive:
        parts = {part.member: part for part in parts_of_collection(archive, work)}

    assert parts["machine_labels.tsv"].kind is None
    assert "no qrels of people" in parts["machine_labels.tsv"].note


def test_metadata_counts_the_labels_beside_the_grades():
    of = with_labels()
    sentence = "2 labels of a machine (nova: nova-1-0) lie in machine_labels.tsv"

    assert sentence in croissant(of, {})["description"]


def findings(folder) -> list[str]:
    return [
        finding.where
        for finding in lint_folder(folder).findings
        if finding.code == "machine-untold"
    ]


def test_linter_finds_a_folder_that_does_not_tell_of_a_machine(tmp_path):
    folder = tmp_path / "toy"
    written(EXPORTERS["beir"], by_machine(), folder)
    assert findings(folder) == []

    (folder / "MACHINE_JUDGED.md").write_text("Grades of our own.")
    assert findings(folder) == ["manifest.json"]

    (folder / "MACHINE_JUDGED.md").unlink()
    assert findings(folder) == ["manifest.json"]
    (folder / "README.md").write_text("Judged by an LLM.")
    assert findings(folder) == []


def test_linter_finds_labels_of_a_machine_that_nothing_names(tmp_path):
    folder = tmp_path / "toy"
    written(EXPORTERS["beir"], with_labels(), folder)
    assert findings(folder) == []

    written(EXPORTERS["beir"], source(), tmp_path / "untold")
    labels = (folder / "machine_labels.tsv").read_bytes()
    (tmp_path / "untold" / "machine_labels.tsv").write_bytes(labels)
    assert findings(tmp_path / "untold") == ["machine_labels.tsv"]


def test_a_zip_is_linted_as_its_folder(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    content = b"".join(zipped(EXPORTERS["trec"], by_machine(), work))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = {name.partition("/")[2] for name in archive.namelist()}

    assert "MACHINE_JUDGED.md" in names
