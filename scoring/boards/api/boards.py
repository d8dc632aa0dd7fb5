"""Endpoints of boards: ranked runs, their means by slice, and how the top rose."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpResponse
from django.urls import path, reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.paging import CURSOR_PARAMETERS, RowPages, is_by_cursor, link_header
from benchmarks_app.models import Release, Run
from benchmarks_app.permissions import Action
from benchmarks_app.releases.downloads import published_release
from benchwright.evaluation.uncertainty import TIE_GROUPS
from scoring.boards.forms.boards import BoardFilterForm
from scoring.boards.keeping import kept_json
from scoring.boards.services.boards import Board, board_of
from scoring.boards.services.slices import SliceBoard, SliceRow, row_of, slice_board
from scoring.boards.services.tables import board_table
from scoring.scores.selectors.attempts import unranked_on
from scoring.scores.selectors.boards import BoardRow, Record, records_of
from scoring.scores.selectors.releases import measures_stored
from scoring.scores.services.firewall import measure_seen
from scoring.scores.services.slice_scores import BoardSplit, board_split, slices_on_board
from scoring.scores.shown import Shown

TAG = ["leaderboard"]
MEASURE = OpenApiParameter(
    "measure", description="Which measure ranks, by any of its names; nDCG@10 by default."
)
SLICE = OpenApiParameter("slice", description="Over which slice; over all queries by default.")
SPLIT = OpenApiParameter(
    "split",
    description="Over which split; that of the open phase by default, `all` for all together.",
)
FILTERS = [
    OpenApiParameter("q", description="Words in the name, the team, the type or the description."),
    OpenApiParameter("type", description="Type of system, as a run's metadata says it."),
    OpenApiParameter("by", description="Team or person."),
    OpenApiParameter("kind", enum=Run.Kind.values),
    OpenApiParameter("pooled", enum=["yes", "no"], description="Whether it is in the pool."),
    OpenApiParameter("trained", enum=["yes", "no"], description="Whether it saw this data."),
    OpenApiParameter("since", type=str, description="First day, such as 2026-01-31."),
    OpenApiParameter("until", type=str, description="Last day."),
    OpenApiParameter("best", type=bool, description="Only the best of each team."),
    OpenApiParameter("sort", description="rank, run, by, date, answered, adjusted, …"),
    OpenApiParameter("order", enum=["reversed"]),
]
LIMIT, CURSOR = (
    OpenApiParameter(part["name"], type=part["schema"], description=part["description"])
    for part in CURSOR_PARAMETERS
)


class LinksSerializer(serializers.Serializer):
    """Where the other rows are."""

    next = serializers.URLField(
        required=False, allow_null=True, help_text="The next rows, where `limit` was given."
    )
    previous = serializers.URLField(required=False, allow_null=True)


class BoardSerializer(LinksSerializer):
    """A board; each row has a value for every one of `columns`, as the CSV file has them."""

    benchmark = serializers.CharField()
    release = serializers.CharField()
    measure = serializers.CharField()
    column = serializers.CharField(help_text="The column that has the measure.")
    slice = serializers.CharField(allow_blank=True)
    split = serializers.CharField(allow_blank=True, help_text="Empty: all splits, or a slice.")
    queries = serializers.CharField(help_text="Which queries are taken, in words.")
    machine_judged = serializers.CharField(
        allow_blank=True, help_text="That a machine gave the grades, and which; empty: people did."
    )
    url = serializers.CharField(help_text="The page of the same board.")
    decimals = serializers.IntegerField(
        allow_null=True, help_text="To how many decimals means are rounded; null: not at all."
    )
    n_runs = serializers.IntegerField(help_text="On the whole board, whatever is filtered.")
    n_waiting = serializers.IntegerField(help_text="Runs that lack the measure so far: ask again.")
    n_unranked = serializers.IntegerField(help_text="Submissions that failed.")
    held = serializers.CharField(
        allow_blank=True,
        help_text="The Ladder in a sentence, where it is in force: see `held` of the rows.",
    )
    tie_groups = serializers.CharField(help_text="What the groups in `tie_group` say.")
    notes = serializers.ListField(
        child=serializers.CharField(),
        help_text="What stands in the way of telling runs apart, and of trusting intervals.",
    )
    columns = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(child=serializers.DictField())


class SliceCellSerializer(serializers.Serializer):
    slice = serializers.CharField(help_text="Empty: all queries.")
    n = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True, help_text="From the baseline's mean.")


CELL = tuple(SliceCellSerializer().fields)


class SliceRowSerializer(serializers.Serializer):
    run = serializers.IntegerField()
    name = serializers.CharField()
    by = serializers.CharField()
    cells = SliceCellSerializer(many=True)


class SliceBoardSerializer(LinksSerializer):
    """Runs by slices; the first cell of a row is over all queries."""

    release = serializers.CharField()
    measure = serializers.CharField()
    baseline = serializers.IntegerField(allow_null=True)
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="Slices whose intervals are over few families."
    )
    rows = SliceRowSerializer(many=True)


class BoardRecordSerializer(serializers.Serializer):
    """A run that was better than every one before it."""

    at = serializers.DateTimeField()
    run = serializers.IntegerField(source="row.run.pk")
    name = serializers.CharField(source="row.run.name")
    by = serializers.CharField(source="row.by")
    value = serializers.FloatField()
    low = serializers.SerializerMethodField()
    high = serializers.SerializerMethodField()
    gain = serializers.FloatField(allow_null=True)

    def get_low(self, record: Record) -> float | None:
        return record.interval[0] if record.interval else None

    def get_high(self, record: Record) -> float | None:
        return record.interval[1] if record.interval else None


class BoardHistorySerializer(serializers.Serializer):
    release = serializers.CharField()
    measure = serializers.CharField()
    records = BoardRecordSerializer(many=True)


class BoardEndpoint(Endpoint):
    """An endpoint of the board that its address asks for."""

    pagination_class = None
    takes_split = False
    # Whether it says anything of measures other than the one that is asked for.
    is_alone = True

    def board(self, version: str) -> Board:
        """The board that the address asks for; 400 says what is wrong of it."""
        release = published_release(self.benchmark_for(Action.SEE_RESULTS), version)
        params = self.request.query_params
        form = BoardFilterForm(params)
        wanted = form.filter()
        if form.errors:
            raise ValidationError(
                {name: [str(error) for error in errors] for name, errors in form.errors.items()}
            )
        return board_of(
            release=release,
            user=self.request.user,
            measure=self._measure(release, params.get("measure", "")),
            slice_name=_slice_name(release, params.get("slice", "")),
            split=_split(release, params.get("split", "")) if self.takes_split else None,
            asked=wanted,
            is_alone=self.is_alone,
        )

    def kept(self, make: Callable[[], Response]) -> HttpResponse:
        """What `make` answers, made once for those to whom it is the same (`keeping`)."""
        return kept_json(self.request, self.benchmark_for(Action.SEE_RESULTS), make)

    def rows_asked(
        self, rows: list[BoardRow]
    ) -> tuple[list[BoardRow], dict[str, str | None], dict[str, str]]:
        """All rows, or those of the page that is asked for; with the links to others, and headers
        that say the same.
        """
        links: tuple[str | None, str | None] = (None, None)
        headers: dict[str, str] = {}
        if is_by_cursor(self.request):
            pages = RowPages()
            rows = pages.paginate_queryset(rows, self.request)
            links = pages.get_next_link(), pages.get_previous_link()
            headers = link_header(*links)
        return rows, dict(zip(("next", "previous"), links, strict=True)), headers

    def _measure(self, release: Release, text: str) -> Shown:
        user = self.request.user
        measure = measure_seen(user, release, text)
        if not user.is_authenticated and measure.name not in measures_stored(release):
            raise ValidationError({"measure": ["This measure is computed for who signs in."]})
        return measure


def _split(release: Release, wanted: str) -> BoardSplit:
    split = board_split(release, wanted)
    if split.error:
        raise ValidationError({"split": [split.error]})
    return split


def _slice_name(release: Release, wanted: str) -> str:
    names = [part.name for part in slices_on_board(release)]
    if wanted and wanted not in names:
        message = f"No slice '{wanted}' is shown. There are: {', '.join(names) or 'none'}."
        raise ValidationError({"slice": [message]})
    return wanted


def _page_of(request: Request, board: Board) -> str:
    """The address of the page that shows the same board."""
    release = board.release
    url = reverse("scoring:leaderboard-release", args=[release.benchmark.slug, release.version])
    query = request.query_params.copy()
    query.pop("measure", None)
    query["m"] = board.measure.label
    if board.asked_split:
        query["split"] = board.asked_split
    return request.build_absolute_uri(f"{url}?{query.urlencode(safe='@')}")


class LeaderboardDetail(BoardEndpoint):
    takes_split = True
    is_alone = False
    serializer_class = BoardSerializer

    @extend_schema(
        summary="The leaderboard of a release",
        tags=TAG,
        operation_id="leaderboard_retrieve",
        parameters=[MEASURE, SLICE, SPLIT, *FILTERS, LIMIT, CURSOR],
    )
    def get(self, request: Request, slug: str, version: str) -> HttpResponse:
        return self.kept(lambda: self.answer(request, slug, version))

    def answer(self, request: Request, slug: str, version: str) -> Response:
        board = self.board(version)
        rows, links, headers = self.rows_asked(board.rows)
        table = board_table(board, rows)
        answer = {
            "benchmark": slug,
            "release": board.release.version,
            "measure": board.measure.name,
            "column": board.measure.label,
            "slice": "" if board.split else board.slice_name,
            "split": board.split.name if board.split else "",
            "queries": board.over,
            "machine_judged": board.machine_judged,
            "url": _page_of(request, board),
            "decimals": board.sight.decimals,
            "n_runs": len(board.whole),
            "n_waiting": board.n_waiting,
            "n_unranked": unranked_on(board.release, request.user).n,
            "held": board.held,
            "tie_groups": TIE_GROUPS,
            "notes": board.notes,
            "columns": table.columns,
            "rows": table.rows,
            **links,
        }
        return Response(answer, headers=headers)


class LeaderboardSlices(BoardEndpoint):
    serializer_class = SliceBoardSerializer

    @extend_schema(
        summary="Means of every run over every slice",
        tags=TAG,
        operation_id="leaderboard_slices",
        parameters=[
            MEASURE,
            OpenApiParameter("baseline", type=int, description="A run to compare with, by its id."),
            *FILTERS,
            LIMIT,
            CURSOR,
        ],
    )
    def get(self, request: Request, slug: str, version: str) -> HttpResponse:
        return self.kept(lambda: self.answer(version))

    def answer(self, version: str) -> Response:
        board = self.board(version)
        wanted = self.request.query_params.get("baseline", "")
        baseline = row_of(board, wanted)
        if wanted and baseline is None:
            raise Http404
        rows, links, headers = self.rows_asked(board.rows)
        sliced: SliceBoard = slice_board(board, rows, baseline)
        answer = {
            "release": board.release.version,
            "measure": board.measure.name,
            "baseline": baseline and baseline.run.pk,
            "notes": [
                f"{part.name or 'all queries'}: {warning}"
                for part in sliced.slices
                for warning in part.warnings
            ],
            "rows": [_slice_row(of) for of in sliced.rows],
            **links,
        }
        return Response(answer, headers=headers)


def _slice_row(of: SliceRow) -> dict[str, Any]:
    cells = []
    for cell in of.cells:
        low, high = cell.interval or (None, None)
        values = (cell.slice.name, cell.n, cell.mean, low, high, cell.difference)
        cells.append(dict(zip(CELL, values, strict=True)))
    return {"run": of.row.run.pk, "name": of.row.run.name, "by": of.row.by, "cells": cells}


class LeaderboardHistory(BoardEndpoint):
    takes_split = True
    serializer_class = BoardHistorySerializer

    @extend_schema(
        summary="The runs that were the best when they came",
        tags=TAG,
        operation_id="leaderboard_history",
        parameters=[MEASURE, SLICE, SPLIT],
    )
    def get(self, request: Request, slug: str, version: str) -> HttpResponse:
        return self.kept(lambda: self.answer(version))

    def answer(self, version: str) -> Response:
        board = self.board(version)
        answer = {
            "release": board.release.version,
            "measure": board.measure.name,
            "records": records_of(board.whole, board.measure.name),
        }
        return Response(BoardHistorySerializer(answer).data)


of_benchmark = [
    path(
        "releases/<str:version>/leaderboard/",
        LeaderboardDetail.as_view(),
        name="leaderboard-detail",
    ),
    path(
        "releases/<str:version>/leaderboard/slices/",
        LeaderboardSlices.as_view(),
        name="leaderboard-slices",
    ),
    path(
        "releases/<str:version>/leaderboard/history/",
        LeaderboardHistory.as_view(),
        name="leaderboard-history",
    ),
]
