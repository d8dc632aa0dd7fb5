"""What the operator's groups give, beside what is there."""

from collections.abc import Iterator

from benchmarks_app.models import Benchmark, Team
from benchmarks_app.oidc.provider import BENCHMARK, TEAM, Provider


def grants_without_end(provider: Provider) -> Iterator[str]:
    """What groups would give, and is not there: benchmarks and teams, in words."""
    slugs = set(Benchmark.objects.values_list("slug", flat=True))
    names = set(Team.objects.values_list("name", flat=True))
    for grant in provider.grants:
        known_names = {BENCHMARK: slugs, TEAM: names}.get(grant.kind)
        if known_names is not None and grant.name not in known_names:
            yield f"the group {grant.group} gives a place in the {grant.kind} {grant.name}: none"
