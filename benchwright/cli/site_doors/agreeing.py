"""`benchwright agreement` on a site: over its labels, as its page has it."""

from collections.abc import Iterator, Mapping
from typing import Any

from benchwright.cli.doors import declared
from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, door
from benchwright.texts.counting import counted

THERE = declared(
    option("--pool", metavar="NAME", group="Labels", help="Those of a pool; by default all."),
    option("--afresh", is_flag=True, group="Labels", help="Measure first, where there are many."),
)


@door
def on_site(site: Asked, pool: str | None, afresh: bool) -> None:
    """Say how far people agree, over all labels of the benchmark or those of a pool."""
    body = {"pool": site.named("pools/", pool, "pool")["id"]} if pool else {}
    if afresh:
        site.done(site.ask("POST", "agreement/", json=body))
    report = site.ask("GET", "agreement/", params=body or None)
    site.say(report, _lines(report))


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    documents = counted(report["n_documents"], "document")
    shared = f"{report['n_shared']:,} of {documents} with two or more"
    people = counted(report["n_raters"], "person")
    yield f"{counted(report['n_labels'], 'label')} of {people}, {shared}"
    yield from coefficient_lines(report["overall"])


def coefficient_lines(overall: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """A table of coefficients with their intervals, and why others are undefined."""
    from benchwright.agreement import COEFFICIENTS
    from benchwright.cli.tables import Table, plain

    coefficients = [(label, overall[key]) for key, label, _ in COEFFICIENTS if key in overall]
    rows = [
        [
            label,
            *(_number(row.get(name)) for name in ("value", "low", "high")),
            f"{row['n_items']:,}",
        ]
        for label, row in coefficients
        if row["value"] is not None
    ]
    yield plain(Table(("coefficient", "value", "low", "high", "documents"), rows))
    for label, row in coefficients:
        if row["value"] is None:
            yield f"{label}: undefined, because {row['why']}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
