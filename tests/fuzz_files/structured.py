"""Damage by whoever knows a form: what a header claims, and what is hidden inside."""

import io
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Any

from tests.fuzz_files import seeds, texts
from tests.fuzz_files.bytewise import EXTREMES, MUTATORS, Mutator

MEGABYTE = 1 << 20
PATHS = (
    *("../../evil.txt", "/etc/passwd", "a/../../b", "C:\\evil", "..\\..\\evil", "a\0b", "a\nb", ""),
    *(
        "qrels/../corpus.jsonl",
        "x" * 300,
        "a/" * 120 + "b",
        "CON",
        "ünï.jsonl",
        ".",
        "corpus.jsonl/",
    ),
)


@cache
def _zeros_deflated(megabytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(MEGABYTE)) for _ in range(megabytes)) + packer.flush()


@cache
def _zeros_zstd(megabytes: int) -> bytes:
    return seeds.zstd(bytes(megabytes * MEGABYTE))


# --- compressed ------------------------------------------------------------------------------


def _repacked(unpack: Callable[[bytes], bytes], pack: Callable[[bytes], bytes]) -> Mutator:
    def mutate(content: bytes, random: Random) -> bytes:
        return pack(random.choice(texts.MUTATORS)(unpack(content), random))

    return mutate


def _ungzipped(content: bytes) -> bytes:
    return zlib.decompress(content, 31)


def _unzstd(content: bytes) -> bytes:
    import zstandard

    return bytes(zstandard.ZstdDecompressor().decompress(content))


def gzip_bomb(content: bytes, random: Random) -> bytes:
    """A gigabyte of nothing, or gzip within gzip."""
    if random.random() < 0.3:
        return seeds.gzipped(seeds.gzipped(content))
    n_members = random.choice((1, 3, 20))
    return random.choice((b"", content)) + _zeros_deflated(50) * n_members


def zstd_bomb(content: bytes, random: Random) -> bytes:
    if random.random() < 0.3:
        return seeds.zstd(seeds.zstd(content))
    return random.choice((b"", content)) + _zeros_zstd(50) * random.choice((1, 3, 20))


def two_members(content: bytes, random: Random) -> bytes:
    return content + random.choice((content, content[: len(content) // 2], b"\0" * 512))


# --- zip, npz and tar ------------------------------------------------------------------------


def _members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def change_member(content: bytes, random: Random) -> bytes:
    """A file inside is damaged, and the archive is whole."""
    members = _members(content)
    name = random.choice(list(members))
    inside = (*MUTATORS, *texts.MUTATORS, *texts.JSON)
    if name.endswith(".npy"):
        inside = (*MUTATORS, *NPY * 4)
    members[name] = random.choice(inside)(members[name], random)
    return seeds.zipped(members)


def change_members(content: bytes, random: Random) -> bytes:
    """Members with names that lead out, without end, twice, nested, or gone."""
    return _zipped_oddly(_members(content), random)


def _zipped_oddly(members: Mapping[str, bytes], random: Random) -> bytes:
    change = random.choice(("path", "path", "many", "drop", "nested", "rename", "extra"))
    changed = dict(members)
    name = random.choice(list(changed))
    if change == "path":
        changed[random.choice(PATHS)] = changed.pop(name)
    elif change == "many":
        changed |= {f"part-{n}.jsonl": b"{}\n" for n in range(random.choice((300, 3000)))}
    elif change == "drop":
        del changed[name]
    elif change == "nested":
        changed[random.choice((name, "inner.zip", "qrels/test.tsv"))] = seeds.zipped(members)
    elif change == "rename":
        changed[f"{random.choice(('train', 'config/', 'de-queries/', '.hidden-'))}{name}"] = (
            changed.pop(name)
        )
    else:
        extra = random.choice(
            ("README.md", "manifest.json", "families.tsv", "weights.tsv", "x.pdf")
        )
        changed[extra] = random.choice(texts.TEXTS) or b"---\nconfigs:\n- data_files: [[1]]\n---\n"
    return seeds.zipped(changed, random.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)))


def zip_bomb(content: bytes, random: Random) -> bytes:
    """A member of many megabytes of nothing."""
    members = _members(content)
    name = random.choice(list(members))
    members[name] = bytes(random.choice((30, 150)) * MEGABYTE)
    return seeds.zipped(members)


def lie_about_member(content: bytes, random: Random) -> bytes:
    """Sizes, sums, flags and methods in the heads of a zip's members."""
    heads = [m.start() for m in re.finditer(rb"PK\x01\x02|PK\x03\x04|PK\x05\x06", content)]
    if not heads:
        return content
    changed = bytearray(content)
    at = random.choice(heads) + random.choice((6, 8, 10, 12, 16, 18, 20, 22, 24, 28, 30, 38, 42))
    new = struct.pack("<I", random.choice(EXTREMES) & 0xFFFFFFFF)[: random.choice((1, 2, 4))]
    changed[at : at + len(new)] = new
    return bytes(changed)


def two_of_a_name(content: bytes, random: Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, inside in _members(content).items():
            for _ in range(2):
                # A warning is what `writestr` has for it.
                archive.NameToInfo.clear()
                archive.writestr(zipfile.ZipInfo(name), inside)
    return out.getvalue()


def change_tar(content: bytes, random: Random) -> bytes:
    """Paths, links, devices and sizes in a tar's heads; packed again if it was."""
    is_packed = content.startswith(b"\x1f\x8b")
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(_ungzipped(content) if is_packed else content)) as old,
        tarfile.open(fileobj=out, mode="w") as new,
    ):
        infos = old.getmembers()
        chosen = random.choice(infos)
        for info in infos:
            inside = old.extractfile(info).read()  # type: ignore[union-attr]
            if info is chosen:
                info, inside = _odd_tar_member(info, inside, random)
            new.addfile(info, io.BytesIO(inside))
            if random.random() < 0.1:
                new.addfile(info, io.BytesIO(inside))
    return seeds.gzipped(out.getvalue()) if is_packed else out.getvalue()


