"""Generated collections: just large enough, the same every time."""

import zipfile
from pathlib import Path

WORDS = ("river", "stone", "lamp", "engine", "violet", "winter", "paper", "signal", "copper")


def text_of(number: int) -> str:
    """A few words that differ from number to number."""
    return " ".join(WORDS[number // 9**place % 9] for place in range(6)) + f" {number}"


def beir_zip(path: Path, *, n_documents: int, n_queries: int) -> Path:
    """A zip in BEIR's layout; query n has document n as its one qrel, grade 1."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        with archive.open("corpus.jsonl", "w", force_zip64=True) as corpus:
            for n in range(n_documents):
                corpus.write(
                    f'{{"_id": "d{n}", "title": "Number {n}", "text": "{text_of(n)}"}}\n'.encode()
                )
        queries = (f'{{"_id": "q{n}", "text": "{text_of(n)}"}}\n' for n in range(n_queries))
        archive.writestr("queries.jsonl", "".join(queries))
        qrels = (f"q{n}\td{n}\t1\n" for n in range(n_queries))
        archive.writestr("qrels/test.tsv", "query-id\tcorpus-id\tscore\n" + "".join(qrels))
    return path


def run_file(path: Path, *, n_queries: int, depth: int, n_documents: int) -> Path:
    """A TREC run in which query n finds its document n at rank n % depth + 1."""
    with path.open("w") as out:
        for n in range(n_queries):
            first = n - n % depth
            for rank in range(1, depth + 1):
                docid = (first + rank - 1) % n_documents
                out.write(f"q{n} Q0 d{docid} {rank} {depth - rank + 1} made\n")
    return path


def words_file(path: Path, *, n_documents: int, n_words: int = 40, seed: int = 7) -> Path:
    """A corpus as JSON lines; its words are as unequally frequent as those of a language."""
    import numpy as np

    random = np.random.default_rng(seed)
    with path.open("w") as out:
        for start in range(0, n_documents, 1000):
            drawn = random.zipf(1.3, (min(1000, n_documents - start), n_words)) % 50_000
            for n, row in enumerate(drawn.tolist(), start=start):
                text = " ".join(map("w{}".format, row))
                out.write(f'{{"_id": "d{n}", "text": "{text}"}}\n')
    return path


def word_queries(n_queries: int, *, n_words: int = 6, seed: int = 8) -> dict[str, str]:
    """Queries of such words, by id."""
    import numpy as np

    random = np.random.default_rng(seed)
    drawn = random.zipf(1.3, (n_queries, n_words)) % 50_000
    return {f"q{n}": " ".join(f"w{word}" for word in row) for n, row in enumerate(drawn.tolist())}
