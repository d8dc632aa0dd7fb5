"""What the reading of one file may take."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one call. They hold on Linux; elsewhere those of memory may not.

    `memory_bytes` count beyond what a child has before it reads; a file that is mapped and only
    read does not count. `silent_seconds` pass while nothing comes from the child and somebody
    waits for it. `file_bytes` bound each file it writes, `answer_bytes` each message it sends.
    `seconds_setting` is what a site calls its bounds of time.
    """

    memory_bytes: int = 2 << 30
    cpu_seconds: int = 60
    silent_seconds: float = 60.0
    open_files: int = 256
    file_bytes: int = 64 << 30
    answer_bytes: int = 64 << 20
    seconds_setting: str = "READ_SECONDS"
