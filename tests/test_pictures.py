"""Whether pictures of screens are older than their pages is noticed."""

import json

from tests.browser.screenshots import PICTURES, SCREENS, names_of, old_pictures, tree_name


def test_a_changed_page_and_a_missing_picture_make_a_screen_old(tmp_path, monkeypatch):
    digests = {name: screen.digest() for name, screen in SCREENS.items()}
    (tmp_path / PICTURES).write_text(json.dumps(digests))
    for screen in SCREENS:
        (tmp_path / tree_name(screen)).touch()
        for file_name, *_ in names_of(screen):
            (tmp_path / file_name).touch()
    assert old_pictures(tmp_path) == []

    (tmp_path / "judge-360-dark.png").unlink()
    (tmp_path / PICTURES).write_text(json.dumps(digests | {"query": "of another page"}))
    assert old_pictures(tmp_path) == ["query", "judge"]


def test_every_screen_is_made_of_something():
    empty = {screen.digest() for screen in SCREENS.values()}

    assert len(empty) == len(SCREENS)
