"""Looking at jobs from outside, and at what they leave behind."""

from pathlib import Path
from typing import Any, NamedTuple

from tests.system.site import Site


class JobRow(NamedTuple):
    state: str
    attempt: int
    done: int
    message: str
    error: str


def job_row(site: Site, job: int) -> JobRow:
    (row,) = site.rows(
        "SELECT state, attempt, done, message, error FROM benchmarks_app_job WHERE id = ?", job
    )
    return JobRow(*row)


def wait_for_job(site: Site, job: int, *, state: str = "done", seconds: float = 60) -> JobRow:
    """The job's row once it is in a state; AssertionError with its error if it fails instead."""

    def reached() -> JobRow | None:
        row = job_row(site, job)
        if row.state == "failed" != state:
            raise AssertionError(f"job {job} failed: {row.error}")
        return row if row.state == state else None

    return site.wait_for(reached, f"job {job} to be {state}", seconds)


def n_staged_queries(site: Site) -> int:
    ((n,),) = site.rows("SELECT count(*) FROM benchmarks_app_query WHERE staged_by_id IS NOT NULL")
    return int(n)


def is_reading(site: Site, job: int) -> bool:
    """A worker is at the job and has told how far it is."""
    row = job_row(site, job)
    return row.state == "running" and row.done > 0


def is_staging(site: Site, job: int) -> bool:
    """A worker is at an import and has written some of its rows."""
    return job_row(site, job).state == "running" and n_staged_queries(site) > 0


def left_in_folders(site: Site) -> list[Path]:
    """Staged files and half copies."""
    staging = site.folder / "staging"
    return [*staging.iterdir(), *site.folder.rglob("*.part")]


def assert_nothing_half_done(site: Site, slug: str) -> None:
    staged = site.call("staged", slug=slug)
    assert staged == dict.fromkeys(staged, 0)
    site.wait_for(lambda: not left_in_folders(site), "the folders of attempts to be removed", 10)


def n_messages(site: Site) -> int:
    """Messages that wait on the site's queue."""
    if site.broker.startswith("redis"):
        with _redis(site) as client:
            return int(client.llen(site.name))
    return len(_message_files(site))


def lose_messages(site: Site) -> None:
    if site.broker.startswith("redis"):
        with _redis(site) as client:
            client.delete(site.name)
        return
    for path in _message_files(site):
        path.unlink()


def _message_files(site: Site) -> list[Path]:
    return list((site.folder / "queue" / "messages").iterdir())


def _redis(site: Site) -> Any:
    import redis

    return redis.Redis.from_url(site.broker)
