"""Damage to lines, cells and values of text files, and to how they are encoded."""

import re
from random import Random

from tests.fuzz_files.bytewise import Mutator

# Values that numbers, ids and texts may turn into.
NUMBERS = (
    *(
        b"0",
        b"-0",
        b"-1",
        b"1.0",
        b"1e0",
        b"0.5",
        b"1,5",
        b"1_0",
        b"+2",
        b"0x10",
        b"1e400",
        b"-1e400",
    ),
    *(b"nan", b"NaN", b"inf", b"-Infinity", b"1e-400", b"9" * 30, b"9" * 5000, b"-" + b"9" * 19),
    *(b"2147483648", b"9223372036854775808", b"\xd9\xa3", b"true", b"null", b"None", b"", b"--1"),
)
TEXTS = (
    *(
        b"",
        b" ",
        b"\0",
        b"a\0b",
        b"\t",
        b'"',
        b"'",
        b"\\",
        b"\\u0000",
        b"\\ud800",
        b"\xff\xfe",
        b"\xc0\x80",
    ),
    *(b"../../../../etc/passwd", b"/etc/passwd", b"C:\\x", b"<script>alert(1)</script>", b"=1+1"),
    *(
        b"a" * 513,
        b"a" * 100_000,
        "é".encode("latin-1"),
        "\U0001d54f\u202e\u2028".encode(),
        b"\xed\xa0\x80",
    ),
    *(b"{}", b"[]", b"[[[]]]", b'{"a":{"b":[1]}}', b"%s%n", b"{0}", b"\x1b[31m", b"\r", b"#"),
)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
WORD = re.compile(rb"[A-Za-z_][\w.-]*")
LONG_LINE = 1_000_000


def change_value(content: bytes, random: Random) -> bytes:
    """A number, or a word, becomes one that nobody expects there."""
    pattern, values = random.choice(((NUMBER, NUMBERS), (WORD, TEXTS), (NUMBER, TEXTS)))
    matches = list(pattern.finditer(content))
    for match in sorted(
        random.sample(matches, min(len(matches), random.choice((1, 1, 3)))),
        key=lambda m: -m.start(),
    ):
        content = content[: match.start()] + random.choice(values) + content[match.end() :]
    return content


def change_every_value(content: bytes, random: Random) -> bytes:
    """All numbers of a line's last cell, or all words of one kind, become the same."""
    if random.random() < 0.5:
        return re.sub(rb"\d+(?:\.\d+)?(?=[\r\n])", _as_is(random.choice(NUMBERS)), content)
    words = WORD.findall(content)
    return content.replace(random.choice(words), random.choice(TEXTS)) if words else content


def _as_is(value: bytes) -> bytes:
    return value.replace(b"\\", rb"\\")


def change_encoding(content: bytes, random: Random) -> bytes:
    text = content.decode(errors="replace")
    codec = random.choice(
        ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "utf-8-sig", "utf-7", "cp037")
    )
    return text.encode(codec, errors="replace")


def change_line_ends(content: bytes, random: Random) -> bytes:
    return content.replace(
        b"\n", random.choice((b"\r\n", b"\r", b"\n\n", b"\n\r", b"\x0b", b"\x85", b"\0\n", b" "))
    )


