"""Boards on other sites: a page for a frame and a badge, the same for whoever asks.

Nobody's rights count here: what is shown is what an outsider may see of a public benchmark whose
owner allows it, so these answers may be kept by anybody for some minutes.
"""

from hashlib import sha256

from csp.constants import NONE
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark
from benchwright.errors import ScoringError
from scoring.boards.services.badges import badge_of, outside_board
from scoring.boards.services.boards import Board
from scoring.scores.views import release_of

# The policy of the one page that other sites may frame.
FRAMED = {"frame-ancestors": ["*"], "script-src": [NONE], "form-action": [NONE]}
MAX_AGE = 300
MOST_ROWS = 50


@xframe_options_exempt
@require_safe
def board_embed(request: HttpRequest, slug: str) -> HttpResponse:
    board = _board(request, slug)
    rows = board.whole[:MOST_ROWS]
    context = {
        "board": board,
        "rows": rows,
        "n_more": len(board.whole) - len(rows),
        "digits": board.sight.digits,
        "whole": request.build_absolute_uri(
            reverse("scoring:leaderboard-release", args=[slug, board.release.version])
        ),
    }
    answer = _kept(request, render(request, "scoring/boards/board_embed.html", context))
    # As `csp_replace` does, which takes no view with arguments; of a 304 as well, whose headers
    # take the place of those that a browser has kept.
    vars(answer)["_csp_replace"] = FRAMED
    return answer


@require_safe
def board_badge(request: HttpRequest, slug: str) -> HttpResponse:
    badge = badge_of(_board(request, slug), request.GET.get("run", ""))
    response = HttpResponse(badge.as_svg(), content_type="image/svg+xml; charset=utf-8")
    return _kept(request, response)


@require_safe
def board_badge_json(request: HttpRequest, slug: str) -> HttpResponse:
    badge = badge_of(_board(request, slug), request.GET.get("run", ""))
    response = JsonResponse(badge.as_json(), json_dumps_params={"ensure_ascii": False})
    # Scripts of other sites may read what everybody may see.
    response["Access-Control-Allow-Origin"] = "*"
    return _kept(request, response)


def _board(request: HttpRequest, slug: str) -> Board:
    """The board of the release that is asked for, else of the newest; 404 unless it is allowed."""
    allowed = Benchmark.objects.filter(visibility=Benchmark.Visibility.PUBLIC, may_embed=True)
    release = release_of(get_object_or_404(allowed, slug=slug), request.GET.get("release", ""))
    if release is None:
        raise Http404
    try:
        return outside_board(release, request.GET.get("m", "").strip())
    except ScoringError as error:
        raise Http404 from error


def _kept(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Good for some minutes, then asked for by its tag."""
    tag = f'"{sha256(response.content).hexdigest()[:32]}"'
    response["ETag"] = tag
    response["Cache-Control"] = f"public, max-age={MAX_AGE}"
    answer = get_conditional_response(request, etag=tag, response=response)
    return answer if isinstance(answer, HttpResponse) else response


def embed_links(request: HttpRequest, benchmark: Benchmark) -> dict[str, str]:
    """What is copied to show a board elsewhere; empty where the owner does not allow it."""
    if not (benchmark.may_embed and benchmark.visibility == Benchmark.Visibility.PUBLIC):
        return {}
    views = ("board-embed", "board-badge", "board-badge-json", "leaderboard")
    page, svg, endpoint, board = (
        request.build_absolute_uri(reverse(f"scoring:{view}", args=[benchmark.slug]))
        for view in views
    )
    title = benchmark.name.replace("[", "(").replace("]", ")")
    return {
        "frame": f'<iframe src="{page}" width="100%" height="420" loading="lazy"></iframe>',
        "badge": f"[![{title}]({svg})]({board})",
        "endpoint": endpoint,
    }