def _odd_tar_member(
    info: tarfile.TarInfo, inside: bytes, random: Random
) -> tuple[tarfile.TarInfo, bytes]:
    change = random.choice(("path", "type", "inside", "inside", "zeros"))
    if change == "path":
        info.name = random.choice(PATHS) or "empty"
    elif change == "type":
        info.type = random.choice(
            (b"1", b"2", b"3", b"4", b"5", b"6", b"S", b"x", b"g", b"L", b"Z")
        )
        info.linkname = random.choice(PATHS)
    elif change == "zeros":
        inside = bytes(20 * MEGABYTE)
        info.size = len(inside)
    else:
        inside = random.choice((*MUTATORS, *texts.MUTATORS))(inside, random)
        info.size = len(inside)
    return info, inside


# --- numpy -----------------------------------------------------------------------------------

SHAPES = (
    *(
        "(1000000000000, 4)",
        "(12, 4, 1)",
        "(48,)",
        "()",
        "(-12, 4)",
        "(12, 0)",
        "(0, 4)",
        "(12L, 4)",
    ),
    *("(4611686018427387904, 4)", "(99999999999999999999, 9)", "(True, 4)", "(12.0, 4)", "[12, 4]"),
    *("(" * 200 + "1" + ")" * 200, "(" * 9000, "(12, 4)" * 2, "None", "(12,) * 9", "(9**9**9, 1)"),
)
TYPES = (
    *(
        "|O",
        "<f2",
        "<f8",
        ">f4",
        "<i8",
        "<U4",
        "|S4",
        "|V0",
        "|V4",
        "<c16",
        "<M8[ns]",
        "<U0",
        "<f4,<f4",
    ),
    *("", "x", "<f16", "<f99999", "|b1", "<U999999999", "object"),
)