def repeat_lines(content: bytes, random: Random) -> bytes:
    """Ids come twice, or ten thousand times."""
    lines = content.splitlines(keepends=True) or [b""]
    at = random.randrange(len(lines))
    n = random.choice((1, 1, 30, 10_000))
    return b"".join(
        [
            *lines[: at + 1],
            *([lines[at]] * n)[: 2_000_000 // (len(lines[at]) + 1)],
            *lines[at + 1 :],
        ]
    )


def shuffle_lines(content: bytes, random: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    random.shuffle(lines)
    return b"".join(lines[: random.randrange(len(lines) + 1)] if random.random() < 0.5 else lines)


def long_line(content: bytes, random: Random) -> bytes:
    """A line of a million characters, or one cell of them."""
    filling = random.choice(
        (b"x", b" ", b"\t", b",", b'"', b"\0", b"{", b"[", b"a b ", b"1,", "ü".encode())
    )
    at = random.choice(
        (0, len(content), content.find(b"\n") + 1, random.randrange(len(content) + 1))
    )
    return content[:at] + (filling * LONG_LINE)[:LONG_LINE] + content[at:]


def many_lines(content: bytes, random: Random) -> bytes:
    line = random.choice(
        (b"\n", b"#\n", b"x\n", b"a\tb\n", b'{"_id": "d1"}\n', b'"\n', b"q1 Q0 d1 1 1 x\n")
    )
    return content + line * (400_000 // len(line))


def change_separator(content: bytes, random: Random) -> bytes:
    old = random.choice((b",", b";", b"\t", b" ", b'"', b"'", b":", b"<", b"}"))
    return content.replace(old, random.choice((b",", b";", b"\t", b" ", b"", b'"', b"|", b"\0")))


def drop_or_add_cell(content: bytes, random: Random) -> bytes:
    lines = content.split(b"\n")
    at = random.randrange(len(lines))
    cut = random.choice((b",", b"\t", b" ", b";"))
    cells = lines[at].split(cut)
    if random.random() < 0.5:
        del cells[random.randrange(len(cells))]
    else:
        cells.insert(random.randrange(len(cells) + 1), random.choice((*NUMBERS, *TEXTS)))
    lines[at] = cut.join(cells)
    return b"\n".join(lines)


MUTATORS: tuple[Mutator, ...] = (
    *(
        change_value,
        change_value,
        change_value,
        change_every_value,
        change_encoding,
        change_line_ends,
    ),
    *(repeat_lines, shuffle_lines, long_line, many_lines, change_separator, drop_or_add_cell),
)


# --- JSON and XML ----------------------------------------------------------------------------

DEEP = (100, 990, 5_000, 50_000, 400_000)


def nest_json(content: bytes, random: Random) -> bytes:
    """Brackets as deep as a parser's stack, in place of a value or of everything."""
    depth = random.choice(DEEP)
    left, right = random.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")))
    deep = left * depth + b"1" + (right * depth if random.random() < 0.7 else b"")
    if random.random() < 0.4:
        return deep
    matches = list(re.finditer(rb'(?<=: )("[^"]*"|[\d.]+)', content)) or [re.match(b"", content)]
    match = random.choice(matches)
    return content[: match.start()] + deep + content[match.end() :] if match else deep


def repeat_keys(content: bytes, random: Random) -> bytes:
    key = random.choice((b'"_id": "d1", ', b'"q1": {"d1": 1}, ', b'"a": 1, ', b'"scores": {}, '))
    return content.replace(b"{", b"{" + key * random.choice((1, 2, 50_000)), 1)


def change_json_type(content: bytes, random: Random) -> bytes:
    """A value becomes one of another type."""
    matches = list(re.finditer(rb'(?<=: )("[^"]*"|[\d.]+|\[[^\]]*\]|\{[^{}]*\})', content))
    values = (
        b"null",
        b"true",
        b"[]",
        b"{}",
        b'""',
        b"[[1]]",
        b"1e999",
        b"NaN",
        b'{"d1": null}',
        b"-0",
        b"9" * 5000,
    )
    if not matches:
        return content
    match = random.choice(matches)
    return content[: match.start()] + random.choice(values) + content[match.end() :]


JSON: tuple[Mutator, ...] = (nest_json, repeat_keys, change_json_type, change_json_type)

LAUGHS = b'<!DOCTYPE z [<!ENTITY a "ha">' + b"".join(
    f'<!ENTITY {name} "{f"&{before};" * 10}">'.encode()
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def add_entities(content: bytes, random: Random) -> bytes:
    """Entities that grow a billionfold, or that name a file or an address."""
    outside = b'<!DOCTYPE z [<!ENTITY i SYSTEM "file:///etc/passwd">'
    far = b'<!DOCTYPE z SYSTEM "http://127.0.0.1:9/z.dtd" [<!ENTITY i "x">'
    head = random.choice((LAUGHS, outside, far)) + b"]>\n"
    at = content.find(b">") + 1 if content.startswith(b"<?xml") else 0
    texts = [match.end() for match in re.finditer(rb">", content) if match.end() > at]
    spot = random.choice(texts or [len(content)])
    return content[:at] + head + content[at:spot] + b"&i;" + content[spot:]


def nest_tags(content: bytes, random: Random) -> bytes:
    tag, depth = (
        random.choice((b"g", b"top", b"topic", b"DOC", b"a b='c'")),
        random.choice((500, 20_000, 100_000)),
    )
    at = random.choice((0, len(content) // 2, len(content)))
    close = f"</{tag.split()[0].decode()}>".encode() * depth if random.random() < 0.5 else b""
    return content[:at] + (b"<" + tag + b">") * depth + close + content[at:]


def break_tags(content: bytes, random: Random) -> bytes:
    tags = list(re.finditer(rb"</?[^>]*>", content))
    if not tags:
        return content
    match = random.choice(tags)
    new = random.choice(
        (
            b"",
            b"<",
            b">",
            match[0] * 3,
            b"<![CDATA[",
            b"<!--",
            b"</DOC>",
            b"<top>",
            match[0].swapcase(),
        )
    )
    return content[: match.start()] + new + content[match.end() :]


XML: tuple[Mutator, ...] = (add_entities, nest_tags, break_tags, break_tags)
