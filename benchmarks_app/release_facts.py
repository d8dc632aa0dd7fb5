"""What the other apps know of a set of grades: a release freezes it, its card and page tell it.

An app registers a function that returns some of these, as JSON can hold them:

- `agreement`: `alpha`, `low`, `high`, `exact`, `n_labels`, `n_annotators`, `n_doubled`
- `pools`: a list of `name`, `strategy`, `n_documents`, `n_open` (labels that are still wanted),
  `systems` (names that everybody may see) and `n_systems`
- `labels_per_pair`: how many labels a judged document has on average
"""

from collections.abc import Callable
from typing import Any

from benchmarks_app.models import QrelSet

FactMaker = Callable[[QrelSet], dict[str, Any]]
MAKERS: list[FactMaker] = []
# {(query id, document id): model that answered} of a set of a machine's grades.
Models = dict[tuple[str, str], str]
MODELLERS: list[Callable[[QrelSet], Models]] = []


def release_fact(maker: FactMaker) -> FactMaker:
    """Register a function that tells facts of a set of grades."""
    MAKERS.append(maker)
    return maker


def machine_models(qrel_set: QrelSet) -> Models:
    """Which model gave each grade of a machine's set, as its endpoint named itself."""
    models: Models = {}
    for modeller in MODELLERS:
        models |= modeller(qrel_set)
    return models


def facts_of(qrel_set: QrelSet) -> dict[str, Any]:
    """All that is known of how these grades came about."""
    facts: dict[str, Any] = {}
    for maker in MAKERS:
        facts |= maker(qrel_set)
    return facts
