"""Which split a file is of, by the names that collections have given their files."""

import re

SPLIT = re.compile(
    r"(?:^|[/_.-])(train(?:ing)?|dev|valid(?:ation)?|val|test(?:[-_.]?[ab])?|eval)"
    r"(?:[._-](small|full))?(?=[/_.-]|$)",
    re.IGNORECASE,
)
SAME = {"training": "train", "validation": "dev", "valid": "dev", "val": "dev"}


def split_named(text: str) -> str:
    """Return a split as it is compared.

    >>> [split_named(text) for text in ("validation", "testA", "dev.small")]
    ['dev', 'test-a', 'dev.small']
    """
    name = text.strip().lower()
    if re.fullmatch(r"test[-_.]?[ab]", name):
        return f"test-{name[-1]}"
    return SAME.get(name, name)


def split_of_name(member: str) -> str:
    """Return the split that a file's name says, or else its folders, or nothing.

    >>> [split_of_name(name) for name in (
    ...     "topics.miracl-v1.0-sw-test-a.tsv", "queries/dev/german_queries.dev.small.tsv",
    ...     "sw/validation-00000-of-00001.parquet", "collection.tsv")]
    ['test-a', 'dev.small', 'dev', '']
    """
    folder, _, name = member.rpartition("/")
    for text in (name, folder):
        splits = SPLIT.findall(text)
        if splits:
            split, size = splits[-1]
            return split_named(split) + (f".{size.lower()}" if size else "")
    return ""
