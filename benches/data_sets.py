"""Where the real multi-hop sets lie: an option, since they are no part of the project."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

VARIABLE = "GME_DATA"


def data_folder() -> Path | None:
    """The folder that the environment names."""
    return Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None


def add_data_option(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """``--data FOLDER``, with one folder a set in it; the environment's unless given."""
    folder = data_folder()
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        default=folder,
        required=required and folder is None,
        help=f"where the real sets lie (default: ${VARIABLE})",
    )
