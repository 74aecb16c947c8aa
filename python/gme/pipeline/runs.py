"""Run files: what a strategy returned for each question, as JSONL and, if asked, in TREC's six columns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

from ..errors import GmeError, StaleError, shorten, unknown
from ..evaluation.runs import Run, check_run_name, encode
from ..retrieval.result import Retrieved
from ..storage.atomic import atomic_group, atomic_write
from ..storage.files import read_jsonl, sha256, write_json, write_jsonl
from ..stores.store import NO_ROW
from ..workspace import Workspace
from ..workspace.manifests import Manifest, read_manifest
from ..workspace.records import Nodes, Questions
from ..workspace.staleness import find_stale, is_as_recorded, rerun_hint


class Result(TypedDict):
    """One node that a strategy returned for a question."""

    id: str
    score: float
    stage: str


class StaleRunError(StaleError):
    """A run was made from inputs that have changed since.

    Attributes:
        name: the name of the run. reason: what has changed. commands: make the run again, in order.
    """

    def __init__(self, path: Path, reason: str, commands: list[str]) -> None:
        super().__init__(f"{path} is stale: {reason} since it was made", rerun_hint(commands))
        self.name, self.reason, self.commands = path.stem, reason, commands


def write_run(
    workspace: Workspace,
    name: str,
    retrieved: Retrieved,
    manifest: Manifest,
    inputs: list[str],
    *,
    trec: bool = False,
) -> None:
    """Write `runs/NAME.jsonl` and its manifest, and `runs/NAME.trec` if `trec` is true.

    Args:
        manifest: the fields of the manifest besides hashes (strategy, options, …).
        inputs: the workspace files that the run was made from.
    """
    check_run_name(name)
    path = workspace.path(f"runs/{name}.jsonl")
    hashes = {entry: workspace.hash(entry) for entry in inputs}
    with workspace.writing(f"runs/{name}.jsonl"), atomic_group(workspace.folder):
        if trec:
            _write_trec(path.with_suffix(".trec"), name, retrieved, workspace)
        write_jsonl(path, _records(retrieved, workspace.nodes, workspace.questions))
        facts: Manifest = {**manifest, "inputs": hashes, "asked": workspace.question_digest, "sha256": sha256(path)}
        write_json(path.with_suffix(".json"), facts)
    if not trec:
        path.with_suffix(".trec").unlink(missing_ok=True)  # it would belong to the run before


def results_of(retrieved: Retrieved, question: int, nodes: Nodes) -> list[Result]:
    """The results of one question in the form of run files: id, score and stage, in the order returned."""
    columns = zip(
        retrieved.rows[question].tolist(), retrieved.scores[question].tolist(), retrieved.stages, strict=False
    )
    return [{"id": nodes.ids[row], "score": score, "stage": stage} for row, score, stage in columns if row != NO_ROW]


def _records(retrieved: Retrieved, nodes: Nodes, questions: Questions) -> Iterator[dict[str, Any]]:
    for number, question_id in enumerate(questions.ids):
        yield {"question_id": question_id, "results": results_of(retrieved, number, nodes)}


def _write_trec(path: Path, name: str, retrieved: Retrieved, workspace: Workspace) -> None:
    """Write one ``question Q0 node rank score tag`` a line.

    Tools that read this format sort by score, but a run is sorted by stage first. So the score column counts the places
    from the end, and falls strictly with the rank. Ids are percent-encoded; see `encode`.
    """
    with atomic_write(path) as handle:
        for number, question_id in enumerate(workspace.questions.ids):
            results = results_of(retrieved, number, workspace.nodes)
            for rank, result in enumerate(results, start=1):
                columns = (
                    encode(question_id),
                    "Q0",
                    encode(result["id"]),
                    str(rank),
                    str(len(results) + 1 - rank),
                    encode(name),
                )
                handle.write((" ".join(columns) + "\n").encode())


def run_names(workspace: Workspace) -> list[str]:
    """The names of the runs that exist, sorted."""
    return sorted(path.stem for path in workspace.path("runs").glob("*.jsonl"))


def read_run(workspace: Workspace, name: str) -> Run:
    """Read a run and check it against the workspace.

    Raises:
        GmeError: the run does not exist (the closest name is suggested). A line is not valid, names an unknown question
            or node, or repeats a question or node; the message has the line number. Or the run lacks questions of the
            workspace.
        StaleRunError: an input in the run's manifest has changed.

    Example:
        >>> import gme
        >>> workspace = gme.Workspace("corpus")
        >>> name, _ = gme.retrieve_workspace(workspace, "plain")
        >>> sorted(gme.read_run(workspace, name).results)
        ['q1', 'q2']
    """
    if Path(name).name != name or "\0" in name or len(name) > 250:  # a user's own file may have any other name
        raise GmeError(f"run name {shorten(name)} is not a file name", "name a run without its folder and ending")
    path = workspace.path(f"runs/{name}.jsonl")
    if not path.is_file():
        raise unknown("run", name, run_names(workspace), where=f" in {path.parent}")
    manifest = read_manifest(path.with_suffix(".json"))
    _verify(workspace, path, manifest)
    known = set(workspace.questions.ids)
    results: dict[str, list[int]] = {}
    for number, record in read_jsonl(path):
        where = f"{path}:{number}"
        question_id = record.get("question_id")
        if not isinstance(question_id, str) or question_id not in known:
            raise GmeError(
                f"{where}: question_id {shorten(question_id)} is not in questions.jsonl",
                "retrieve again for these questions",
            )
        if question_id in results:
            raise GmeError(
                f"{where}: question {shorten(question_id)} comes a second time", "a run answers a question once"
            )
        results[question_id] = _rows(record.get("results"), workspace.nodes, where)
    missing = [question_id for question_id in workspace.questions.ids if question_id not in results]
    if missing:
        raise GmeError(
            f"{path} lacks {len(missing)} of {len(known)} questions, the first being {shorten(missing[0])}",
            f"retrieve again: {manifest.get('command', 'gme retrieve …')}",
        )
    return Run(name, results, manifest)


def _rows(results: object, nodes: Nodes, where: str) -> list[int]:
    if not isinstance(results, list):
        raise GmeError(
            f"{where}: 'results' must be a list, found {shorten(results)}", 'for example: "results": [{"id": "a"}]'
        )
    rows: dict[int, None] = {}
    for result in results:
        node_id = result.get("id") if isinstance(result, dict) else None
        if not isinstance(node_id, str):
            raise GmeError(
                f"{where}: each result must be an object with an id, found {shorten(result)}",
                'for example: {"id": "a"}',
            )
        row = nodes.rows.get(node_id)
        if row is None:
            raise GmeError(
                f"{where}: result {shorten(node_id)} is not in nodes.jsonl", "retrieve again from these nodes"
            )
        if row in rows:
            raise GmeError(
                f"{where}: result {shorten(node_id)} comes twice", "a node may be returned once per question"
            )
        rows[row] = None
    return list(rows)


def _verify(workspace: Workspace, path: Path, manifest: Manifest) -> None:
    """Refuse a run whose inputs have changed. A missing input can't be compared, and scoring does not need it."""
    reasons, commands = [], []
    if "sha256" in manifest and sha256(path) != manifest["sha256"]:
        reasons.append("the file itself has changed")
    there = [entry for entry in manifest.get("inputs", {}) if workspace.path(entry).is_file()]
    reasons += [f"{entry} has changed" for entry in there if not is_as_recorded(workspace, entry, manifest)]
    for entry in there:
        with contextlib.suppress(GmeError):  # a file that it was made from is missing
            stale = find_stale(workspace, [entry])
            reasons += [f"{entry} is stale itself" for each in stale if each.relative == entry]
            commands += [each.command for each in stale]
    if reasons:
        raise StaleRunError(path, reasons[0], [*commands, manifest.get("command", "gme retrieve …")])
