"""What the packages of the library promise by `__all__`, and what it takes to have it."""

import subprocess
import sys
from importlib import import_module
from inspect import isclass, isfunction
from pathlib import Path
from pkgutil import walk_packages

import pytest

import benchwright
from benchwright.lazily import lazily

PACKAGES = ["benchwright"] + [
    module.name
    for module in walk_packages(benchwright.__path__, "benchwright.")
    if module.ispkg
    and "__all__"
    in Path(module.module_finder.path, module.name.rpartition(".")[2], "__init__.py").read_text()
]
# A fresh interpreter in which nothing but the standard library can be imported.
ALONE = """
import sys
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in sys.stdlib_module_names | {"benchwright", "click"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Refusing())
sys.argv[0] = "benchwright"
"""


def alone(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", ALONE + code, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", PACKAGES)
def test_each_promised_name_is_there_and_documented(name):
    package = import_module(name)
    assert set(package.__all__) <= set(dir(package))
    for promised in package.__all__:
        thing = getattr(package, promised)
        assert not (isfunction(thing) or isclass(thing)) or thing.__doc__, f"{name}.{promised}"


def test_a_name_that_is_not_promised_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nDCG'"):
        benchwright.nDCG  # noqa: B018


def test_scoring_takes_the_standard_library_alone():
    ended = alone(
        "import benchwright\n"
        "found = benchwright.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, ['nDCG@10'])\n"
        "print(found.means)"
    )
    assert (ended.stdout, ended.stderr) == ("{'nDCG@10': 1.0}\n", "")


def test_a_name_that_needs_more_says_which_extra_brings_it():
    ended = alone("from benchwright import compare")
    last = ended.stderr.splitlines()[-1]
    assert last.startswith(
        "benchwright.errors.MissingPackageError: benchwright.compare needs numpy"
    )
    assert last.endswith("pip install 'benchwright[tools]'.")


def test_commands_score_without_more_and_say_what_others_need(tmp_path):
    qrels, run = tmp_path / "qrels.txt", tmp_path / "bm25.run"
    qrels.write_text("q1 0 d1 1\n")
    other = tmp_path / "dense.run"
    for file in (run, other):
        file.write_text("q1 Q0 d1 1 1.0 system\n")
    start = "from benchwright.cli.start import main\nmain()"

    scored = alone(start, "score", str(qrels), str(run), "-m", "nDCG@10")
    assert scored.returncode == 0, scored.stderr
    assert "1.0000" in scored.stdout

    compared = alone(start, "compare", str(qrels), str(run), str(other), "-m", "nDCG@10")
    assert compared.returncode == 1
    assert "needs numpy" in compared.stderr
    assert "pip install 'benchwright[tools]'" in compared.stderr


def test_a_module_of_ours_that_is_gone_is_said_to_be_in_no_extra():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'benchwright\.gone'"):
        lazily(__name__, {"x": "benchwright.gone"})("x")
