from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.collections.forms.benchmarks import BenchmarkForm
from benchmarks_app.collections.services.benchmarks import create_benchmark
from benchmarks_app.models import Benchmark, Corpus, User
from benchwright.errors import BenchmarkError
from benchwright.qrels.scales import DEFAULT_SCALE


class Command(BaseCommand):
    help = "Make a benchmark with an empty corpus, or on that of another."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--name", required=True)
        parser.add_argument("--owner", required=True, help="user name")
        parser.add_argument("--description", default="")
        parser.add_argument("--ids-only", action="store_true", help="a corpus without texts")
        parser.add_argument("--unit", default="document", help="passage or document")
        parser.add_argument("--lang", default="en")
        parser.add_argument(
            "--corpus-of", default="", help="short name of a benchmark whose corpus it shares"
        )
        parser.add_argument(
            "--ties",
            choices=Benchmark.TieRule.values,
            default=Benchmark.TieRule.TREC,
            help="trec9 compares scores as 32-bit floats, as trec_eval did up to 9",
        )
        parser.add_argument(
            "--scale", default=DEFAULT_SCALE, help="grades a line each: '2 = Helpful: why *'"
        )

    def handle(
        self, *args: Any, slug: str, name: str, owner: str, description: str, **options: Any
    ) -> None:
        user = User.objects.filter(username=owner).first()
        if user is None:
            raise CommandError(f"No user '{owner}'. Make one with create_user.")
        kind = Corpus.Kind.IDS_ONLY if options["ids_only"] else Corpus.Kind.TEXTS
        form = BenchmarkForm(
            {
                "name": name,
                "slug": slug,
                "description": description,
                "corpus_kind": kind,
                "corpus_of": options["corpus_of"],
                "unit": options["unit"].lower(),
                "lang": options["lang"],
                "tie_rule": options["ties"],
                "scale": options["scale"],
            },
            user=user,
        )
        if options["corpus_of"] and "corpus_of" not in form.fields:
            raise CommandError(f"{owner} keeps no benchmark '{options['corpus_of']}'.")
        if not form.is_valid():
            said = [f"{field}: {' '.join(errors)}" for field, errors in form.errors.items()]
            raise CommandError("\n".join(said))
        try:
            made = create_benchmark(owner=user, **form.cleaned_data)
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(self.style.SUCCESS(f"made {made.get_absolute_url()}"))
