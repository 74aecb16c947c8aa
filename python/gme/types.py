"""Names for the types that many signatures share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Embeddings: float32, C order, (rows, dim)."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then with (done, total)."""
