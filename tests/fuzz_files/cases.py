"""A case by its name: which file is damaged, how, and what comes of it."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from tests.fuzz_files import bytewise
from tests.fuzz_files.seeds import Seed, seeds
from tests.fuzz_files.structured import BOMBS, STRUCTURED

KINDS = tuple(STRUCTURED)
SHARE_OF_BOMBS = 0.01
# Of a form that knows better than bytes: how often it is asked first.
SHARE_STRUCTURED = 0.7
LARGEST = 32 << 20


@dataclass(frozen=True)
class Case:
    """A damaged file; `is_page` says whether it goes by the page or by the API."""

    kind: str
    number: int
    seed: Seed
    mutators: tuple[str, ...]
    content: bytes

    @property
    def name(self) -> str:
        return f"{self.kind}:{self.number}"

    @property
    def is_page(self) -> bool:
        return self.number // len(seeds()[self.kind]) % 2 == 0

    @property
    def file(self) -> str:
        """The name it is sent under, which tells it from other cases."""
        return f"{self.kind}-{self.number}-{self.seed.name}"

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def case_of(kind: str, number: int, seed: int = 0) -> Case:
    """The case of that kind and number; the same bytes each time."""
    random = Random(f"{seed}:{kind}:{number}")
    of_kind = seeds()[kind]
    honest = of_kind[number % len(of_kind)]
    if kind in BOMBS and random.random() < SHARE_OF_BOMBS:
        chosen = [BOMBS[kind]]
    else:
        is_structured = random.random() < SHARE_STRUCTURED
        chosen = [random.choice(STRUCTURED[kind] if is_structured else bytewise.MUTATORS)]
        chosen += random.choices(bytewise.MUTATORS, k=random.choice((0, 0, 0, 1, 2)))
    content = honest.content
    for mutator in chosen:
        content = mutator(content, random)[:LARGEST]
    if random.random() < 0.02:
        content = _spliced(content, random)
    names = tuple(mutator.__name__ for mutator in chosen)
    return Case(kind, number, honest, names, content)


def honest_case(seed: Seed, number: int) -> Case:
    """A seed as it is, sent as cases are."""
    return Case(seed.kind, number, replace(seed, name=f"honest-{seed.name}"), (), seed.content)


def _spliced(content: bytes, random: Random) -> bytes:
    """The head of one file and the tail of another, of any kind."""
    other = random.choice(random.choice(list(seeds().values()))).content
    cut, at = random.randrange(len(content) + 1), random.randrange(len(other) + 1)
    return content[:cut] + other[at:] if random.random() < 0.5 else other[:at] + content[cut:]


def cases(n: int, seed: int, kinds: Sequence[str] = KINDS) -> Iterator[Case]:
    """So many cases, of each kind in turn."""
    for place in range(n):
        yield case_of(kinds[place % len(kinds)], place // len(kinds), seed)
