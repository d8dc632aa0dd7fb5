"""Charts: the same in every format, in our look, and never drawn in this process."""

import csv
import io
import itertools
import json
import os
import re
import sys
import threading
from xml.etree import ElementTree

import altair
import pytest
from django.http import Http404
from django.template import Context, Template
from django.test import RequestFactory
from django.urls import reverse

from benchmarks_app.charts import Chart, chart_response, drawing
from benchmarks_app.charts.chart import SIZES
from benchmarks_app.charts.themes import CATEGORIES, RAMP, THEMES

SPEC = {
    "mark": {"type": "bar", "color": "$bad"},
    "encoding": {
        "x": {"field": "run", "type": "nominal"},
        "y": {"field": "labels", "type": "quantitative"},
    },
}
ROWS = [{"run": "bm25", "labels": 3}, {"run": "=1+1", "labels": 5, "note": None}]
CHART = Chart("Labels per run", "bm25 has 3, the other 5.", SPEC, ROWS)


def asked(chart: Chart, format: str, query: str = "", **headers: str):
    return chart_response(RequestFactory().get(f"/{query}", **headers), chart, format)


# --- formats -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_picture_has_the_size_its_place_keeps_free(size):
    drawn = ElementTree.fromstring(asked(CHART, "svg", f"?size={size}").content)

    assert (float(drawn.get("width")), float(drawn.get("height"))) == (SIZES[size], CHART.height)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("highest", [0.09, 0.14, 0.29, 0.6, 1.0])
def test_labels_of_an_axis_keep_apart_in_a_wide_font_as_well(size, highest):
    """ "+0.000" takes 51 px in DejaVu Sans, which few others reach."""
    x = {"field": "at", "type": "quantitative", "axis": {"format": "+.3f"}}
    chart = Chart(
        "A", "B", {"mark": "point", "encoding": {"x": x}}, [{"at": -0.24}, {"at": highest}]
    )

    picture = asked(chart, "svg", f"?size={size}").content.decode()

    labels = re.findall(r"translate\(([\d.]+),[\d.]+\)\"[^>]*>[+\u2212]\d", picture)
    places = list(map(float, labels))
    assert len(places) >= 2
    assert min(b - a for a, b in itertools.pairwise(places)) >= 56


def test_colour_names_become_those_of_the_theme():
    pictures = {theme: asked(CHART, "svg", f"?theme={theme}").content.decode() for theme in THEMES}

    for theme, picture in pictures.items():
        assert THEMES[theme]["bad"] in picture
        assert "$bad" not in picture


