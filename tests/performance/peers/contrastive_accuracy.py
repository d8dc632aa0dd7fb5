"""Contrastive accuracy of two npy files: `contrastive_accuracy.py {ours,numpy,torch} Z1 Z2 ROUNDS`.

numpy and torch are the published formula written out from nidl's documentation: the whole matrix
of similarities, and the k largest of each row and of each column. Prints the score, the seconds of
the fastest round, the processor's seconds of that round, and the MB of memory that the call took
beyond what was there before.
"""

import resource
import sys
import time

import numpy as np

K = 1


def by_numpy(z1, z2):
    z1, z2 = (z / (np.linalg.norm(z, axis=1, keepdims=True) + 1e-12) for z in (z1, z2))
    similarities = z1 @ z2.T
    results = []
    for table in (similarities, similarities.T):
        best = np.argpartition(-table, K - 1, axis=1)[:, :K]
        results.append((best == np.arange(len(z1))[:, None]).any(axis=1).mean())
    return sum(results) / 2


def by_torch(z1, z2):
    import torch

    z1, z2 = (torch.nn.functional.normalize(torch.from_numpy(z), eps=1e-12) for z in (z1, z2))
    similarities = z1 @ z2.T
    results = []
    for table in (similarities, similarities.T):
        best = table.topk(K, dim=1).indices
        results.append((best == torch.arange(len(z1))[:, None]).any(dim=1).float().mean())
    return float(sum(results) / 2)


def by_ours(z1, z2):
    from benchwright.contrastive import contrastive_accuracy_score

    return contrastive_accuracy_score(z1, z2, topk=K)


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(kind: str, first: str, second: str, rounds: int) -> None:
    work = {"ours": by_ours, "numpy": by_numpy, "torch": by_torch}[kind]
    z1, z2 = (np.load(path) for path in (first, second))
    few = slice(0, min(64, len(z1)))
    work(z1[few], z2[few])  # what is imported and set up once
    before = peak_mb()
    taken = []
    for _ in range(rounds):
        began, busy = time.perf_counter(), time.process_time()
        score = work(z1, z2)
        taken.append((time.perf_counter() - began, time.process_time() - busy))
    print(float(score), *min(taken), peak_mb() - before, peak_mb())


if __name__ == "__main__":
    main(sys.argv[1], *sys.argv[2:4], int(sys.argv[4]))
