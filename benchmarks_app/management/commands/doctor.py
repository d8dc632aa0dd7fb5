from typing import Any

from benchmarks_app.management.declared import FORM, DeclaredCommand, is_json
from benchmarks_app.oidc import examining  # noqa: F401  # adds its part
from benchmarks_app.operating.doctor import FINE, WRONG, as_json, examined


class Command(DeclaredCommand):
    help = "Look at all that this site rests on; ends with 1 where something is wrong."
    takes = FORM
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        findings = []
        for finding in examined():
            findings.append(finding)
            if not is_json(options):
                say = {FINE: self.say, WRONG: self.say_wrong}.get(finding.level, self.warn)
                say(f"{finding.level:<6} {finding.part}: {finding.what}")
                if finding.advice:
                    say(f"       {finding.advice}")
        if is_json(options):
            self.say_json(as_json(findings))
        if any(finding.level == WRONG for finding in findings):
            raise SystemExit(1)
