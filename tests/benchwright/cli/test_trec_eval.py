"""`benchwright trec_eval` prints what trec_eval prints, and reads flags as getopt_long does."""

import getopt
import gzip
import shlex

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.cli.scoring.trec_eval import (
    LONG_NAMES,
    SWITCHES,
    TAIL,
    WITH_VALUE,
    last_tag,
    parse,
    read_flags,
)
from benchwright.reading.choosing import SCANNERS, VARIABLE, built, scanner_name
from tests.benchwright.realdata import data_folder

PARAMETERS = (
    "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 "
    "-m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 "
    "-mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20"
)
# Expected file, arguments as in trec_eval's own quick test, lines compared. Left out there: the
# four invocations on preferences, judgment groups and z-scores.
QUICK_TEST = [
    ("out.test", "qrels.test results.test", 30),
    ("out.test", "qrels.test.with-comments results.test", 30),
    ("out.test.a", "-m all_trec qrels.test results.test", 99),
    ("out.test.aq", "-m all_trec -q qrels.test results.test", 387),
    ("out.test.aqc", "-m all_trec -q -c qrels.test results.trunc", 387),
    ("out.test.aqcM", "-m all_trec -q -c -M100 qrels.test results.trunc", 387),
    (
        "out.test.aql",
        "-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test",
        387 - 4,
    ),
    ("out.test.meas_params", f"{PARAMETERS} qrels.test results.test", 88),
    ("out.comment.test", "-M 100 qrels.comment.test results.comment.test.gz", 30),
]


def is_compared(line, expected):
    """trec_eval reads uninitialised memory for rbp of graded qrels."""
    return not (expected == "out.test.aql" and line.startswith("rbp "))


@pytest.fixture(params=SCANNERS)
def scanner(request, monkeypatch):
    """Either scanner, used by this process."""
    if request.param == "extension" and built() is None:
        pytest.skip("no C extension: install a C compiler and Benchwright again")
    monkeypatch.setenv(VARIABLE, request.param)
    assert scanner_name() == request.param


@pytest.mark.data
@pytest.mark.usefixtures("scanner")
@pytest.mark.parametrize(("expected", "arguments", "n_lines"), QUICK_TEST)
def test_quick_test_of_trec_eval_prints_the_same_lines(
    expected, arguments, n_lines, benchwright, monkeypatch
):
    folder = data_folder("trec_eval_test")
    monkeypatch.chdir(folder)

    done = benchwright("trec_eval", *shlex.split(arguments))

    assert done.exit_code == 0
    wanted = (folder / expected).read_text().splitlines()
    wanted = [line for line in wanted if is_compared(line, expected)]
    assert [line for line in done.stdout.splitlines() if is_compared(line, expected)] == wanted
    assert len(wanted) == n_lines
    assert done.stderr == ""


def test_output_is_the_same_byte_for_byte(files, benchwright):
    done = benchwright("trec_eval", "-q", "-m", "map", "-m", "num_ret", "qrels.txt", "a.run")

    assert done.stdout_bytes == (
        b"num_ret               \tq1\t3\n"
        b"map                   \tq1\t0.8333\n"
        b"num_ret               \tq3\t1\n"
        b"map                   \tq3\t0.0000\n"
        b"num_ret               \tall\t4\n"
        b"map                   \tall\t0.4167\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        "-q -c -M 100 -l 2 -m map qrels run",
        "-qcM100 -l2 -mmap qrels run",
        "qrels -q run -c -M100 -l 2 -m map",
        "-qc -M100 -l2 -mmap -- qrels run",
        "--query_eval_wanted --complete_rel_info_wanted --Max_retrieved_per_topic=100 "
        "--level_for_rel 2 --measure map qrels run",
        "--query --comp --Max 100 --lev=2 --meas=map qrels run",
    ],
)
def test_flags_are_read_as_getopt_long_does(arguments):
    asked = parse(shlex.split(arguments))

    assert (asked.flags, asked.depth, asked.level) == ({"q", "c"}, 100, 2)
    assert (asked.measures, asked.files) == (["map"], ["qrels", "run"])


