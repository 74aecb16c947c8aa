"""Embeds a single question with the model that embedded the workspace."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from ..embedders.openai_api import DEFAULT_URL, is_local
from ..embedders.options import DEFAULT_KEY, EmbedOptions
from ..embedders.protocol import Embedder, TextError
from ..embedders.registry import make_embedder
from ..errors import GmeError, StaleError, shorten
from ..types import Vectors
from ..unicode_normalization import is_encodable
from ..workspace import Workspace
from ..workspace.layout import ORIGINAL
from ..workspace.manifests import Manifest, read_manifest
from .runs import Result


class ShownResult(Result):
    """A returned node as a person sees it: with its rank, type and text."""

    rank: int
    type: str
    text: str


class Answer(Manifest, total=False):
    """The results of one question with their texts, and how they were made."""

    question: str
    results: list[ShownResult]


def embedder_for(workspace: Workspace, model: str | None = None, *, threads: int = 0) -> Embedder:
    """The embedder that made `embeddings/original.npy`. Use it for a question that is not in the workspace.

    Args:
        workspace: where ``gme embed`` has run.
        model: use this model instead, with default settings. It is needed if the vectors came from a file.
        threads: as for `make_embedder`.

    Raises:
        GmeError: there are no embeddings, or the vectors came from a file and `model` is not given.
        StaleError: the model is no longer the one that made the vectors.

    Example:
        >>> import gme
        >>> workspace = gme.Workspace("corpus")
        >>> _ = gme.embed_workspace(workspace, gme.EmbedOptions(model="local"), threads=1)
        >>> gme.embedder_for(workspace, threads=1).name
        'local'
    """
    path = workspace.require(ORIGINAL).with_suffix(".json")
    manifest = read_manifest(path)
    made_by = manifest.get("model")
    if model is None and not isinstance(made_by, str):
        raise GmeError(
            f"{path} does not say which model made the vectors, so a new text can't be embedded",
            "name it: --model local, onnx:FOLDER or openai:NAME",
        )
    if model is not None and model != made_by:
        return make_embedder(model, threads=threads)
    known = {field.name for field in dataclasses.fields(EmbedOptions)} - {"questions_file"}
    _check_server(path, manifest)
    settings = {name: value for name, value in manifest.get("parameters", {}).items() if name in known}
    embedder = make_embedder(threads=threads, **{**settings, "model": made_by})
    if manifest.get("key") not in (None, embedder.key):
        raise StaleError(
            f"{made_by} is not the model that made {workspace.path(ORIGINAL)} any more: its files have changed",
            f"re-run: {manifest.get('command', 'gme embed')}",
        )
    return embedder


def _check_server(path: Path, manifest: Manifest) -> None:
    """Refuse to send a key to a server that only the manifest names, because a workspace may come from anyone."""
    parameters = manifest.get("parameters", {})
    url, variable = parameters.get("base_url"), parameters.get("api_key_env", DEFAULT_KEY)
    given = os.environ.get("OPENAI_BASE_URL", "").rstrip("/")
    known = url is None or (isinstance(url, str) and (url.rstrip("/") in (DEFAULT_URL, given) or is_local(url)))
    if not known or (variable != DEFAULT_KEY and url is None):
        raise GmeError(
            f"{path} wants a question, and the key in ${shorten(variable)}, sent to {shorten(url or DEFAULT_URL)}",
            f"if you trust that server: export OPENAI_BASE_URL={url or DEFAULT_URL}, or name the model with --model",
        )


def embed_question(workspace: Workspace, question: str, model: str | None = None, *, threads: int = 0) -> Vectors:
    """Embed one question with the model of the workspace: float32 (1, dim), L2-normalized.

    Raises:
        GmeError: as in `embedder_for`; or the question is empty, or its vector has another dimension than the nodes'.

    Example:
        >>> import gme
        >>> workspace = gme.Workspace("corpus")
        >>> _ = gme.embed_workspace(workspace, gme.EmbedOptions(model="local"), threads=1)
        >>> gme.embed_question(workspace, "Where is the bridge?", threads=1).shape
        (1, 384)
    """
    if not question.strip():
        raise GmeError("the question is empty", "write the question's text")
    if not is_encodable(question):
        raise GmeError(f"the question {shorten(question)} is not valid Unicode", "check the terminal's encoding")
    embedder = embedder_for(workspace, model, threads=threads)
    try:
        vector = embedder.embed([question])
    except TextError as error:
        raise GmeError(f"the question {shorten(question)}: {error.problem}", error.hint) from error
    dim = workspace.collection("original", verify=False).vectors.shape[1]
    if vector.shape[1] != dim:
        raise GmeError(
            f"{embedder.name} gives {vector.shape[1]} dimensions, but {workspace.path(ORIGINAL)} has {dim}",
            "embed the question with the model that embedded the nodes",
        )
    return vector
