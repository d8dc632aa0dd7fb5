"""The demo's dense system: there where its package is, and never in the pool."""

import pytest

from benchmarks_app.importing.services import demo


@pytest.fixture
def asked(monkeypatch):
    """What is said, and the commands that are called in place of being run."""
    results = []
    monkeypatch.setattr(demo, "call_command", lambda *words, **more: results.append((words, more)))
    return results


def test_dense_system_is_made_where_it_is_installed(asked, monkeypatch):
    monkeypatch.setattr(demo, "find_spec", lambda name: object())

    demo._dense_run(asked.append)

    queries, made = asked
    assert "not pooled" in queries
    assert made == (("make_baselines", "stdlib"), {"system": ["wordllama"]})


def test_demo_goes_on_without_it(asked, monkeypatch):
    monkeypatch.setattr(demo, "find_spec", lambda name: None)

    demo._dense_run(asked.append)

    assert asked == ["No dense system: wordllama is not installed (extra demo)"]
