"""Which modules are looked through for examples of docstrings: those that have one."""

from pathlib import Path
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Any:
    # Of ten modules nine have none, and each is gone through by every process of the tests.
    collectors = yield
    if file_path.suffix != ".py" or b">>>" in file_path.read_bytes():
        return collectors
    return [collector for collector in collectors if type(collector) is pytest.Module]
