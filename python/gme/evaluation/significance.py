"""Whether two runs differ: paired bootstrap intervals and McNemar's exact test."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..options import Options, option

_RESAMPLES_AT_ONCE = 2_000_000  # the most resampled questions in memory at a time

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EvaluationOptions(Options):
    """How runs are compared."""

    resamples: int = option(10_000, "bootstrap resamples", low=1, high=10**9)
    seed: int = option(42, "seed of the bootstrap", low=0, high=2**64 - 1)
    confidence: float = option(0.95, "coverage of the intervals", above=0, below=1)


def bootstrap(differences: Floats, options: EvaluationOptions | None = None) -> Floats:
    """Percentile intervals of mean paired differences, by resampling questions with replacement.

    Args:
        differences: float64 (questions, measures): run minus baseline for each question, with any number of measures.
            All measures use the same resamples.

    Returns:
        float64 (measures, 2): the lower and the upper end. They do not depend on the number of threads, but on the
        order of the questions.

    Example:
        >>> import gme, numpy as np
        >>> differences = np.array([[0.5], [0.0], [0.5], [1.0]])
        >>> gme.bootstrap(differences, gme.EvaluationOptions(resamples=1000)).round(2).tolist()
        [[0.12, 0.88]]
    """
    options = options or EvaluationOptions()
    count, measures = differences.shape
    generator = np.random.Generator(np.random.PCG64(options.seed))
    means = np.empty((options.resamples, measures))
    block = max(1, _RESAMPLES_AT_ONCE // count)
    for start in range(0, options.resamples, block):
        size = min(block, options.resamples - start)
        drawn = generator.integers(0, count, size=(size, count)) + count * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count).astype(np.float64)
        # This is not a BLAS product, because einsum sums in the same order for any number of threads.
        means[start : start + size] = np.einsum("ij,jk->ik", times, differences) / count
    tail = (1 - options.confidence) / 2
    return np.quantile(means, [tail, 1 - tail], axis=0).T


def mcnemar(won: int, lost: int) -> float:
    """McNemar's exact two-sided test: the chance that the discordant questions split at least this unevenly."""
    discordant = won + lost
    if discordant == 0:
        return 1.0
    tail = sum(math.comb(discordant, i) for i in range(min(won, lost) + 1))
    return float(min(1.0, 2 * tail / 2**discordant))
