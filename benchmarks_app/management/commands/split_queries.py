from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks_app.management.declared import BenchmarkCommand
from benchmarks_app.management.naming import named, ready_qrels
from benchmarks_app.splits.services import leak_reports, splitting
from benchwright.errors import MissingFileError
from benchwright.files.sources import open_lines
from benchwright.recipes import splits
from benchwright.recipes.arguments import option, switch, unless_told
from benchwright.recipes.splits import Mode
from benchwright.splits import SPLITS, SplitRecipe, parse_shares
from benchwright.texts.counting import counted


class Command(BenchmarkCommand):
    help = "Split a benchmark's queries by families, and tell what leaks."
    takes = (
        option("--shares", default="train=70,dev=10,test=20", help="such as train=80,test=20"),
        *splits.SPLITTING,
        unless_told(
            "--drop-straddling",
            dest="straddling",
            sets="drop_family",
            help="the same as --straddling drop-family",
        ),
        option("--slice", help="the slice that becomes the test split"),
        unless_told("--given", kind=Path, help="file of query id, TAB, split"),
        unless_told("--qrels", help="name of the set that says what is relevant"),
        option("--document-date", help="key of the documents' metadata"),
        unless_told(
            "--hide",
            is_repeated=True,
            choices=SPLITS,
            help="hide the grades of a split; may be repeated. Without it nothing changes",
        ),
        switch("--show-all", help="hide no split's grades any longer"),
        switch("--accept-small-slices"),
        switch("--dry-run", help="print what it would be, and change nothing"),
    )

    def run(self, **values: Any) -> None:
        options = self._options(values)
        if values["dry_run"]:
            self._say_preview(splitting.preview_split(benchmark=self.benchmark, **options))
            return
        plan = splitting.apply_split(benchmark=self.benchmark, user=self.actor, **options)
        sizes = ", ".join(f"{split} {n:,}" for split, n in plan.sizes.items() if n)
        self.say_done(f"split {self.benchmark.slug}: {sizes}")
        if plan.n_excluded:
            self.say(f"in no split: {plan.n_excluded:,}")
        self._say_leaks(leak_reports.current_leak_report(self.benchmark)["findings"])

    def _options(self, values: dict[str, Any]) -> dict[str, Any]:
        recipe = SplitRecipe(
            shares=parse_shares(values["shares"]),
            slice_name=values["slice"],
            **{parameter.name: values[parameter.name] for parameter in splits.SPLITTING},
        )
        name = values["qrels"]
        refusal = f"No qrels '{name}'. There are:"
        return {
            "recipe": recipe,
            "given_splits": self._given(values["given"]) if recipe.mode == Mode.GIVEN else None,
            "qrel_set": named(ready_qrels(self.benchmark), name, refusal) if name else None,
            "hidden": [] if values["show_all"] else values["hide"],
            "accept_small": values["accept_small_slices"],
            "document_date": values["document_date"],
        }

    def _given(self, path: Path | None) -> dict[str, str]:
        if path is None:
            raise MissingFileError(place="--given", expected="file", advice="Name it.")
        return splitting.given_from(self.benchmark, open_lines(path), file=path.name)

    def _say_preview(self, preview: splitting.SplitPreview) -> None:
        for part in preview.description.parts:
            self.say(
                f"{part.name}: {counted(part.n_queries, 'query')} ({part.share:.1%}), "
                f"{part.n_families:,} families"
            )
        for reason, n in preview.description.excluded.items():
            self.say(f"in no split: {n:,} ({reason})")
        for row in preview.description.slices:
            shares = ", ".join(f"{split} {share:.1%}" for split, share in row.shares.items())
            self.say(f"slice {row.name}: {row.share:.1%} of all; {shares}")
        for finding in preview.findings:
            self.say(f"{finding.severity}: {finding.message} {finding.advice}")

    def _say_leaks(self, findings: Sequence[dict[str, Any]]) -> None:
        for finding in findings:
            self.say("{severity}: {where}: {message} {advice}".format_map(finding))
        if not findings:
            self.say("nothing leaks from one split into another")
