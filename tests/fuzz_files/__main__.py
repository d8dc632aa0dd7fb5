"""`python -m tests.fuzz_files`, by `make fuzz-files`: mutated files through a site.

    python -m tests.fuzz_files --files 20000 --seed 0       through a running site
    python -m tests.fuzz_files --inside --kinds parquet     in this process: quicker, and blunter
    python -m tests.fuzz_files --case parquet:123           one again, with what was answered
    python -m tests.fuzz_files --write parquet:123          its bytes, into var/fuzz_files

Ends with 1 where something was found; each finding is written to var/fuzz_files with its bytes.
"""

import argparse
import json
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path

from tests.fuzz_files.cases import KINDS, Case, case_of, cases
from tests.fuzz_files.driving import Drive, Finding
from tests.fuzz_files.sites import RunningSite, running_site, site_inside
from tests.system.site import FILESYSTEM, ROOT

KEPT = ROOT / "var" / "fuzz_files"
MAY_GROW_BY = 50.0
# What any process of the site may ask for: a file that gets more is a finding, not a dead machine.
ADDRESS_SPACE = 12 << 30


def main() -> int:
    asked = _asked()
    if asked.write:
        case = _named(asked.write, asked.seed)
        KEPT.mkdir(parents=True, exist_ok=True)
        (KEPT / case.file).write_bytes(case.content)
        print(KEPT / case.file, case.mutators, f"{len(case.content):,} bytes")
        return 0
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, hard))
    with ExitStack() as opened:
        if asked.inside:
            target = opened.enter_context(site_inside())
        else:
            folder = Path(tempfile.mkdtemp(prefix="benchwright-fuzz-"))
            opened.callback(shutil.rmtree, folder, ignore_errors=True)
            target = opened.enter_context(running_site(folder, asked.broker))
        with closing(Drive(target, _tell)) as drive:
            if asked.case:
                return _one(drive, [_named(name, asked.seed) for name in asked.case])
            return _many(drive, asked)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="files of the row to leave out")
    parser.add_argument("--minutes", type=float, default=0, help="stop after so long")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=KINDS)
    parser.add_argument("--inside", action="store_true")
    parser.add_argument("--cold", action="store_true", help="send no honest files first")
    parser.add_argument("--broker", default=FILESYSTEM)
    parser.add_argument("--case", nargs="*")
    parser.add_argument("--write")
    return parser.parse_args()


def _named(name: str, seed: int) -> Case:
    kind, _, number = name.partition(":")
    return case_of(kind, int(number), seed)


def _tell(finding: Finding, case: Case | None) -> None:
    print(f"! {finding.case}: {finding.what}", flush=True)
    KEPT.mkdir(parents=True, exist_ok=True)
    name = finding.case.replace(":", "-")
    about = asdict(finding)
    if case is not None:
        (KEPT / f"{name}.bin").write_bytes(case.content)
        about |= {"file": case.file, "mutators": case.mutators, "door": case.seed.door}
        about["again"] = f"python -m tests.fuzz_files --case {case.name}"
    (KEPT / f"{name}.json").write_text(json.dumps(about, indent=1))


def _one(drive: Drive, chosen: list[Case]) -> int:
    """Each case alone, with all that was answered."""
    drive._begin_benchmark()
    for case in chosen:
        print(f"{case.name}: {case.file}, {len(case.content):,} bytes, {', '.join(case.mutators)}")
        drive._send(case)
        for asked in drive.sender.asked:
            print(f"  {asked.status} {asked.what} ({asked.seconds:.2f} s)")
        drive._end_batch()
    for finding in drive.findings:
        print(finding.detail)
    return bool(drive.findings)


def _many(drive: Drive, asked: argparse.Namespace) -> int:
    started = time.monotonic()
    drive.warm_up([] if asked.cold else asked.kinds)
    print(
        f"warm after {time.monotonic() - started:.0f} s; web {drive.web_at_start:.0f} MB",
        flush=True,
    )
    started = time.monotonic()

    def until_then():
        for place, case in enumerate(cases(asked.files, asked.seed, asked.kinds)):
            if place < asked.start:
                continue
            if asked.minutes and time.monotonic() - started > 60 * asked.minutes:
                print(f"stopped before file {place:,} (--start {place} goes on)")
                return
            if place and place % 500 == 0:
                print(f"{place:,} files, {time.monotonic() - started:.0f} s", flush=True)
            yield case

    try:
        drive.run(until_then())
    finally:
        _summary(drive, time.monotonic() - started)
    grown = drive.web_at_end - drive.web_at_start
    is_large = isinstance(drive.target, RunningSite) and grown > MAY_GROW_BY
    return bool(drive.findings) or is_large


def _summary(drive: Drive, seconds: float) -> None:
    head = ("kind", "files", "refused", "failed", "imported", "seconds", "most web MB", "worker MB")
    print(("{:>9}" * len(head)).format(*(word[:9] for word in head)))
    for kind, count in drive.counts.items():
        row = (count.files, count.refused, count.failed, count.imported)
        rest = (f"{count.seconds:.0f}", f"{count.most_web:.0f}", f"{count.most_worker:.0f}")
        print(("{:>9}" * len(head)).format(kind, *row, *rest))
    print(f"{sum(value.files for value in drive.counts.values()):,} files in {seconds:,.0f} s")
    print(f"web: {drive.web_at_start:.0f} MB before, {drive.web_at_end:.0f} MB after")
    slowest = ", ".join(f"{name} {seconds:.0f} s" for seconds, name in drive.slowest)
    print(f"slowest: {slowest}")
    causes = Counter(finding.signature for finding in drive.findings)
    print(f"findings: {len(drive.findings)}, by cause:")
    for cause, n in causes.most_common():
        first = next(finding.case for finding in drive.findings if finding.signature == cause)
        print(f"  {n:>5} {cause} (such as {first})")


if __name__ == "__main__":
    sys.exit(main())
