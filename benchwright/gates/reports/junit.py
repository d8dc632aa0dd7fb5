"""The report as JUnit XML: a suite for each check, a case for each of its findings.

The first suite holds the verdict itself, so that a build server fails exactly if the gate does.
What decides nothing is skipped with its reason; what is bad in a check is a failure.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from benchwright.gates.findings import Level
from benchwright.gates.rehearsal.rehearsing import COLUMNS, summary_of, table_of

PASSING = ("pass", "pass_strict")
NAME = "benchwright gate"


def written(result: Mapping[str, Any]) -> str:
    """The result as a document of JUnit's shape, in UTF-8."""
    root = ElementTree.Element("testsuites", name=NAME)
    suites = [_suite("Verdict", [_verdict(result)])]
    suites += [
        _suite(check["title"], [_case(check["title"], finding) for finding in check["findings"]])
        for check in result["checks"]
    ]
    for kind in ("tests", "failures", "errors", "skipped"):
        root.set(kind, str(sum(int(suite.get(kind, "0")) for suite in suites)))
    root.extend(suites)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(title: str, cases: Sequence[ElementTree.Element]) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=title, tests=str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", "0")
    suite.extend(cases)
    return suite


def _verdict(result: Mapping[str, Any]) -> ElementTree.Element:
    case = _named("Verdict", result["title"])
    if result["verdict"] not in PASSING:
        lines = [result["sentence"], *result["changes"]]
        _put(case, "failure", result["title"], lines)
    output = ElementTree.SubElement(case, "system-out")
    lines = [result["sentence"], f"Policy {result['policy_sha256']}"]
    if result.get("power"):
        lines.append(result["power"]["sentence"])
    if result.get("rehearsal"):
        lines += [summary_of(result["rehearsal"]), ", ".join(COLUMNS)]
        lines += [", ".join(row) for row in table_of(result["rehearsal"])]
        lines += result["rehearsal"]["warnings"]
    output.text = legal("\n".join(lines))
    return case


def _case(title: str, finding: Mapping[str, Any]) -> ElementTree.Element:
    case = _named(title, finding["name"])
    lines = [finding["reason"], *filter(None, [finding["change"]])]
    if finding["level"] == Level.BAD:
        _put(case, "failure", finding["outcome"], lines)
    elif finding["level"] == Level.NOTE:
        ElementTree.SubElement(
            case, "skipped", message=legal(f"{finding['outcome']}: {finding['reason']}")
        )
    else:
        output = ElementTree.SubElement(case, "system-out")
        output.text = legal(f"{finding['outcome']}: {' '.join(lines)}")
    return case


def _named(title: str, name: str) -> ElementTree.Element:
    return ElementTree.Element(
        "testcase", classname=legal(f"gate.{title}"), name=legal(name), time="0"
    )


def _put(case: ElementTree.Element, tag: str, kind: str, lines: Iterable[str]) -> None:
    element = ElementTree.SubElement(case, tag, type=legal(kind), message=legal(next(iter(lines))))
    element.text = legal("\n".join(lines))


def legal(text: str) -> str:
    """The text without what XML 1.0 cannot hold.

    Examples
    --------
    >>> legal("a\\x00b")
    'a\\ufffdb'
    """
    return "".join(char if _is_legal(ord(char)) else "\N{REPLACEMENT CHARACTER}" for char in text)


def _is_legal(code: int) -> bool:
    return code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code > 0xFFFF
