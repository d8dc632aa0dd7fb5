"""Dataset repositories: the head of the README, and the tables it names."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchwright.detection.collections import data_files
from benchwright.formats.numbers import whole
from benchwright.linting.beir_files import count_id
from benchwright.linting.folder import Folder, Ids, Row, check_rows

README = "README.md"
CONFIGS = ("corpus", "queries", "qrels")
COLUMNS = {
    "corpus": ("_id", "text"),
    "queries": ("_id", "text"),
    "qrels": ("query-id", "corpus-id", "score"),
}
ROWS = 50_000


def check_hub(look: Folder) -> None:
    """Look at the head of the README and at the tables it names."""
    name = look.path.name.removesuffix(".zip")
    for script in (f"{name}.py", "dataset.py"):
        if script in look.members:
            look.say("hub-script", script)
    configs = _configs(look)
    if configs is None:
        return
    if "sentence-transformers" in look.report.formats:
        _check_split_names(look, configs)
    for config, noun in (("corpus", "document"), ("queries", "query")):
        _check_texts(look, config, noun, _all_files(configs.get(config, {})))
    split_of: dict[str, str] = {}
    for split, files in configs.get("qrels", configs.get("default", {})).items():
        for file in _matching(look, files):
            check_rows(look, file, split, _pairs(look, file), split_of)
    look.look_at_both()


def _all_files(splits: Mapping[str, list[str]]) -> list[str]:
    return list(dict.fromkeys(file for files in splits.values() for file in files))


def _matching(look: Folder, files: list[str]) -> list[str]:
    """Return the members that these names or patterns mean; a name without one is told."""
    matching: list[str] = []
    for pattern in files:
        names = [name for name in look.members if fnmatchcase(name, pattern)]
        if not names:
            look.say("file-missing", pattern, detail="the README names it, and it is missing.")
        matching += names
    return matching


def _check_texts(look: Folder, config: str, noun: str, files: list[str]) -> None:
    """Look at the rows of a table of texts."""
    ids = Ids()
    has_text = "sentence-transformers" not in look.report.formats
    for file in _matching(look, files):
        order = look.order_of(file)
        for number, row in _rows(look, file, config):
            name, text = row["_id"], row["text"]
            if name is None:
                look.say("id-empty", file, number)
                continue
            order.next(str(name), number)
            count_id(look, ids, str(name), "_id", file, number, noun=noun)
            if noun == "query":
                look.own_ids.append(str(name))
            if text is None:
                look.say("text-null", file, number)
            elif row["has_image"]:
                pass  # which needs no words beside it
            elif not text.strip() and noun == "query":
                look.say("query-empty", file, number)
            elif noun == "document" and not (text.strip() or (row.get("title") or "").strip()):
                look.say("document-empty", file, number)
            if has_text and noun == "document" and row.get("title") is None:
                look.say("title-missing", file, number)
    look.take_ids(noun, ids)


def _pairs(look: Folder, file: str) -> Iterator[Row]:
    for number, row in _rows(look, file, "qrels"):
        score = row.get("score", 1)
        grade = None if isinstance(score, str) else whole(score)
        if grade is None:
            look.say("grade-not-integer", file, number, f"score is {score}.")
            continue
        if grade < 0:
            look.say("grade-negative", file, number, f"score is {grade}.")
        yield number, str(row["query-id"]), str(row["corpus-id"]), grade


def _rows(look: Folder, file: str, config: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number (from 1) and cells of each row of a Parquet file, a few columns of it.

    `has_image` says whether the row has an image in a column of these.
    """
    import polars as pl

    columns_wanted = [*COLUMNS[config], *(["title"] if config == "corpus" else [])]
    with local_file(look, file) as path:
        try:
            schema = pl.read_parquet_schema(path)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            look.say("file-unreadable", file, detail=f"is no Parquet file: {error}.")
            return
        if not _check_schema(look, file, config, schema):
            return
        columns = [name for name in columns_wanted if name in schema]
        lazy = pl.scan_parquet(path).select(*columns, _has_image(schema).alias("has_image"))
        number = 0
        for start in range(0, lazy.select(pl.len()).collect().item(), ROWS):
            for row in lazy.slice(start, ROWS).collect().iter_rows(named=True):
                number += 1
                yield number, row


