"""Where a site that was installed, and is no checkout, keeps its data; and how to say otherwise."""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks_app.env import EnvError
from benchwright.recipes.arguments import unless_told

VARIABLE = "BENCHWRIGHT_DATA"
DATA = unless_told("--data", metavar="DIR", help=f"folder of the data, before {VARIABLE}")


def user_data_folder(
    environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> Path:
    """The folder for a person's data, by the convention of the platform; `~` is not looked up."""
    if platform == "darwin":
        return Path("~/Library/Application Support/Benchwright")
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or "~/AppData/Local") / "Benchwright"
    folder = Path(environment.get("XDG_DATA_HOME", ""))
    # The specification has relative paths ignored.
    return (folder if folder.is_absolute() else Path("~/.local/share")) / "benchwright"


def make_data_folder(folder: Path, *, is_private: bool) -> None:
    """Make it where it is missing; a private one is for its owner alone."""
    try:
        folder.mkdir(mode=0o700 if is_private else 0o777, parents=True, exist_ok=True)
    except OSError as error:
        accepted = f"a folder that can be made ({error.strerror})"
        raise EnvError(VARIABLE, str(folder), accepted) from error


def choose_site(words: Sequence[str]) -> None:
    """Put what a command line says of the site into the environment, before settings are read.

    Links begin with its host and port, and to this host it answers. Its folder becomes absolute:
    the site's processes work in another one than this.
    """
    parser = ArgumentParser(add_help=False)
    for names in (DATA.names, ("--host",), ("--port",)):
        parser.add_argument(*names)
    site = parser.parse_known_args(words)[0]
    os.environ.update({"HOST": site.host} if site.host else {})
    os.environ.update({"PORT": site.port} if site.port else {})
    folder = site.data or os.environ.get(VARIABLE)
    if folder:
        os.environ[VARIABLE] = str(Path(folder).expanduser().absolute())
