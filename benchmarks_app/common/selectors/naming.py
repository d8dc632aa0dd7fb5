"""Runs by their names, and whose a run is, as far as somebody may know it."""

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from benchmarks_app.models import Run
from benchmarks_app.permissions import Action, may
from benchwright.runs.facts import APPROXIMATE_RUN, IR_METADATA, Fact, shown_facts

ANONYMOUS = "anonymous"
# Of a run's metadata. A description in ir_metadata names people, and is kept back as a whole; the
# approximate run may have been sent before, under a name.
LEADS_TO_OWNER = frozenset({"repository", "commit", "paper", IR_METADATA, APPROXIMATE_RUN})


def names_in(text: str, runs: QuerySet[Run]) -> list[str]:
    """The keys or names that stand in `text` with commas between, each once.

    A run may have commas in its name, as "bm25(k1=0.9,b=0.4)": the longest name counts.
    """
    parts = text.split(",")
    several = runs.filter(name__contains=",").values_list("name", flat=True)
    whole = set(several) if len(parts) > 1 else set[str]()
    most = 1 + max((name.count(",") for name in whole), default=0)
    names, start = [], 0
    while start < len(parts):
        reach = range(min(most, len(parts) - start), 1, -1)
        joined = (",".join(parts[start : start + n]).strip() for n in reach)
        name = next((name for name in joined if name in whole), parts[start].strip())
        start += 1 + name.count(",")
        names.append(name)
    return list(dict.fromkeys(filter(None, names)))


def owner_name(run: Run, viewer: Any) -> str:
    """The team a run was submitted for, else the person; "anonymous" for whom it is still a secret.

    It is never one to its owner, its team and the benchmark's keepers. Lists select `owner`, `team`
    and `benchmark` beforehand.
    """
    if is_anonymous_to(run, viewer):
        return ANONYMOUS
    return str(run.team or run.owner)


def is_anonymous_to(run: Run, viewer: Any) -> bool:
    """Whether this person is not to be told who a run is by."""
    if run.anonymous_until is None or run.anonymous_until <= timezone.now():
        return False
    return not knows_owner(run, viewer)


def knows_owner(run: Run, viewer: Any) -> bool:
    """Whether this person is its owner, in its team, or keeps the benchmark."""
    if not getattr(viewer, "is_authenticated", False):
        return False
    if run.owner_id == viewer.pk or may(viewer, Action.EDIT, run.benchmark):
        return True
    return run.team_id is not None and run.team_id in team_ids_of(viewer)


def facts_told(run: Run, viewer: Any) -> list[Fact]:
    """What a run says of its system, as pages show it to this person."""
    return shown_facts(metadata_told(run, viewer))


def metadata_told(run: Run, viewer: Any) -> dict[str, Any]:
    """What a run says of its system; without what leads to its owner, while that is a secret."""
    if not is_anonymous_to(run, viewer):
        return dict(run.metadata)
    return {name: value for name, value in run.metadata.items() if name not in LEADS_TO_OWNER}


def team_ids_of(user: Any) -> frozenset[int]:
    """The teams a person is in; asked once per request."""
    team_ids = user.__dict__.get("_team_ids")
    if team_ids is None:
        team_ids = user.__dict__["_team_ids"] = frozenset(user.teams.values_list("pk", flat=True))
    return team_ids
