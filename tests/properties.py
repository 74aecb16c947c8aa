"""How many examples a property is tried with: the same ones each time, or more and other ones at night.

Hypothesis itself knows two more profiles of these tests, which `--hypothesis-profile=NAME` chooses:

- `nightly`: twenty times as many examples, drawn anew each time. What fails prints a line that draws it again, and
  stays in `.hypothesis/examples`.
- `long`: as many as `GME_EXAMPLES` says, for fuzzing by hand.
"""

from __future__ import annotations

import os

from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

FIXED, NIGHTLY = "fixed", "nightly"
MORE = 20
"""So many times the examples at night."""


def register_profiles() -> None:
    """The profiles by name; the fixed one holds where none is asked for."""
    settings.register_profile(FIXED, derandomize=True, deadline=None)
    settings.register_profile(
        NIGHTLY,
        derandomize=False,
        deadline=None,
        max_examples=100 * MORE,
        database=DirectoryBasedExampleDatabase(".hypothesis/examples"),
        print_blob=True,
    )
    settings.register_profile("long", deadline=None, max_examples=int(os.environ.get("GME_EXAMPLES", "5000")))
    settings.load_profile(FIXED)


def examples(count: int) -> settings:
    """So many examples, or at night as many more; the rest is the profile's."""
    return settings(max_examples=count * MORE if settings.get_current_profile_name() == NIGHTLY else count)
