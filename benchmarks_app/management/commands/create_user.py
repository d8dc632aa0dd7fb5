import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from benchmarks_app.models import Benchmark, Role
from benchmarks_app.people.forms.people import AccountForm
from benchmarks_app.people.services.people import add_member, create_account


class Command(BaseCommand):
    help = "Make an account, and a member of a benchmark if one is named."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--email", required=True)
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from standard input"
        )
        parser.add_argument("--benchmark", metavar="SLUG")
        parser.add_argument("--role", choices=Role.values, help="role in the benchmark")
        parser.add_argument("--staff", action="store_true", help="may see the system page")
        parser.add_argument(
            "--superuser", action="store_true", help="may do everything, also in the admin pages"
        )

    @transaction.atomic
    def handle(
        self,
        *args: Any,
        username: str,
        email: str,
        password_stdin: bool,
        benchmark: str | None,
        role: str | None,
        staff: bool,
        superuser: bool,
        **options: Any,
    ) -> None:
        if bool(benchmark) != bool(role):
            message = "--benchmark and --role go together: name both, or neither."
            raise CommandError(message)
        joined = self._benchmark(benchmark) if benchmark else None
        account = self._validated(username, email, self._password(is_given=password_stdin))
        user = create_account(**account, is_staff=staff or superuser, is_superuser=superuser)
        said = f"account {user.username}"
        if joined:
            add_member(benchmark=joined, user=user, role=Role(role), actor=None)
            said += f", {role} of {joined.slug}"
        self.stdout.write(self.style.SUCCESS(said))

    def _benchmark(self, slug: str) -> Benchmark:
        found = Benchmark.objects.filter(slug=slug).first()
        if found is None:
            message = f"There is no benchmark '{slug}'."
            raise CommandError(message)
        return found

    def _password(self, *, is_given: bool) -> str:
        if is_given:
            return sys.stdin.readline().rstrip("\n")
        return getpass.getpass("Password: ")

    def _validated(self, username: str, email: str, password: str) -> dict[str, str]:
        """The same rules as on the page; all that is wrong at once."""
        form = AccountForm(
            {"username": username, "email": email, "password1": password, "password2": password}
        )
        if not form.is_valid():
            wrong = [
                f"{field.removesuffix('1').removesuffix('2')}: {text}"
                for field, texts in form.errors.items()
                for text in texts
            ]
            raise CommandError("\n".join(wrong))
        return {
            "username": form.cleaned_data["username"],
            "email": form.cleaned_data["email"],
            "password": password,
        }
