"""What the web process holds after large answers."""

import subprocess
import sys

import pytest

# Rises of the resident memory, in MB, by blocks of 8 MB that are freed while a later one stays.
HELD = """
import ctypes, resource, threading
{setting}
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1e6

def answer():
    libc.free(libc.malloc(30_000_000))  # glibc would raise its threshold by this one
    large = [libc.malloc(8_000_000) for _ in range(3)]
    for block in large:
        ctypes.memset(block, 1, 8_000_000)
    kept.append(libc.malloc(200))
    for block in large:
        libc.free(block)

kept = []
before = resident()
threads = [threading.Thread(target=answer) for _ in range(8)]
for thread in threads:
    thread.start()
    thread.join()
print(resident() - before)
"""
SETTING = """
from benchmarks_app.memory import return_memory_at_once
return_memory_at_once()
"""


def held(setting: str) -> float:
    command = [sys.executable, "-c", HELD.format(setting=setting)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's malloc")
def test_large_answers_leave_nothing_behind():
    assert held(SETTING) < 5 < 20 < held("")
