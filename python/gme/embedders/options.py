"""The options of ``gme embed``: the model, and how to reach it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..command_line import flag
from ..errors import GmeError, joined
from ..options import Options, option
from .models import MODELS

DEFAULT_KEY = "OPENAI_API_KEY"

_FORMS = [entry.form for entry in MODELS.own.values()]

_ONE_MODEL = "node and question vectors must come from one model"


@dataclass(frozen=True)
class EmbedOptions(Options):
    """The options of ``gme embed`` that decide which vectors come out and how they are fetched."""

    model: str = option("local", f"{joined(_FORMS, last=' or ')}.")
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
            # The value is not repeated: it may be the key itself, and would end up in manifests.
            raise GmeError(
                "--api-key-env must be the name of an environment variable, of letters, digits and underscores",
                "export it with the key, and give its name",
            )
        for name in self.changed():
            if name != "model" and self.kind in MODELS and name not in MODELS[self.kind].settings:
                owners = " or ".join(entry.form for entry in MODELS.own.values() if name in entry.settings)
                hint = _ONE_MODEL if name == "questions_file" else "leave the option out"
                raise GmeError(f"--{flag(name)} goes with --model {owners}, not with {self.model}", hint)

    @property
    def kind(self) -> str:
        """The part of `model` before the colon, which names the kind of embedder."""
        return self.model.partition(":")[0]

    @property
    def rest(self) -> str:
        """The part of `model` after the colon: a folder, a file or a model's name."""
        return self.model.partition(":")[2]