WORDS = st.sampled_from(
    [
        *(
            "-q",
            "-qc",
            "-cqn",
            "-M",
            "-M100",
            "-qM5",
            "-l",
            "-l2",
            "-m",
            "-mmap",
            "-qmmap",
            "-x",
            "-",
        ),
        *(
            "--",
            "--measure",
            "--measure=map",
            "--mea",
            "--Max=1",
            "--R",
            "--Re",
            "--Rel=x",
            "--nope",
        ),
        *("--query_eval_wanted", "--query=1", "--Judged", "--J", "qrels", "run", "3", "-Z", "-Jc"),
    ]
)


def as_pythons_getopt(arguments):
    """Flags with their values, and files, as another implementation of getopt_long has them."""
    short = SWITCHES + "".join(f"{letter}:" for letter in WITH_VALUE)
    long = [f"{name}{'=' * (letter in WITH_VALUE)}" for name, letter in LONG_NAMES.items()]
    flags, files = getopt.gnu_getopt(arguments, short, long)
    letters = {f"--{name}": letter for name, letter in LONG_NAMES.items()}
    return [(letters.get(name, name[1:]), value) for name, value in flags], files


@given(st.lists(WORDS, max_size=6))
def test_any_command_line_is_read_as_another_getopt_reads_it(arguments):
    try:
        expected = as_pythons_getopt(arguments)
    except getopt.GetoptError:
        with pytest.raises(click.UsageError):
            list(read_flags(arguments))
        return

    items = list(read_flags(arguments))

    assert [item for item in items if item[0]] == expected[0]
    assert [file for flag, file in items if not flag] == expected[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("-x qrels run", "no such flag: -x"),
        ("--nope qrels run", "--nope: no such flag"),
        ("--Re qrels run", "could be any of Rel_info_format, Results_format"),
        ("--nosummary=1 qrels run", "takes no value"),
        ("qrels run -m", "-m has no value"),
        ("-M0 qrels run", "-M is '0'; expected a whole number of at least 1"),
        ("-l2.5 qrels run", "-l is '2.5'"),
        ("-Z scores qrels run", "-Z prints z-scores, which is not here"),
        ("-R prefs qrels run", "-R is 'prefs'; only qrels can be read here"),
        ("-T other qrels run", "-T is 'other'; only trec_results"),
        ("qrels", "1 files are named; expected two"),
        ("-m nope qrels.txt a.run", "'nope' is no measure we know"),
        ("-m P.x qrels.txt a.run", "P.x"),
        ("-m all_prefs qrels.txt a.run", "no measure is left to print"),
        ("qrels.txt none.run", "none.run: no such file"),
    ],
)
def test_wrong_command_line_is_a_usage_error(files, benchwright, arguments, words):
    done = benchwright("trec_eval", *shlex.split(arguments))

    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_measures_of_preferences_are_named_and_left_out(files, benchwright):
    done = benchwright(
        *("trec_eval", "-m", "map", "-m", "all_prefs", "-m", "P_avgjg.5", "qrels.txt", "a.run")
    )

    assert done.stdout == "map                   \tall\t0.4167\n"
    assert done.stderr.startswith("Left out: all_prefs, P_avgjg.5 ")


def test_queries_are_in_the_order_of_their_bytes(tmp_path, benchwright):
    (tmp_path / "qrels").write_text("q10 0 d 1\nq2 0 d 1\nq1 0 d 1\n")
    (tmp_path / "run").write_text("q2 Q0 d 1 1 t\nq10 Q0 d 1 1 t\n")

    done = benchwright("trec_eval", "-qcn", "-mmap", tmp_path / "qrels", tmp_path / "run")

    assert [line.split("\t")[1] for line in done.stdout.splitlines()] == ["q1", "q10", "q2"]


def test_size_of_the_collection_is_what_utility_needs(files, benchwright):
    done = benchwright(
        *("trec_eval", "-N", "100", "-qn", "-m", "utility.0,0,0,1", "qrels.txt", "a.run")
    )

    # Of 100 documents q1 has 2 relevant ones, and one of the three retrieved is not: 97 are left.
    assert done.stdout.splitlines()[0] == "utility_0,0,0,1       \tq1\t97.0000"


def test_summary_can_be_left_out(files, benchwright):
    done = benchwright("trec_eval", "-n", "-q", "-m", "map", "qrels.txt", "b.run")

    assert [line.split("\t")[1] for line in done.stdout.splitlines()] == ["q1", "q2", "q3"]


