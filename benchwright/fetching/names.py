"""Names of collections: `beir:scifact`, `hub:owner/name@revision`, `irds:vaswani`."""

import re
from dataclasses import dataclass
from enum import StrEnum

from benchwright.fetching.errors import CollectionNameError

BEIR_URL = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/{name}.zip"
# BEIR's sets that may be passed on, with the MD5 of each zip as the README of the repository
# beir-cellar/beir states it ("Available Datasets").
KNOWN_BEIR = {
    "arguana": "8ad3e3c2a5867cdced806d6503f29b99",
    "climate-fever": "8b66f0a9126c521bae2bde127b4dc99d",
    "cqadupstack": "4e41456d7df8ee7760a7f866133bda78",
    "dbpedia-entity": "c2a39eb420a3164af735795df012ac2c",
    "fever": "5a818580227bfb4b35bb6fa46d9b6c03",
    "fiqa": "17918ed23cd04fb15047f73e6c3bd9d9",
    "hotpotqa": "f412724f78b0d91183a0e86805e16114",
    "msmarco": "444067daf65d982533ea17ebd59501e4",
    "nfcorpus": "a89dba18a62ef92f7d323ec890a0d38d",
    "nq": "d4d3d2e48787a744b6f6e691ff534307",
    "quora": "18fb154900ba42a600f84b839c173167",
    "scidocs": "38121350fc3a4d2f48850f6aff52e4a9",
    "scifact": "5f7d1de60b170fc8027bb7898e2efca1",
    "trec-covid": "ce62140cb23feb9becf6270d0d1fe6d1",
    "webis-touche2020": "46f650ba5a527fc69e0a6521c5a23563",
}
# One zip of twelve collections: `beir:cqadupstack/android`.
FORUMS = (
    *("android", "english", "gaming", "gis", "mathematica", "physics", "programmers", "stats"),
    *("tex", "unix", "webmasters", "wordpress"),
)
# Their texts may not be passed on; who has a licence imports the files.
CLOSED_BEIR = ("bioasq", "robust04", "signal1m", "trec-news")
HUB_REPO = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
HUB_INSIDE = re.compile(r"[\w.*?-]+(/[\w.*?-]+)*", re.ASCII)
HUB_REVISION = re.compile(r"[A-Za-z0-9][\w./-]{0,99}", re.ASCII)
IRDS_ID = re.compile(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*")


class Kind(StrEnum):
    BEIR = "beir"
    HUB = "hub"
    IRDS = "irds"


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection by its name; `part` is a revision on the Hub, or a forum of a BEIR set.

    `inside` is the folder of a repository that is wanted, or a pattern of paths with `*` and `?`.
    """

    kind: Kind
    name: str
    part: str = ""
    inside: str = ""

    def __str__(self) -> str:
        between = {Kind.HUB: "@", Kind.BEIR: "/", Kind.IRDS: ""}[self.kind]
        inside = f"/{self.inside}" if self.inside else ""
        return f"{self.kind}:{self.name}{inside}{between if self.part else ''}{self.part}"

    @property
    def stem(self) -> str:
        """A name for a file of it."""
        joined = "-".join(part for part in (self.name, self.inside, self.part) if part)
        return re.sub(r"[^A-Za-z0-9._-]+", "-", joined)


def read_collection(text: str) -> Collection:
    """Return the collection that a person names.

    Raises
    ------
    CollectionNameError
        If it is none; the message says what would be.

    Examples
    --------
    >>> read_collection("hub:mteb/scifact@main")
    Collection(kind=<Kind.HUB: 'hub'>, name='mteb/scifact', part='main', inside='')
    >>> str(read_collection("beir:CQADupStack/android"))
    'beir:cqadupstack/android'
    """
    stripped = text.strip()
    prefix, colon, name = stripped.partition(":")
    if not colon or prefix.lower() not in {kind.value for kind in Kind} or not name:
        raise CollectionNameError(
            given=stripped, why="write beir:scifact, hub:owner/name or irds:vaswani."
        )
    return READERS[Kind(prefix.lower())](stripped, name.strip())


def _beir(text: str, name: str) -> Collection:
    stem, _, forum = name.lower().partition("/")
    if stem in CLOSED_BEIR:
        why = "its texts may not be passed on. Get them from their publisher and import the files."
        raise CollectionNameError(given=text, why=why)
    if stem not in KNOWN_BEIR:
        raise CollectionNameError(given=text, why=f"BEIR has {', '.join(KNOWN_BEIR)}.")
    if stem == "cqadupstack" and forum not in FORUMS:
        why = f"it is twelve collections, choose one as in cqadupstack/android: {', '.join(FORUMS)}"
        raise CollectionNameError(given=text, why=f"{why}.")
    if forum and stem != "cqadupstack":
        raise CollectionNameError(given=text, why=f"{stem} has no parts; write beir:{stem}.")
    return Collection(Kind.BEIR, stem, forum)


def _hub(text: str, name: str) -> Collection:
    path, _, revision = name.partition("@")
    owner, slash, rest = path.partition("/")
    stem, _, inside = rest.partition("/")
    repo = f"{owner}{slash}{stem}"
    if not HUB_REPO.fullmatch(repo) or ".." in repo or "--" in repo:
        raise CollectionNameError(given=text, why="write owner and name, as in hub:mteb/scifact.")
    if ("@" in name) and (not HUB_REVISION.fullmatch(revision) or ".." in revision):
        why = "a revision is a branch, a tag or a commit, as in hub:mteb/scifact@main."
        raise CollectionNameError(given=text, why=why)
    if inside and (not HUB_INSIDE.fullmatch(inside) or ".." in inside):
        why = "after the name comes a folder or a pattern, as in hub:owner/name/data/de-*."
        raise CollectionNameError(given=text, why=why)
    return Collection(Kind.HUB, repo, revision, inside)


def _irds(text: str, name: str) -> Collection:
    if not IRDS_ID.fullmatch(name.lower()):
        why = "an ir_datasets id is written as in irds:beir/scifact/test."
        raise CollectionNameError(given=text, why=why)
    return Collection(Kind.IRDS, name)


READERS = {Kind.BEIR: _beir, Kind.HUB: _hub, Kind.IRDS: _irds}
