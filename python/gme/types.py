"""Names for the types that many signatures share."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Embeddings: float32, C order, (rows, dim)."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then with (done, total)."""

Watch: TypeAlias = Callable[[str, str], AbstractContextManager[Progress]]
"""Called with (what is being done, the unit it is counted in) before each step that may take long."""
