from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.declared import BenchmarkCommand, refuse_failed
from benchmarks_app.management.naming import named, ready_qrels
from benchmarks_app.models import Benchmark, Job
from benchmarks_app.releases.services.drafting import create_draft, draft_options, looking_arguments
from benchmarks_app.releases.services.releasing import release_arguments
from benchwright.exports import EXPORTERS
from benchwright.recipes.arguments import option, switch, unless_told
from benchwright.releases.options import ReleaseOptions


class Command(BenchmarkCommand):
    help = "Publish a release that pins a set of qrels; look first with --dry-run."
    takes = (
        unless_told("--qrels", is_required=True, help="name of the set"),
        option("--release", help="such as 1.0.0; by default it follows from what changed"),
        option("--notes", help="what is new, for the changelog"),
        unless_told("--card", kind=Path, help="file of Markdown: the card's own text"),
        unless_told("--licence", help="such as CC-BY-4.0"),
        unless_told("--citation", kind=Path, help="file of BibTeX"),
        unless_told(
            "--rel", old=("--threshold",), kind=int, help="the lowest grade that is relevant"
        ),
        switch("--drop-all-zero", help="leave out queries without a grade above 0"),
        switch("--withhold-texts", help="give out ids and hashes, no texts"),
        option(
            "--without",
            is_repeated=True,
            choices=list(EXPORTERS),
            default=[],
            help="a format that it is not given in; may be repeated",
        ),
        option(
            *("-m", "--measure"),
            is_repeated=True,
            default=[],
            help="a measure whose means all see of hidden splits; may be repeated; by default "
            "those of every board",
        ),
        option(
            "--machine-labels",
            is_repeated=True,
            default=[],
            help="a set of a machine's grades to lie beside these, in machine_labels.tsv; may be "
            "repeated",
        ),
        switch("--strict", help="refuse to publish where there is a warning"),
        switch("--dry-run", help="print what was found, and publish nothing"),
        switch("--draft", help="leave it as a draft, to be published on its page"),
    )

    def run(self, *, qrels: str, **options: Any) -> None:
        slug = self.benchmark.slug
        refusal = f"No set of qrels '{qrels}'. There are:"
        try:
            fields = {
                "qrel_set": named(ready_qrels(self.benchmark), qrels, refusal),
                "version": options["release"],
                "notes": options["notes"],
                "options": _options(self.benchmark, options),
            }
            if options["draft"]:
                draft = create_draft(user=self.actor, **fields)
                self.say_done(f"drafted {slug} {draft.version}")
                return
            # A version that follows from what changed is known when it was looked over.
            if options["dry_run"] or not fields["version"]:
                looked = self.job(looking_arguments(**fields))
                refuse_failed(looked)
                fields["version"] = looked.result["version"]
            if options["dry_run"]:
                self._say_findings(looked)
                return
            accepted = [] if options["strict"] else "*"
            arguments = release_arguments(**fields, accepted=accepted)
        except OSError as error:
            raise CommandError(f"cannot read: {error}.") from error
        self.finished(arguments)
        self.say_done(f"published {slug} {fields['version']}")

    def _say_findings(self, job: Job) -> None:
        self.say(f"would be {job.result['version']}")
        for reason in job.result["diff"].get("reasons", []):
            self.say(f"since {job.result['diff']['parent']}: {reason}")
        for finding in job.result["findings"]:
            self.say(
                "{severity} {code} ({target}, {where}): {message} {advice}".format_map(finding)
            )
        if any(finding["severity"] == "error" for finding in job.result["findings"]):
            raise CommandError("There are errors; it can not be published.")


def _options(benchmark: Benchmark, options: dict[str, Any]) -> ReleaseOptions:
    """The choices of the newest release, with those of the command in their place."""
    values = {
        "licence": options["licence"],
        "threshold": options["rel"],
        "description": options["card"] and options["card"].read_text("utf-8"),
        "citation": options["citation"] and options["citation"].read_text("utf-8"),
        "drops_all_zero": options["drop_all_zero"] or None,
        "passes_on_texts": False if options["withhold_texts"] else None,
        "left_out": tuple(options["without"]) or None,
        "measures": tuple(options["measure"]) or None,
        "machine_labels": tuple(options["machine_labels"]) or None,
    }
    chosen = {key: value for key, value in values.items() if value is not None}
    return replace(draft_options(benchmark), **chosen)
