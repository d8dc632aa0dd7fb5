"""A board as a file: CSV, JSON or Markdown, with the same columns."""

import csv
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import SiteRequest
from benchwright.comparison.patterns import markdown_words
from benchwright.files.cells import safe_cell
from benchwright.texts.markdown import table_line, table_lines
from scoring.boards.keeping import kept_for_audience, kept_for_everybody
from scoring.boards.services.boards import Board, with_stored_scenarios
from scoring.boards.services.tables import BoardTable, board_table
from scoring.boards.views.boards import asked_board, permanent_link, shows_scenarios
from scoring.scores.views import Asked, release_or_404

Writer = Callable[[SiteRequest, Board, BoardTable], HttpResponse]


def refusal(choice: Asked) -> HttpResponse:
    """Instead of a file: the measure of another name than the one asked for would mislead."""
    return HttpResponse(choice.error, status=422, content_type="text/plain; charset=utf-8")


def _file(
    request: SiteRequest, benchmark: Benchmark, version: str, *, ending: str, write: Writer
) -> HttpResponse:
    release = release_or_404(benchmark, version)
    choice, sliced, _, board = asked_board(request, release)
    if choice.error:
        return refusal(choice)
    if sliced.error or (board.split and board.split.error):
        raise Http404
    if shows_scenarios(request):
        board = with_stored_scenarios(board)
    response = write(request, board, board_table(board))
    of = sliced.name or (board.split.name if board.split else "")
    part = f"-{slugify(of) or 'slice'}" if of else ""
    name = f"{benchmark.slug}-{release.version}{part}-leaderboard.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _csv(request: HttpRequest, board: Board, table: BoardTable) -> HttpResponse:
    file = StringIO()
    writer = csv.writer(file)
    writer.writerow(table.columns)
    writer.writerows([_csv_cell(row[name]) for name in table.columns] for row in table.rows)
    return HttpResponse(file.getvalue(), content_type="text/csv; charset=utf-8")


def _csv_cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return safe_cell(value) if isinstance(value, str) else repr(value)


def _json(request: SiteRequest, board: Board, table: BoardTable) -> HttpResponse:
    content = {
        "benchmark": request.benchmark.slug,
        "release": board.release.version,
        "measure": board.measure.name,
        "slice": "" if board.split else board.slice_name,
        "split": board.split.name if board.split else "",
        "queries": board.over,
        "url": permanent_link(request, board),
        "machine_judged": board.machine_judged,
        "columns": table.columns,
    }
    return HttpResponse(_indented(content, table.rows), content_type="application/json")


def _indented(content: dict[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    """The content with its `rows` last, one step a level: rows hold plain values.

    Python's encoder in C knows no steps, and that in Python takes three times as long.
    """
    begin = DjangoJSONEncoder(indent=1).encode(content).removesuffix("\n}")
    encode = DjangoJSONEncoder(separators=(",\n   ", ": ")).encode
    texts = [f"{{\n   {encode(row)[1:-1]}\n  }}" for row in rows]
    end = "[\n  " + ",\n  ".join(texts) + "\n ]" if texts else "[]"
    return f'{begin},\n "rows": {end}\n}}'


def _markdown(request: SiteRequest, board: Board, table: BoardTable) -> HttpResponse:
    of = f", {board.over}" if board.over else ""
    title = f"{request.benchmark} {board.release.version}, by {board.measure.label}{of}"
    rule = table_line("---:" if _is_number(table, name) else "---" for name in table.columns)
    rows = ([_markdown_cell(row[name]) for name in table.columns] for row in table.rows)
    lines = table_lines(table.columns, rows, rule=rule)
    link = f"[{markdown_words(title)}]({permanent_link(request, board)})"
    machine = (
        [f"**{board.machine_title}.** {board.machine_judged}", ""] if board.machine_judged else []
    )
    text = "\n".join([link, "", *machine, *lines, ""])
    return HttpResponse(text, content_type="text/markdown; charset=utf-8")


def _is_number(table: BoardTable, name: str) -> bool:
    values = [row[name] for row in table.rows if row[name] is not None]
    return bool(values) and all(isinstance(value, int | float) for value in values)


def _markdown_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return markdown_words(str(value))


@require_safe
@kept_for_everybody
@benchmark_view(Action.SEE_RESULTS)
@kept_for_audience
def leaderboard_csv(request: SiteRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    return _file(request, benchmark, version, ending="csv", write=_csv)


@require_safe
@kept_for_everybody
@benchmark_view(Action.SEE_RESULTS)
@kept_for_audience
def leaderboard_json(request: SiteRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    return _file(request, benchmark, version, ending="json", write=_json)


@require_safe
@kept_for_everybody
@benchmark_view(Action.SEE_RESULTS)
@kept_for_audience
def leaderboard_markdown(request: SiteRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    return _file(request, benchmark, version, ending="md", write=_markdown)
