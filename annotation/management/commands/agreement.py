import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import CommandError

from annotation.agreement.selectors.agreement import SEED, Filters, agreement_report, scale_of
from annotation.common.selectors.ledger import last_event_of
from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.management.naming import benchmark_of
from benchmarks_app.models import Benchmark
from benchwright.agreement import COEFFICIENTS, report
from benchwright.recipes.arguments import OneOf, unless_told, word
from benchwright.texts.counting import counted, percent_beside

Grades = dict[tuple[str, str], int]


class Command(DeclaredCommand):
    help = (
        "How far the labels of a benchmark agree, or two files of grades (TSV: query-id, "
        "corpus-id, grade). The figures are those of the agreement page."
    )
    takes = (
        word("files", "two, or none", many="*", kind=Path, metavar="FILE"),
        OneOf(
            (
                unless_told(
                    "--benchmark",
                    metavar="SLUG",
                    help="measure its labels; with files, on its scale",
                ),
                unless_told(
                    "--scale",
                    metavar="GRADES",
                    help="every grade the files could hold, such as 0,1,3",
                ),
            )
        ),
    )

    def handle(self, *args: Any, files: Sequence[Path], **options: Any) -> None:
        benchmark = benchmark_of(options["benchmark"]) if options["benchmark"] else None
        if len(files) == 2:
            scale, relevant_from = scale_of(benchmark) if benchmark else _scale(options["scale"])
            self._compare(files[0], files[1], scale, relevant_from)
        elif benchmark is not None and not files:
            self._measure(benchmark)
        else:
            raise CommandError(
                "Give two files of grades, or --benchmark SLUG for the labels of a benchmark."
            )

    def _measure(self, benchmark: Benchmark) -> None:
        last = last_event_of(benchmark)
        if not last:
            raise CommandError(f"Nobody has judged anything in {benchmark.slug} yet.")
        report = agreement_report(benchmark, Filters(), last)
        self.say(
            f"{benchmark.slug} as of event {last:,}: {counted(report['n_labels'], 'label')} of "
            f"{counted(report['n_raters'], 'person')}, {report['n_shared']:,} of "
            f"{counted(report['n_documents'], 'document')} with two or more"
        )
        self._tell(report["overall"])

    def _compare(
        self, first: Path, second: Path, scale: list[int] | None, relevant_from: int | None
    ) -> None:
        agreement = report.of_raters(
            {"first": grades_in(first, scale), "second": grades_in(second, scale)},
            scale=scale,
            relevant_from=scale[relevant_from] if scale and relevant_from is not None else 1,
            rng=np.random.default_rng(SEED),
        )
        if not agreement["n_shared"]:
            raise CommandError(f"{first} and {second} have no pair in common.")
        listed = ", ".join(map(str, agreement["scale"]))
        same = percent_beside(agreement["same_share"], 0, 1, decimals=0)
        guessed = "" if scale else " (from the files; --scale or --benchmark says it)"
        self.say(
            f"{counted(agreement['n_shared'], 'pair')} graded twice: "
            f"{same}% the same grade; scale {listed}{guessed}"
        )
        overall = agreement["overall"]
        if relevant_from is None:
            del overall["relevant"]
        self._tell(overall)

    def _tell(self, overall: dict[str, Any]) -> None:
        for key, label, _ in COEFFICIENTS:
            if key not in overall:
                continue
            row = overall[key]
            if row["value"] is None:
                self.say(f"{label}: undefined, because {row['why']}")
                continue
            low, high = row["low"], row["high"]
            interval = "" if low is None else f" (95 % interval {low:.4f} to {high:.4f})"
            n_documents = counted(row["n_items"], "document")
            self.say(f"{label}: {row['value']:.4f}{interval}, {n_documents}")


def _scale(scale_text: str | None) -> tuple[list[int] | None, int | None]:
    """The grades of --scale, ascending; relevance is a benchmark's to say."""
    if scale_text is None:
        return None, None
    if not re.fullmatch(r"\s*-?\d+(\s*,\s*-?\d+)+\s*", scale_text):
        raise CommandError(f"--scale {scale_text}: expected two grades or more, such as 0,1,2,3.")
    return sorted({int(grade) for grade in scale_text.split(",")}), None


def grades_in(path: Path, scale: Sequence[int] | None = None) -> Grades:
    grades: Grades = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
            for row in rows:
                grade = int(row["grade"])
                if scale is not None and grade not in scale:
                    values = ", ".join(map(str, scale))
                    msg = (
                        f"{path}:{rows.line_num}: grade {grade} is not on the scale {values}. "
                        "Correct the line, or give the scale the file was made on."
                    )
                    raise CommandError(msg)
                grades[row["query-id"], row["corpus-id"]] = grade
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise CommandError(
            f"{path}: expected columns query-id, corpus-id, grade ({error})"
        ) from error
    return grades
