"""What `benchwright submit` takes in place of a run: vectors of queries and documents."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.main import option

if TYPE_CHECKING:
    from benchwright.client import Client, Submission

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
GROUP = "Embeddings"
VECTORS = ".npy, .npz with ids, or Parquet with ids."
FILES = ("query_embeddings", "query_ids", "document_embeddings", "document_ids", "approximate")
OPTIONS = (
    option("--query-embeddings", type=FILE, metavar="FILE", group=GROUP, help=VECTORS),
    option("--query-ids", type=FILE, metavar="FILE", group=GROUP, help="For .npy: one a line."),
    option("--document-embeddings", type=FILE, metavar="FILE", group=GROUP, help=VECTORS),
    option("--document-ids", type=FILE, metavar="FILE", group=GROUP, help="For .npy: one a line."),
    option(
        "--similarity",
        type=click.Choice(["cosine", "dot"]),
        group=GROUP,
        help="How vectors are compared; cosine unless given.",
    ),
    option(
        "--depth",
        type=click.IntRange(1, 1000),
        group=GROUP,
        help="Results for each query; 100 unless given.",
    ),
    option(
        "--approximate",
        type=FILE,
        metavar="RUN",
        group=GROUP,
        help="The run of an approximate index with the same vectors, to be compared.",
    ),
)


def embedding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Put the options on a command."""
    for decorator in reversed(OPTIONS):
        command = decorator(command)
    return command


def refuse_mixture(run: Path | None, options: Mapping[str, Any]) -> None:
    """End with a usage error where there is neither a run nor vectors, or both, or half of them."""
    names = [*FILES, "similarity", "depth"]
    has_any = any(options[name] for name in names)
    if run is not None and has_any:
        reason = "RUN and vectors cannot be sent together. Name one of both."
        raise click.UsageError(reason)
    if run is None and not has_any:
        reason = "Missing argument 'RUN': a run, or --query-embeddings and --document-embeddings."
        raise click.UsageError(reason)
    if run is None and not (options["query_embeddings"] and options["document_embeddings"]):
        reason = "Vectors of queries and of documents belong together: name both files."
        raise click.UsageError(reason)


def shown(run: Path | None, options: Mapping[str, Any]) -> str:
    """What is being sent, for the line that tells how far that is."""
    return run.name if run else f"{options['document_embeddings'].name} and what belongs to it"


def send(client: "Client", benchmark: str, run: Path | None, **more: Any) -> "Submission":
    """Send the run, or the vectors."""
    if run is not None:
        return client.submit(benchmark, run, **more)
    return client.submit_embeddings(
        benchmark, more.pop("query_embeddings"), more.pop("document_embeddings"), **more
    )