def change_npy_header(content: bytes, random: Random) -> bytes:
    """Another shape, type, order or length than the numbers have."""
    length = int.from_bytes(content[8:10], "little")
    head = content[10 : 10 + length].decode("latin-1")
    if random.random() < 0.6:
        head = re.sub(r"'shape': .*\), }", f"'shape': {random.choice(SHAPES)}, }}", head)
    if random.random() < 0.5:
        head = re.sub(r"'descr': '[^']*'", f"'descr': '{random.choice(TYPES)}'", head)
    if random.random() < 0.2:
        head = head.replace("False", random.choice(("True", "None", "0", "__import__('os')")))
    raw = head.encode("latin-1", errors="replace")
    length = random.choice((len(raw), len(raw), len(raw), 0, 0xFFFF, len(raw) // 2))
    version = random.choice((b"\1\0", b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\xff\xff"))
    size = struct.pack("<H", length & 0xFFFF) if version[0] == 1 else struct.pack("<I", length)
    return (
        content[:6] + version + size + raw + content[10 + int.from_bytes(content[8:10], "little") :]
    )


def change_npy_numbers(content: bytes, random: Random) -> bytes:
    """NaN, infinity, numbers near the limits, rows alike."""
    odd = random.choice((float("nan"), float("inf"), -3.4e38, 1e-45, 0.0))
    start = len(content) - 4 * random.randrange(1, len(content) // 8 + 2)
    n = random.choice((1, 4, 8))
    return content[:start] + struct.pack("<f", odd) * n + content[start + 4 * n :]


NPY: tuple[Mutator, ...] = (change_npy_header, change_npy_header, change_npy_numbers)


# --- Parquet and Arrow -----------------------------------------------------------------------


def rewrite_columns(content: bytes, random: Random) -> bytes:
    """The same rows in columns that nobody expects, written well."""
    import polars as pl

    is_parquet = content.startswith(b"PAR1")
    read = pl.read_parquet if is_parquet else _read_arrow
    frame = _odd_frame(read(io.BytesIO(content)), random)
    out = io.BytesIO()
    if is_parquet:
        packing = random.choice(("zstd", "snappy", "gzip", "uncompressed", "lz4"))
        frame.write_parquet(out, compression=packing, row_group_size=random.choice((None, 1, 3)))
    else:
        frame.write_ipc(out, compression=random.choice(("uncompressed", "lz4", "zstd")))
    return out.getvalue()


def _read_arrow(file: io.BytesIO) -> Any:
    import polars as pl

    return pl.read_ipc(file) if file.getvalue().startswith(b"ARROW1") else pl.read_ipc_stream(file)


def _odd_frame(frame: Any, random: Random) -> Any:
    import polars as pl

    name = random.choice(frame.columns)
    column = pl.col(name)
    is_nested = frame.schema[name].is_nested()  # of which there are no texts
    texts = pl.lit("odd").alias(name) if is_nested else column.cast(pl.String, strict=False)
    changes: Mapping[str, Callable[[], Any]] = {
        "null": lambda: frame.with_columns(pl.lit(None).alias(name)),
        "some null": lambda: frame.with_columns(pl.when(pl.int_range(pl.len()) > 2).then(column)),
        "struct": lambda: frame.with_columns(pl.struct(frame.columns).alias(name)),
        "list": lambda: frame.with_columns(pl.concat_list(column, column)),
        "binary": lambda: frame.with_columns(pl.lit(b"\xff\xfe\0").alias(name)),
        "category": lambda: frame.with_columns(texts.cast(pl.Categorical)),
        "date": lambda: frame.with_columns(pl.lit(10**9).cast(pl.Date).alias(name)),
        "decimal": lambda: frame.with_columns(pl.lit(1).cast(pl.Decimal(38, 10)).alias(name)),
        "huge": lambda: frame.head(2).with_columns(pl.lit("x" * 20 * MEGABYTE).alias(name)),
        "no rows": lambda: frame.head(0),
        "twice": lambda: pl.concat([frame] * random.choice((2, 300))),
        "wide": lambda: frame.with_columns(pl.lit(n).alias(f"c{n}") for n in range(1000)),
        "name": lambda: frame.rename({name: random.choice(("", "\0", "x" * 9999, "a\nb", "<b>"))}),
        "gone": lambda: frame.drop(name),
        "nested": lambda: frame.with_columns(_nested(pl.lit(1), 60).alias(name)),
        "number": lambda: frame.with_columns(pl.lit(float("nan")).alias(name)),
        "deep text": lambda: frame.with_columns(pl.lit("[" * 100_000).alias(name)),
    }
    return random.choice(list(changes.values()))()


def _nested(value: Any, depth: int) -> Any:
    import polars as pl

    for _ in range(depth):
        value = pl.struct(value.alias("a"))
    return value


def change_footer(content: bytes, random: Random) -> bytes:
    """Bytes of what a Parquet file says of its columns, of which every length is a short number."""
    if not content.endswith(b"PAR1"):
        return content
    length = int.from_bytes(content[-8:-4], "little")
    start = max(4, len(content) - 8 - length)
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(start, len(content) - 8) if start < len(content) - 8 else 0
        changed[at] = random.choice(
            (0, 1, 0x7F, 0x80, 0xFF, changed[at] ^ 1, changed[at] + 1 & 0xFF)
        )
    return bytes(changed)


def change_pages(content: bytes, random: Random) -> bytes:
    """Bytes of a page's head or of its values."""
    length = int.from_bytes(content[-8:-4], "little")
    end = max(5, len(content) - 8 - length)
    changed = bytearray(content)
    for _ in range(random.choice((1, 2, 8))):
        changed[random.randrange(4, min(end, len(changed)))] = random.randrange(256)
    return bytes(changed)


# --- images ----------------------------------------------------------------------------------


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def change_png(content: bytes, random: Random) -> bytes:
    """Sizes and depths that the head claims with a right sum, and chunks that hide a lot."""
    if random.random() < 0.6:
        head = bytearray(content[16:29])
        if random.random() < 0.7:
            side = struct.pack(">I", random.choice(EXTREMES) & 0xFFFFFFFF)
            head[(at := random.choice((0, 4))) : at + 4] = side
        else:
            head[random.randrange(8, 13)] = random.randrange(256)
        return content[:8] + _chunk(b"IHDR", bytes(head)) + content[33:]
    packed = zlib.compress(bytes(30 * MEGABYTE), 1)
    chunks = (
        _chunk(b"zTXt", b"a\0\0" + packed),
        _chunk(b"iCCP", b"a\0\0" + packed),
        _chunk(b"acTL", struct.pack(">II", random.choice((0, 1, 2**31)), 0)),
        _chunk(b"tEXt", b"a\0" * 5000) * 100,
        _chunk(b"eXIf", random.randbytes(60)),
        _chunk(b"PLTE", random.randbytes(random.choice((0, 3, 7, 3000)))),
        _chunk(b"IDAT", packed),
        _chunk(b"tRNS", random.randbytes(9)),
    )
    return content[:33] + random.choice(chunks) + content[33:]


def change_jpeg(content: bytes, random: Random) -> bytes:
    """Another size, number of components or sampling; thousands of segments."""
    frames = [m.start() for m in re.finditer(rb"\xff[\xc0-\xc2]\x00", content)]
    if frames and random.random() < 0.6:
        at = frames[0] + random.choice((5, 7, 9, 11))
        return content[:at] + random.choice((b"\xff\xff", b"\0\0", b"\xff\xdc")) + content[at + 2 :]
    segment = random.choice(
        (b"\xff\xe1\0\x0aExif\0\0MM", b"\xff\xfe\0\x04ab", b"\xff\xe2\0\x08MPF\0II")
    )
    return content[:2] + segment * random.choice((1, 5000)) + content[2:]


def change_webp(content: bytes, random: Random) -> bytes:
    body = content[12:]
    large = b"VP8X\x0a\0\0\0" + bytes([random.randrange(256)]) + b"\0\0\0" + b"\xff\xff\xff" * 2
    body = random.choice(
        (large + body, body * 2, body + b"ANMF\xff\xff\xff\x7f", body[:8] + b"\xff" * 9)
    )
    size = random.choice((len(body) + 4, 0xFFFFFFFF, 0))
    return b"RIFF" + struct.pack("<I", size) + b"WEBP" + body


def change_gif(content: bytes, random: Random) -> bytes:
    """A screen of another size; a thousand frames, or frames without an end."""
    if random.random() < 0.5:
        return (
            content[:6]
            + random.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\1\0"))
            + content[10:]
        )
    at = content.find(b",")
    return content[:-1] + content[at:-1] * random.choice((2, 600)) + random.choice((b";", b""))


def hide_in_svg(content: bytes, random: Random) -> bytes:
    inside = random.choice(
        (
            b"<script>alert(1)</script>",
            b'<image href="file:///etc/passwd"/>',
            b'<use href="http://127.0.0.1:9/x#a"/>',
            b'<rect onload="alert(1)" width="1e999"/>',
            b"<foreignObject><iframe src='//x'/></foreignObject>",
        )
    )
    return content.replace(b"</svg>", inside * random.choice((1, 1000)) + b"</svg>")


OF_PARQUET = (change_footer, change_footer, change_pages, change_pages, rewrite_columns)
OF_ZIP = (change_member, change_member, change_members, change_members, lie_about_member)
STRUCTURED: Mapping[str, tuple[Mutator, ...]] = {
    "parquet": OF_PARQUET,
    "arrow": (rewrite_columns,),
    "npy": NPY,
    "npz": (*OF_ZIP, two_of_a_name),
    "zip": (*OF_ZIP, two_of_a_name),
    "tar": (change_tar,) * 3,
    "gz": (_repacked(_ungzipped, seeds.gzipped),) * 4 + (two_members,),
    "zst": (_repacked(_unzstd, seeds.zstd),) * 4 + (two_members,),
    "json": (*texts.MUTATORS, *texts.JSON * 2),
    "jsonl": (*texts.MUTATORS, *texts.JSON),
    "csv": texts.MUTATORS,
    "trec": texts.MUTATORS,
    "smart": texts.MUTATORS,
    "xml": (*texts.MUTATORS, *texts.XML * 2),
    "png": (change_png,) * 3,
    "jpeg": (change_jpeg,) * 3,
    "webp": (change_webp,) * 2,
    "gif": (change_gif,) * 3,
    "svg": (hide_in_svg, *texts.XML, texts.change_encoding),
}
# Costly for whoever sends and for whoever reads: a few in a hundred.
BOMBS: Mapping[str, Mutator] = {
    "zip": zip_bomb,
    "npz": zip_bomb,
    "gz": gzip_bomb,
    "zst": zstd_bomb,
}
