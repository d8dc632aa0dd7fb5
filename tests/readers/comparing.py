"""What a reader should find in an export, and the table of what each found. Needs no Django."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

ENDS = re.compile("[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
Check = Callable[["Benchmark"], dict[str, bool]]


@dataclass
class Benchmark:
    """One benchmark's exports, and what went in."""

    folder: Path
    expected: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.folder.name

    def path(self, name: str) -> Path:
        """The folder of one format."""
        return self.folder / f"{self.name}-{name}"

    @property
    def corpus(self) -> dict[str, dict[str, str]]:
        return self.expected["corpus"]

    @property
    def queries(self) -> dict[str, str]:
        return self.expected["queries"]

    @property
    def qrels(self) -> dict[str, dict[str, dict[str, int]]]:
        return self.expected["qrels"]

    @property
    def splits(self) -> list[str]:
        return sorted(self.qrels)

    def joined(self) -> dict[str, str]:
        """Title and text as one, as most models read them."""
        return {
            docid: f"{d['title']} {d['text']}".rstrip(" ") if d["title"] else d["text"]
            for docid, d in self.corpus.items()
        }

    def of_split(self, split: str) -> dict[str, str]:
        return {qid: self.queries[qid] for qid in self.qrels[split]}

    def positives(self, split: str) -> dict[str, set[str]]:
        """Relevant documents that have a text, of the queries that have one of them."""
        texts, threshold = self.joined(), self.expected["threshold"]
        results = {
            qid: {d for d, grade in of.items() if grade >= threshold and texts[d].strip()}
            for qid, of in self.qrels[split].items()
        }
        return {qid: docids for qid, docids in results.items() if docids}


def one_line(text: str) -> str:
    return ENDS.sub(" ", text)


def benchmarks(folder: Path, expected: str) -> list[Benchmark]:
    result = sorted(folder.glob(f"*/{expected}"))
    return [Benchmark(path.parent, json.loads(path.read_text("utf-8"))) for path in result]


def run(
    checks: dict[str, tuple[str, Check]], folder: Path, expected: str = "expected.json"
) -> bool:
    """Read everything with every reader, print a table, and return whether anything differs.

    `checks` maps what is said of a reader to the package whose version is told, and the check;
    `expected` is the file that lies beside the exports that these are made for.
    """
    datasets = benchmarks(folder, expected)
    if not datasets:
        sys.exit("no export to read")
    n_failed = n_passed = 0
    print("| reader | version | " + " | ".join(b.name for b in datasets) + " |")
    print("|---|---|" + "---|" * len(datasets))
    items = []
    for reader, (package, check) in checks.items():
        cells = []
        for benchmark in datasets:
            try:
                results = check(benchmark)
            except Exception as error:  # noqa: BLE001 - whatever a reader raises is a result
                results = {f"{type(error).__name__}: {error}": False}
            wrong = [what for what, is_same in results.items() if not is_same]
            n_failed, n_passed = n_failed + bool(wrong), n_passed + (not wrong)
            cells.append("differs" if wrong else f"same ({len(results)})")
            items += [f"differs: {reader}, {benchmark.name}: {what}" for what in wrong]
        print(f"| {reader} | {version(package)} | " + " | ".join(cells) + " |", flush=True)
    for line in items:
        print(line)
    print(f"{n_passed} passed, {n_failed} failed")
    return bool(n_failed)
