from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_email
from django.urls import reverse

from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.management.naming import existing_benchmark
from benchmarks_app.models import Benchmark, Role, User
from benchmarks_app.people.services.people import invite
from benchmarks_app.site_path import kept_address
from benchwright.recipes.arguments import option, unless_told, word


class Command(DeclaredCommand):
    help = "Make an invitation to a benchmark and print its link, which is shown only this once."
    takes = (
        word("slug", "the benchmark"),
        unless_told("--role", choices=Role.values, is_required=True),
        option("--days", kind=int, default=settings.INVITATION_DAYS),
        option("--note", help="whom the link is for"),
        option("--email", help="whose account alone may accept; anybody's if not given"),
        unless_told(
            "--user",
            old=("--as",),
            help="the owner who invites; the first one if not given",
        ),
        option(
            "--site",
            default=settings.SITE_URL,
            help=f"address of the site (default: {settings.SITE_URL})",
        ),
    )

    def handle(self, *args: Any, slug: str, role: str, email: str, **options: Any) -> None:
        benchmark = existing_benchmark(slug)
        try:
            if email:
                validate_email(email)
        except ValidationError as error:
            raise CommandError(error.message) from error
        invited = invite(
            benchmark=benchmark,
            role=Role(role),
            actor=_owner(benchmark, options["user"]),
            days=options["days"],
            note=options["note"],
            email=email,
        )
        path = kept_address(reverse("invitation-accept", args=[invited.secret]))
        self.say(f"{options['site'].rstrip('/')}{path}")


def _owner(benchmark: Benchmark, username: str | None) -> User:
    owners = benchmark.memberships.filter(role=Role.OWNER, user__is_active=True)
    if username:
        owners = owners.filter(user__username=username)
    first = owners.select_related("user").order_by("created_at", "pk").first()
    if first is None:
        who = f"{username} is not an owner" if username else "There is no owner"
        raise CommandError(f"{who} of {benchmark.slug}.")
    return first.user