def test_png_is_a_png_of_twice_the_size():
    drawn = asked(CHART, "png").content

    assert drawn[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(drawn[16:20], "big") == 2 * SIZES["column"]


def test_csv_has_every_key_and_no_formula():
    assert asked(CHART, "csv").content.decode() == "run,labels,note\r\nbm25,3,\r\n'=1+1,5,\r\n"


def test_json_is_valid_vega_lite_with_the_rows():
    report = json.loads(asked(CHART, "json").content)

    altair.Chart.from_dict(report)
    assert report["data"]["values"] == ROWS
    assert report["description"] == "Labels per run. bm25 has 3, the other 5."


@pytest.mark.parametrize(
    ("format", "query"), [("pdf", ""), ("svg", "?theme=x"), ("svg", "?size=9")]
)
def test_unknown_format_theme_or_size_is_not_found(format, query):
    with pytest.raises(Http404):
        asked(CHART, format, query)


def test_unchanged_picture_is_not_sent_again():
    first = asked(CHART, "svg")
    again = asked(CHART, "svg", HTTP_IF_NONE_MATCH=first["ETag"])
    other = asked(Chart("", "", SPEC, ROWS[:1]), "svg", HTTP_IF_NONE_MATCH=first["ETag"])

    assert (again.status_code, again.content, other.status_code) == (304, b"", 200)


def test_download_is_named_as_the_chart():
    assert asked(CHART, "csv", "?download")["Content-Disposition"].endswith('"labels-per-run.csv"')


# --- drawing -------------------------------------------------------------------------------------


def test_broken_specification_is_said_to_be_one():
    broken = Chart("", "", {"mark": "no such mark"}, [])

    with pytest.raises(drawing.ChartError, match="could not be drawn: Vega-Lite to SVG"):
        asked(broken, "svg")


def test_chart_fetches_nothing():
    spec = {
        "layer": [{"data": {"url": "https://example.org/rows.json"}, "mark": "point"}],
        "encoding": {"x": {"field": "a"}},
    }

    with pytest.raises(drawing.ChartError, match="not allowed"):
        asked(Chart("", "", spec, []), "svg")


def test_many_threads_get_each_their_own_chart():
    charts = [Chart(str(n), "", SPEC, [{"run": f"run-{n}", "labels": n}]) for n in range(8)]
    drawn: dict[int, bytes] = {}
    threads = [
        threading.Thread(target=lambda n=n: drawn.update({n: asked(charts[n], "svg").content}))
        for n in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(f">run-{n}<" in drawn[n].decode() for n in range(8))
    assert "vl_convert" not in sys.modules


def test_drawing_process_that_died_is_started_again():
    asked(CHART, "svg")
    drawing._engine._process.kill()
    drawing._engine._process.wait()

    assert asked(Chart("another", "", SPEC, ROWS), "svg").status_code == 200


def test_no_cell_of_the_data_is_a_formula_or_two_lines():
    chart = Chart("cells", "", SPEC, [{"run": text} for text in ("\n=1+1", "-1", "a\rb")])

    lines = list(csv.reader(io.StringIO(chart.csv(), newline="")))

    assert lines == [["run"], ["'\n=1+1"], ["'-1"], ["a\rb"]]


def test_kept_picture_needs_no_drawing(monkeypatch):
    first = asked(CHART, "svg").content
    monkeypatch.setattr(drawing._engine, "ask", lambda asked: pytest.fail("it was drawn"))

    assert asked(CHART, "svg").content == first


def test_oldest_pictures_go_when_there_are_too_many(tmp_path):
    folder = tmp_path / "charts"
    folder.mkdir()
    for age in range(5):
        (folder / f"{age}.svg").write_bytes(b"x" * 10)
        os.utime(folder / f"{age}.svg", (1000 - age, 1000 - age))

    drawing._make_room(folder, max_files=3)
    assert sorted(path.name for path in folder.iterdir()) == ["0.svg", "1.svg", "2.svg"]

    drawing._make_room(folder, max_bytes=15)
    assert [path.name for path in folder.iterdir()] == ["0.svg"]


# --- on a page -----------------------------------------------------------------------------------


def on_page(times: int = 1) -> str:
    tag = '{% chart "/c/x.svg" "Burn-up" said size="wide" %}'
    context = {"request": RequestFactory().get("/"), "said": "It rises & rises."}
    return Template(tag * times).render(Context(context))


def test_figure_has_a_picture_for_each_theme_with_words_and_size():
    page = on_page()

    assert page.count('alt="It rises &amp; rises." width="1120" height="260" loading="lazy"') == 2
    assert re.findall(r'<img src="([^"]+)"', page) == [
        "/c/x.svg?size=wide",
        "/c/x.svg?theme=dark&amp;size=wide",
    ]
    assert re.findall(r'href="(/c/x\.\w+)', page) == ["/c/x.svg", "/c/x.png", "/c/x.csv"]


def test_script_comes_once_a_page():
    assert on_page(times=3).count("<script") == 1


def test_bundle_is_named_by_its_digest_and_kept_by_browsers(client, db):
    url = reverse("chart-bundle", args=[drawing.bundle_digest()])
    response = client.get(url)

    assert "immutable" in response["Cache-Control"]
    assert response["Content-Encoding"] == "gzip"
    assert client.get(reverse("chart-bundle", args=["0" * 16])).status_code == 404


# --- the look ------------------------------------------------------------------------------------


def linear(colour: str) -> list[float]:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, relative luminance."""
    weights = (0.2126, 0.7152, 0.0722)
    bright = [sum(w * c for w, c in zip(weights, linear(x), strict=True)) for x in (one, other)]
    return (max(bright) + 0.05) / (min(bright) + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_marks_stand_out_from_the_surface(theme):
    tokens = THEMES[theme]
    marks = [*CATEGORIES[theme], *(tokens[name] for name in ("accent", "good", "warn", "bad"))]

    assert min(contrast(mark, tokens["surface"]) for mark in marks) >= 3
    assert min(contrast(tokens[name], tokens["surface"]) for name in ("text", "text-2")) >= 4.5


# Machado, Oliveira and Fernandes, IEEE TVCG 15(6), 2009, at full severity.
EYES = {
    "usual": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
# OKLab, Ottosson 2020.
TO_LMS = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def times(matrix: list[list[float]], vector: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def seen(colour: str, eye: str) -> list[float]:
    light = [min(max(part, 0.0), 1.0) for part in times(EYES[eye], linear(colour))]
    return times(TO_LAB, [part ** (1 / 3) for part in times(TO_LMS, light)])


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("theme", THEMES)
def test_categories_differ_for_every_eye(theme, eye):
    """At least as far apart as the palette of Okabe and Ito (0.076 in this measure)."""
    pairs = itertools.combinations([seen(colour, eye) for colour in CATEGORIES[theme]], 2)

    nearest = min(sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) ** 0.5 for pair in pairs)
    assert nearest >= 0.076


@pytest.mark.parametrize("theme", THEMES)
def test_ramp_runs_from_the_surface_away(theme):
    steps = [contrast(colour, THEMES[theme]["surface"]) for colour in RAMP[theme]]

    assert steps == sorted(steps)


def test_tokens_are_those_of_the_stylesheet():
    css = (
        drawing.settings.BASE_DIR / "benchmarks_app/static/benchmarks_app/benchwright.css"
    ).read_text()
    pairs = dict(re.findall(r"--([\w-]+): light-dark\((#\w+, #\w+)\)", css))
    shared = THEMES["light"].keys() & pairs.keys() - {"accent-soft"}

    assert len(shared) >= 9
    for name in shared:
        assert pairs[name] == f"{THEMES['light'][name]}, {THEMES['dark'][name]}", name
