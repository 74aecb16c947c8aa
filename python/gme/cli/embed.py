"""``gme embed``: the vectors of nodes and questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import _output


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("embed")(embed)


def embed(
    model: Annotated[
        str, typer.Option("--model", help="local, onnx:FOLDER, openai:NAME, or file:NODES.npy for vectors you have.")
    ] = "local",
    questions_file: Annotated[
        str | None, typer.Option("--questions-file", help="With file:, the question vectors, in questions.jsonl order.")
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", help="With openai:, the server. Default: $OPENAI_BASE_URL, else api.openai.com."),
    ] = None,
    dimensions: Annotated[
        int | None, typer.Option("--dimensions", help="With openai:, ask for vectors of this size.")
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option("--batch-size", help="Texts in a batch at most. Default: 32 (local, onnx:), 256 (openai:)."),
    ] = None,
    concurrency: Annotated[int, typer.Option("--concurrency", help="With openai:, requests at the same time.")] = 4,
    timeout: Annotated[
        float, typer.Option("--timeout", help="With openai:, seconds to wait for an answer before trying again.")
    ] = 60.0,
    retries: Annotated[int, typer.Option("--retries", help="With openai:, tries after the first, per request.")] = 8,
    api_key_env: Annotated[
        str, typer.Option("--api-key-env", help="With openai:, the environment variable that holds the key.")
    ] = "OPENAI_API_KEY",
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache", envvar="GME_CACHE", help="Folder of the vector cache. Default: cache/ in the workspace."
        ),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Embed every text anew and store nothing.")] = False,
    threads: _output.ThreadsOption = 0,
    workspace: _output.WorkspaceOption = Path(),
    quiet: _output.QuietOption = False,
) -> None:
    """Embed nodes.jsonl and questions.jsonl; a run that was stopped goes on where it was, and nothing is paid twice."""
    space = _output.open_workspace(workspace, quiet)
    from ..embedders import EmbedOptions, embed_workspace

    options = EmbedOptions(
        model=model,
        questions_file=questions_file,
        base_url=base_url,
        dimensions=dimensions,
        batch_size=batch_size,
        concurrency=concurrency,
        timeout=timeout,
        retries=retries,
        api_key_env=api_key_env,
    )
    folder = None if no_cache else cache or space.path("cache")
    last = (0, 0)
    with _output.progress("embedding", "texts") as bar:

        def report(done: int, total: int) -> None:
            nonlocal last
            last = (done, total)
            bar(done, total)

        try:
            result = embed_workspace(space, options, cache=folder, threads=threads, progress=report, tell=_output.note)
        except BaseException:
            if last[0] and folder is not None:
                _output.note(
                    f"{last[0]:,} of {last[1]:,} texts are embedded and kept; the same command goes on from there"
                )
            raise
    for name in result.written:
        _output.data(name)
    _output.note(_summary(model, result))


def _summary(model: str, result: Any) -> str:
    parts = [f"{result.texts:,} vectors of {result.dim} dimensions by {model}"]
    if result.distinct < result.texts:
        parts.append(f"{result.distinct:,} different texts")
    if result.reused:
        parts.append(f"{result.reused:,} from the cache")
    if result.facts.get("texts_cut"):
        parts.append(f"{result.facts['texts_cut']:,} cut at {result.facts['max_tokens']} tokens")
    if result.facts.get("retries"):
        parts.append(f"{result.facts['retries']:,} requests tried again")
    return ", ".join(parts)
