"""The options of ``gme embed``: which model, and how to reach it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..command_line import flag
from ..errors import GmeError
from ..options import Options, option

DEFAULT_KEY = "OPENAI_API_KEY"

_FORMS = {"local": "local", "onnx": "onnx:FOLDER", "openai": "openai:NAME", "file": "file:NODES.npy"}
_LEAVE = "leave the option out"
_OWNERS: dict[str, tuple[tuple[str, ...], str]] = {
    "questions_file": (("file",), "node and question vectors must come from one model"),
    "batch_size": (("local", "onnx", "openai"), _LEAVE),
    **dict.fromkeys(
        ("base_url", "dimensions", "concurrency", "timeout", "retries", "api_key_env"), (("openai",), _LEAVE)
    ),
}
"""The kinds of models that an option has an effect with, and what to do with another."""


@dataclass(frozen=True)
class EmbedOptions(Options):
    """The options of ``gme embed`` that decide which vectors come out and how they are fetched."""

    model: str = option("local", "local, onnx:FOLDER, openai:NAME or file:NODES.npy.")
    questions_file: str | None = option(None, "With file:, the question vectors; rows in questions.jsonl order.")
    base_url: str | None = option(None, "With openai:, the server; default $OPENAI_BASE_URL or api.openai.com.")
    dimensions: int | None = option(None, "With openai:, ask for vectors of this size.", low=1, high=65_536)
    batch_size: int | None = option(None, "Texts in a batch at most; default 32 (local, onnx:), 256 (openai:).", low=1)
    concurrency: int = option(4, "With openai:, requests at the same time.", low=1, high=64)
    timeout: float = option(60.0, "With openai:, seconds to wait for an answer before trying again.", above=0)
    retries: int = option(8, "With openai:, tries after the first for each request.", low=0, high=100)
    api_key_env: str = option(DEFAULT_KEY, "With openai:, the environment variable that holds the key.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", str(self.api_key_env)):
            # Not repeated: it may be the key itself, which would go into manifests.
            raise GmeError(
                "--api-key-env must be the name of an environment variable, of letters, digits and underscores",
                "export it with the key, and give its name",
            )
        for name in self.changed():
            owners, hint = _OWNERS.get(name, ((self.kind,), ""))
            if self.kind not in owners and self.kind in _FORMS:
                forms = " or ".join(_FORMS[kind] for kind in owners)
                raise GmeError(f"--{flag(name)} goes with --model {forms}, not with {self.model}", hint)

    @property
    def kind(self) -> str:
        """The part of `model` that names the kind of embedder."""
        return self.model.partition(":")[0]

    @property
    def rest(self) -> str:
        """The part of `model` after the kind: a folder, a file, a model's name."""
        return self.model.partition(":")[2]
