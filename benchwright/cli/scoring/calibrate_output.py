"""What `benchwright calibrate` shows: tables, Markdown or JSON."""

from collections.abc import Iterator

from benchwright.agreement.measured import Measured
from benchwright.calibration.calibrating import Bias, Calibration
from benchwright.calibration.favouring import Trust
from benchwright.calibration.from_files import Report
from benchwright.calibration.words import verdict
from benchwright.cli.answers import say_json
from benchwright.cli.tables import Table, between, markdown, number, say, share, show_table
from benchwright.texts.counting import counted

TITLES = {
    "grade": "Bias by people's grade",
    "slice": "Bias by slice",
    "length": "Bias by length of the document",
    "language": "Bias by language",
    "date": "Bias by date",
}


def show(report: Report, form: str) -> None:
    """Print a report."""
    if form == "json":
        facts = {"verdict": verdict(report.calibration, report.trust), **report.as_json()}
        say_json(facts)
        return
    sentences = verdict(report.calibration, report.trust)
    say(sentences)
    for table in _tables(report):
        say()
        if form == "markdown":
            say(markdown(table))
        else:
            show_table(table)
    if report.trust and report.trust.too_few:
        say(f"\nNo test of favour: {report.trust.too_few}")


def _tables(report: Report) -> Iterator[Table]:
    calibration = report.calibration
    yield _agreement(calibration)
    yield _confusion(calibration)
    yield _meanings(calibration)
    for kind, rows in calibration.bias_by.items():
        yield _bias(TITLES[kind], (calibration.bias, *rows))
    if report.trust and report.trust.systems:
        yield _systems(report.trust, report.measure)


def _agreement(of: Calibration) -> Table:
    rows = [
        [
            "same grade",
            share(of.exact),
            "",
            f"{counted(of.n_pairs, 'pair')} of {counted(of.n_queries, 'query')}",
        ],
        _coefficient("kappa", of.kappa),
        _coefficient("kappa, linear", of.kappa_linear),
        _coefficient("kappa, quadratic", of.kappa_quadratic),
        _coefficient("alpha, ordinal", of.alpha),
        _coefficient("two people, kappa, quadratic", of.people_with_people),
    ]
    columns = ("agreement", "value", "95 %", "note")
    return Table(columns, rows, title="Agreement with people", left=(0, 3))


def _coefficient(name: str, of: Measured) -> list[str]:
    if of.value is None:
        return [name, "-", "", of.why]
    span = between(of.low, of.high) if of.low is not None and of.high is not None else ""
    return [name, number(of.value), span, ""]


def _confusion(of: Calibration) -> Table:
    columns = ("people \\ machine", *(str(grade) for grade in of.scale), "all")
    rows = [
        [str(grade), *(f"{n:,}" for n in counts), f"{sum(counts):,}"]
        for grade, counts in zip(of.scale, of.confusion, strict=True)
    ]
    return Table(columns, rows, title="How often people's grade met the machine's")


def _meanings(of: Calibration) -> Table:
    columns = (
        "machine's grade",
        "pairs",
        "people's mean grade",
        f"people {of.relevant_from} or more",
    )
    rows = [
        [
            str(meaning.grade),
            f"{meaning.n_pairs:,}",
            number(meaning.people_mean),
            share(meaning.relevant_share),
        ]
        for meaning in of.meanings
    ]
    return Table(columns, rows, title="What its grades mean in people's")


def _bias(title: str, rows: tuple[Bias, ...]) -> Table:
    cells = [
        [
            row.name,
            f"{row.n_pairs:,}",
            number(row.mean),
            between(row.low, row.high),
            "few" if row.is_too_few else "",
        ]
        for row in rows
    ]
    return Table(("pairs of", "n", "machine - people", "95 %", "note"), cells, title, (0, 4))


def _systems(trust: Trust, measure: str) -> Table:
    columns = ("run", "people", "machine", "bias", "95 %", "favour", "p (Holm)", "rho", "note")
    rows = [
        [
            row.system,
            number(row.people),
            number(row.machine),
            number(row.bias),
            between(row.low, row.high),
            number(row.favour),
            number(row.p),
            number(row.rho, 2),
            _note(row.is_favoured, row.is_of_same_model),
        ]
        for row in trust.systems
    ]
    return Table(columns, rows, f"Runs by {measure}, of people and of the machine", (0, 8))


def _note(is_favoured: bool, is_of_same_model: bool) -> str:
    if is_of_same_model:
        return "same model"
    return "favoured" if is_favoured else ""
