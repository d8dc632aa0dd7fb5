from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.families.services.grouping import grouping_arguments, review_preview
from benchmarks_app.management.declared import refuse_failed
from benchmarks_app.management.importing import ImportCommand
from benchmarks_app.management.naming import named, ready_qrels
from benchmarks_app.models import QrelSet, Upload
from benchmarks_app.splits.selectors import default_qrels
from benchwright.families import GroupingOptions
from benchwright.families.keys import DEFAULT_LANGUAGE
from benchwright.recipes import families
from benchwright.recipes.arguments import switch, unless_told


class Command(ImportCommand):
    help = "Group a benchmark's queries into families; what people said of pairs holds."
    takes = (
        *families.GROUPING,
        unless_told(
            "--qrels", help="set whose relevant documents count; by default the newest official one"
        ),
        switch("--no-qrels", help="count no relevant documents at all"),
        unless_told("--embeddings", kind=Path, help=".npz with ids and embeddings"),
        switch("--paraphrases", help="look for paraphrases by static vectors (extra demo)"),
        switch("--reviews", help="only say how many reviews each --merge-at costs"),
        unless_told("--ids", kind=Path, help="the ids of an .npy file, one a line"),
    )

    def run(self, *, paraphrases: bool, **values: Any) -> None:
        options = GroupingOptions(
            **{parameter.name: values[parameter.name] for parameter in families.GROUPING},
            language=self.benchmark.corpus.lang or DEFAULT_LANGUAGE,
        )
        arguments: dict[str, Any] = {
            "benchmark": self.benchmark,
            "options": options,
            "paraphrases": paraphrases,
        }
        arguments["qrel_set"] = None if values["no_qrels"] else self._qrels(values["qrels"])
        if values["reviews"]:
            for cost in review_preview(**arguments, most=None):
                self.say(str(cost))
            return
        embeddings, ids = self._file(values["embeddings"]), self._file(values["ids"])
        job = self.job(grouping_arguments(**arguments, embeddings=embeddings, ids=ids))
        refuse_failed(job)
        self.say_made(job, "")

    def _qrels(self, name: str | None) -> QrelSet | None:
        if not name:
            return default_qrels(self.benchmark)
        refusal = f"No set of qrels '{name}'. There are:"
        qrels: QrelSet = named(ready_qrels(self.benchmark), name, refusal, most=10)
        return qrels

    def _file(self, path: Path | None) -> Upload | None:
        if path is None:
            return None
        if not path.is_file():
            raise CommandError(f"{path}: no such file.")
        return self.upload(path)
