"""The top of a board, as the overview asks for it."""

from django.urls import reverse

from scoring.boards.services.boards import board_of


def test_first_three_rows_have_their_ranks_and_what_is_below_is_counted(
    release, scored, vi, signed_in
):
    for number in range(5):
        lines = "\n".join(f"q1 Q0 d{place + number} {place} {9 - place} s" for place in range(1, 4))
        scored(lines, name=f"run {number}")
    url = reverse("scoring:board-top", args=[release.benchmark.slug, release.version])

    page = signed_in(vi).get(url).content.decode()

    whole = board_of(release=release, user=vi).whole
    assert [row.run.name in page for row in whole] == [True, True, True, False, False]
    best, worst, _ = whole[0].standing
    assert f'<span class="rank">{best}' in page
    assert worst >= best
    assert "2 more runs below." in page
    assert "<html" not in page


def test_board_without_runs_says_so(release, vi, signed_in):
    url = reverse("scoring:board-top", args=[release.benchmark.slug, release.version])

    assert "No run is scored on 1.0.0 yet." in signed_in(vi).get(url).content.decode()