def _has_image(schema: Mapping[str, Any]) -> Any:
    import polars as pl

    single, several = pl.col("image").is_not_null(), pl.col("images").list.len() > 0
    if "image" in schema:
        return single
    is_listed = isinstance(schema.get("images"), pl.List)
    return several.fill_null(value=False) if is_listed else pl.lit(value=False)


def _check_schema(look: Folder, file: str, config: str, schema: Mapping[str, Any]) -> bool:
    """Tell columns that are missing or have another type; return whether rows can be read."""
    needed = list(COLUMNS[config])
    if config == "qrels" and "sentence-transformers" in look.report.formats:
        needed.remove("score")
    if missing := [name for name in needed if name not in schema]:
        look.say("columns", file, detail=f"has no column {', '.join(missing)}.")
        return False
    for name in needed:
        kind = str(schema[name])
        if name == "score":
            if kind != "Int32":
                look.say("hub-type", file, detail=f"score is {kind}; expected Int32.")
        elif kind != "String":
            code = "id-not-string" if name.endswith("id") else "hub-type"
            look.say(code, file, detail=f"{name} is {kind}; expected String.")
            if name == "text":
                return False
    return True


@contextmanager
def local_file(look: Folder, file: str) -> Iterator[Path]:
    """A path with what a member holds; one of a zip is taken out for as long as it is read."""
    if look.path.is_dir():
        yield look.path / file
        return
    with TemporaryDirectory(prefix="benchwright-lint-") as folder:
        path = Path(folder) / "member.parquet"
        with path.open("wb") as out:
            out.writelines(look.source.lines(file))
        yield path


def _configs(look: Folder) -> dict[str, dict[str, list[str]]] | None:
    """Return {config: {split: its files}} as the README says, or None where it says nothing."""
    import yaml

    member = look.member(README)
    if member is None:
        return None
    text = b"".join(look.source.lines(member)).decode("utf-8", "replace")
    head = text.split("---\n")[1] if text.startswith("---\n") and text.count("---\n") > 1 else ""
    try:
        header = yaml.safe_load(head)
    except yaml.YAMLError as error:
        look.say("hub-config", README, 0, f"its head is not YAML: {error}.")
        return None
    listed = header.get("configs") if isinstance(header, dict) else None
    configs = {
        str(config["config_name"]): config
        for config in (listed if isinstance(listed, list) else ())
        if isinstance(config, dict) and "config_name" in config
    }
    missing = [name for name in CONFIGS if name not in configs and not _is_default(name, configs)]
    if missing:
        look.say("hub-config", README, 0, f"it names no config {', '.join(missing)}.")
    if "default" not in configs and not configs.get("qrels", {}).get("default"):
        look.say("hub-config", README, 0, "no config is the default one; expected qrels.")
    return {name: _files_of(config) for name, config in configs.items()}


def _is_default(name: str, configs: Mapping[str, Any]) -> bool:
    return name == "qrels" and "default" in configs


def _files_of(config: Mapping[str, Any]) -> dict[str, list[str]]:
    paths_of: dict[str, list[str]] = {}
    for split, path in data_files(config.get("data_files")):
        paths_of.setdefault(split, []).append(path)
    return paths_of


def _check_split_names(look: Folder, configs: Mapping[str, Mapping[str, Any]]) -> None:
    names = {name: set(configs.get(name, {})) for name in CONFIGS}
    split_names = names["qrels"]
    for name in ("corpus", "queries"):
        if lacking := sorted(split_names - names[name]):
            detail = f"config {name} has no split {', '.join(lacking)}, and qrels has."
            look.say("split-names", README, 0, detail)
