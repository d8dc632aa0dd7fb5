from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.collections.forms import BenchmarkForm
from benchmarks_app.collections.services.benchmarks import create_benchmark
from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.models import Benchmark, Corpus, User
from benchwright.qrels.scales import DEFAULT_SCALE
from benchwright.recipes.arguments import option, switch, unless_told, word


class Command(DeclaredCommand):
    help = "Make a benchmark with an empty corpus, or on that of another."
    takes = (
        word("slug"),
        unless_told("--name", is_required=True),
        unless_told("--owner", is_required=True, help="user name"),
        option("--description"),
        switch("--ids-only", help="a corpus without texts"),
        option("--unit", default="document", help="passage, document or image"),
        option("--language", old=("--lang",), default="en"),
        option("--corpus-of", help="short name of a benchmark whose corpus it shares"),
        option(
            "--ties",
            choices=Benchmark.TieRule.values,
            default=Benchmark.TieRule.TREC,
            help="trec9 compares scores as 32-bit floats, as trec_eval did up to 9",
        ),
        option("--scale", default=DEFAULT_SCALE, help="grades a line each: '2 = Helpful: why *'"),
    )

    def handle(self, *args: Any, owner: str, **options: Any) -> None:
        user = User.objects.filter(username=owner).first()
        if user is None:
            raise CommandError(f"No user '{owner}'. Make one with create_user.")
        fields = ("name", "slug", "description", "corpus_of", "scale")
        form = BenchmarkForm(
            {
                **{field: options[field] for field in fields},
                "corpus_kind": Corpus.Kind.IDS_ONLY if options["ids_only"] else Corpus.Kind.TEXTS,
                "unit": options["unit"].lower(),
                "lang": options["language"],
                "tie_rule": options["ties"],
            },
            user=user,
        )
        if options["corpus_of"] and "corpus_of" not in form.fields:
            raise CommandError(f"{owner} keeps no benchmark '{options['corpus_of']}'.")
        if not form.is_valid():
            problems = [f"{field}: {' '.join(map(str, e))}" for field, e in form.errors.items()]
            raise CommandError("\n".join(problems))
        benchmark = create_benchmark(owner=user, **form.cleaned_data)
        self.say_done(f"made {benchmark.get_absolute_url()}")
