"""Damage that any bytes can take."""

import struct
from collections.abc import Callable
from random import Random

Mutator = Callable[[bytes, Random], bytes]
# What a length, a count or an offset becomes.
EXTREMES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**40, 2**63 - 1)
LARGEST = 4 << 20


def flip_bits(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def change_bytes(content: bytes, random: Random) -> bytes:
    """Some neighbouring bytes, at random or all alike."""
    at, n = random.randrange(len(content) + 1), random.choice((1, 2, 4, 16, 64))
    new = random.randbytes(n) if random.random() < 0.5 else bytes([random.choice((0, 255))]) * n
    return content[:at] + new + content[at + n :]


def change_number(content: bytes, random: Random) -> bytes:
    """A length field, wherever one may be: 1 to 8 bytes become an extreme or a near number."""
    code = random.choice("BHIQ")
    size = struct.calcsize(code)
    if len(content) < size:
        return content
    at = random.randrange(len(content) - size + 1)
    order = random.choice("<>")
    (old,) = struct.unpack_from(order + code, content, at)
    top = 256**size
    new = random.choice((*EXTREMES, old + 1, old - 1, old * 2, old ^ (top >> 1))) % top
    return content[:at] + struct.pack(order + code, new) + content[at + size :]


def change_end(content: bytes, random: Random) -> bytes:
    """A number near the end, where Parquet, Arrow and zip keep what they hold."""
    kept = max(0, len(content) - random.choice((8, 22, 64, 400)))
    return content[:kept] + change_number(content[kept:], random)


def truncate(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def drop_block(content: bytes, random: Random) -> bytes:
    start, end = sorted(random.randrange(len(content) + 1) for _ in range(2))
    return content[:start] + content[end:]


def repeat_block(content: bytes, random: Random) -> bytes:
    start = random.randrange(len(content) + 1)
    block = content[start : start + random.choice((1, 8, 64, 1024))]
    times = min(random.choice((2, 10, 1000, 100_000)), LARGEST // max(1, len(block)))
    return content[:start] + block * times + content[start:]


def swap_blocks(content: bytes, random: Random) -> bytes:
    a, b, c = sorted(random.randrange(len(content) + 1) for _ in range(3))
    return content[:a] + content[b:c] + content[a:b] + content[c:]


def insert_noise(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    return content[:at] + random.randbytes(random.choice((1, 7, 300))) + content[at:]


def add_to_ends(content: bytes, random: Random) -> bytes:
    more = random.choice((b"\0", b"\0" * 4096, b"\n", b"\xef\xbb\xbf", b"PAR1", b"{}", b"\xff"))
    return more + content if random.random() < 0.5 else content + more


def leave_nothing(content: bytes, random: Random) -> bytes:
    return random.choice((b"", b"\0", b"\n", b" ", b"\xef\xbb\xbf", content[:4], content[:1]))


MUTATORS: tuple[Mutator, ...] = (
    *(flip_bits, change_bytes, change_number, change_end, truncate, drop_block),
    *(repeat_block, swap_blocks, insert_noise, add_to_ends, leave_nothing),
)