def test_unjudged_documents_can_be_removed(files, benchwright):
    done = benchwright("trec_eval", "-J", "-m", "num_ret", "-m", "map", "qrels.txt", "a.run")

    assert [line.split("\t")[2] for line in done.stdout.splitlines()] == ["3", "0.5000"]


def test_relevance_string_is_quoted_and_of_queries_only(files, benchwright):
    done = benchwright("trec_eval", "-q", "-c", "-m", "relstring.2", "qrels.txt", "a.run")

    assert done.stdout.splitlines() == [
        "relstring_2           \tq1\t'3-'",
        "relstring_2           \tq2\t''",
        "relstring_2           \tq3\t'0'",
    ]


def test_ids_come_out_as_the_bytes_they_are(tmp_path, benchwright):
    (tmp_path / "qrels").write_bytes(b"\xff 0 d 1\n")
    (tmp_path / "run").write_bytes(b"\xff Q0 d 1 1 \xfe\n")

    done = benchwright(
        *("trec_eval", "-q", "-m", "map", "-m", "runid", tmp_path / "qrels", tmp_path / "run")
    )

    assert done.stdout_bytes.splitlines() == [
        b"map                   \t\xff\t1.0000",
        b"runid                 \tall\t\xfe",
        b"map                   \tall\t1.0000",
    ]


def test_run_is_named_by_the_tag_of_its_last_line(tmp_path):
    lines = (
        b"q Q0 d 1 1 early\n"
        + b"# padding\n" * (TAIL // 5)
        + b"q Q0 e 2 0 late x\n\n#end a b c d e"
    )

    after_it = lines + b"\n# a b c d e" + b" wrong" * (TAIL // 5)
    for content in (lines, gzip.compress(lines), b"q Q0 e 2 0 late", after_it):
        path = tmp_path / "run"
        path.write_bytes(content)
        assert last_tag(path) == "late"


def test_run_without_tags_is_named_by_its_file(files, benchwright):
    (files / "a.json").write_text('{"q1": {"d1": 2.0}}')

    done = benchwright("trec_eval", "-m", "runid", "-m", "map", "qrels.txt", "a.json")

    assert [line.split("\t")[2] for line in done.stdout.splitlines()] == ["a.json", "0.5000"]


@pytest.mark.parametrize("flag", ["-h", "--help", "-hq"])
def test_help_names_every_flag(benchwright, flag):
    done = benchwright("trec_eval", flag)

    assert done.exit_code == 0
    assert all(f"-{letter}, --" in done.stdout for letter in "qcnJlMNmhv")


def test_version_says_which_trec_eval_is_meant(benchwright):
    done = benchwright("trec_eval", "-v")

    assert (done.exit_code, done.stdout) == (0, "")
    assert "as trec_eval 10" in done.stderr


# --- where trec_eval says otherwise (docs/metrics.md) --------------------------------------------


def test_num_rel_counts_from_the_level_on_in_all_topics(tmp_path, benchwright):
    (tmp_path / "q").write_text("q1 0 a 2\nq1 0 b 1\nq2 0 a 1\nq2 0 c 2\n")
    (tmp_path / "r").write_text("q1 Q0 a 1 2 t\n")

    files = (str(tmp_path / "q"), str(tmp_path / "r"))
    text = benchwright("trec_eval", "-c", "-l2", "-m", "num_rel", *files).stdout

    assert text.split() == ["num_rel", "all", "2"]  # trec_eval: 4


def test_a_topic_without_a_judged_result_has_0_under_j(tmp_path, benchwright):
    (tmp_path / "q").write_text("q1 0 a 2\nq2 0 a 1\n")
    (tmp_path / "r").write_text("q1 Q0 x 1 2 t\nq2 Q0 a 1 3 t\n")

    files = (str(tmp_path / "q"), str(tmp_path / "r"))
    text = benchwright("trec_eval", "-q", "-J", "-m", "11pt_avg", *files).stdout

    values = [line.split()[2] for line in text.splitlines()]
    assert values == ["0.0000", "1.0000", "0.5000"]  # trec_eval: -nan, 1.0000, -nan
