"""What a plugin may do wrong: it is told who is to blame, and everything else works as before."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from installing import run_gme, write_metadata

import gme
from conftest import Run
from gme import plugins
from gme.builders import Found
from gme.cli._retrieve_options import OWN as RETRIEVE_PARAMETERS
from gme.errors import GmeError, PluginWarning
from gme.options import Options, option
from gme.registry import Registry, Rules, made_by
from gme.retrieval.options import PlainOptions

REGISTRIES: dict[str, Registry[Any]] = {
    "gme.transforms": gme.TRANSFORMS,
    "gme.strategies": gme.STRATEGIES,
    "gme.embedders": gme.MODELS,
    "gme.readers": gme.READERS,
    "gme.builders": gme.EDGE_BUILDERS,
    "gme.stores": gme.STORES,
}

REGISTERS = (
    gme.register_transform,
    gme.register_strategy,
    gme.register_embedder,
    gme.register_reader,
    gme.register_builder,
    gme.register_store,
)

MODULE = """
import gme

good = gme.Transform("does nothing", gme.Options, lambda graph, vectors, options, context: gme.Transformed(vectors, {}))
number = 7
"""


CODE = {"code_sha256": sha256(Path(__file__).read_bytes()).hexdigest()}


@dataclass(frozen=True)
class Thing:
    """An entry of the registries made here."""

    run: Any
    options: type[Any] = Options
    summary: str = ""


def _forget() -> None:
    plugins.entry_points_of.cache_clear()
    plugins.all_entry_points.cache_clear()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path of this process, empty."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "gme_broken.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    _forget()
    yield folder
    _forget()
    sys.modules.pop("gme_broken", None)


def _transforms() -> Registry[gme.Transform]:
    """A registry as that of the transforms, which has not looked at any entry point yet."""
    return Registry("transform", "gme.transforms", gme.Transform, {"hop1": gme.TRANSFORMS["hop1"]})


def _add(site: Path, points: Mapping[str, str], name: str = "gme-broken") -> None:
    write_metadata(site, name, "3.4", {"gme.transforms": points})


def test_names_stand_in_one_order_whatever_the_order_of_files(site: Path) -> None:
    _add(site, {"zebra": "gme_broken:good", "ant": "gme_broken:good"}, "gme-z")
    _add(site, {"mole": "gme_broken:good"}, "gme-a")
    registry = _transforms()
    registry.register("newt", registry["ant"])
    assert list(registry) == registry.names() == ["hop1", "ant", "mole", "newt", "zebra"]
    assert len(registry) == 5
    assert sorted(["zebra", "gone", "hop1", "ant"], key=registry.place) == ["hop1", "ant", "gone", "zebra"]
    code = {"code_sha256": sha256(MODULE.encode()).hexdigest()}
    assert registry.source("mole") == {"distribution": "gme-a", "version": "3.4", **code}
    assert made_by(method=registry.source("hop1"), index=registry.source("ant")) == {
        "plugins": {"index": {"distribution": "gme-z", "version": "3.4", **code}}
    }
    assert made_by(method=registry.source("hop1")) == {}


def test_the_hash_is_of_the_code_that_runs_even_if_its_file_is_edited_meanwhile(site: Path) -> None:
    """What a long transform makes is not fresh if its author has changed the code meanwhile."""
    _add(site, {"mole": "gme_broken:good"})
    registry = _transforms()
    registry.register("newt", registry["mole"])
    (site / "gme_broken.py").write_text(f"{MODULE}\n# other code\n", encoding="utf-8")
    before = sha256(MODULE.encode()).hexdigest()
    assert registry.source("mole")["code_sha256"] == registry.source("newt")["code_sha256"] == before
    importlib.reload(sys.modules["gme_broken"])
    assert registry.source("mole")["code_sha256"] == sha256(f"{MODULE}\n# other code\n".encode()).hexdigest()


def test_a_name_of_gmes_own_loads_nothing(site: Path) -> None:
    (site / "gme_broken.py").write_text("raise RuntimeError('loaded')", encoding="utf-8")
    _add(site, {"bad": "gme_broken:good"})
    registry = _transforms()
    assert registry["hop1"] is registry.find("hop1") is gme.TRANSFORMS["hop1"]
    assert "bad" in registry  # for that, its name is enough
    assert "gme_broken" not in sys.modules


BLAME = r"gme-broken 3\.4 \(gme\.transforms: {0} = {1}\) "


@pytest.mark.parametrize(
    ("point", "target", "fault"),
    [
        ("bad", "gme_absent:x", "can't be used: ModuleNotFoundError: No module named 'gme_absent'"),
        ("bad", "gme_broken:absent", "can't be used: AttributeError: .*'absent'"),
        ("bad", "gme_broken:number", "can't be used: it must be a gme.Transform, found 7"),
        ("Bad", "gme_broken:good", "can't be used: a name is of lower-case letters and digits"),
        ("b--d", "gme_broken:good", "can't be used: a name is of lower-case letters and digits"),
        ("hop1", "gme_broken:good", "is left out: transform 'hop1' is one of gme's own"),
    ],
)
def test_a_broken_plugin_is_named_and_left_out(point: str, target: str, fault: str, site: Path) -> None:
    _add(site, {point: target, "good": "gme_broken:good"})
    registry = _transforms()
    message = BLAME.format(point, target) + fault
    with pytest.warns(PluginWarning, match=message):
        assert list(registry) == ["hop1", "good"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(registry.items()) == [("hop1", gme.TRANSFORMS["hop1"]), ("good", registry["good"])]  # told once
    assert registry["hop1"] is gme.TRANSFORMS["hop1"]
    if point != "hop1":
        with pytest.raises(GmeError, match=message) as caught:
            registry.find(point)
        assert caught.value.hint == "update gme-broken, or uninstall it"


def test_the_examples_in_the_docstrings_run() -> None:
    for register in REGISTERS:
        before = {group: registry.names() for group, registry in REGISTRIES.items()}
        module = sys.modules[register.__module__]
        [example] = doctest.DocTestFinder(recurse=False).find(register, register.__name__, module)
        assert doctest.DocTestRunner().run(example).failed == 0
        assert {group: registry.names() for group, registry in REGISTRIES.items()} == before


def test_type_checkers_see_the_public_names() -> None:
    stub = (Path(gme.__file__).parent / "__init__.pyi").read_text(encoding="utf-8")
    named = {name: module for module, name in re.findall(r"^from \.(\S+) import \w+ as (\w+)$", stub, re.MULTILINE)}
    assert named == gme._PUBLIC


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "def", "import gme\ngood = gme.Transfrom(1)"])
def test_a_module_that_fails_or_ends_the_process(code: str, site: Path) -> None:
    (site / "gme_broken.py").write_text(code, encoding="utf-8")
    _add(site, {"bad": "gme_broken:good"})
    with pytest.raises(GmeError, match=BLAME.format("bad", "gme_broken:good") + "can't be used"):
        _transforms().find("bad")


def test_a_name_that_two_packages_add_is_neither_ones(site: Path) -> None:
    _add(site, {"good": "gme_broken:good"}, "gme-one")
    _add(site, {"good": "gme_broken:good"}, "gme-two")
    registry = _transforms()
    both = r"gme-one 3\.4 \(.*\) and gme-two 3\.4 \(.*\) both add transform 'good': neither is used"
    with pytest.warns(PluginWarning, match=both):
        assert list(registry) == ["hop1"]
    with pytest.raises(GmeError, match=both):
        registry.find("good")


def test_the_command_line_warns_and_goes_on(site: Path, small_workspace: Path) -> None:
    groups = {group: {"bad": "gme_absent:x", next(iter(own)): "gme_absent:x"} for group, own in REGISTRIES.items()}
    write_metadata(site, "gme-broken", "3.4", groups)
    for command in (["transform"], ["graph"], ["graph", "read"], ["embed"]):
        done = run_gme(site, *command, "--help")
        assert done.returncode == 0
        assert done.stderr.count("warning: gme-broken 3.4 (gme.") == 2
        assert done.stdout == run_gme(site.parent, *command, "--help").stdout
    quiet = run_gme(site, "transform", "hop1", workspace=small_workspace)
    assert (quiet.returncode, quiet.stdout) == (0, "hop1\n")
    assert "gme-broken" not in quiet.stderr  # nobody asked for it
    for words in (["retrieve", "plain"], ["retrieve", "plain", "--exact", "--quiet"]):
        done = run_gme(site, *words, workspace=small_workspace)
        assert (done.returncode, done.stdout) == (0, "plain\n")
        assert done.stderr.count("gme-broken 3.4") == (0 if "--quiet" in words else 2)
    for words in (["transform", "bad"], ["retrieve", "bad"], ["graph", "bad"], ["graph", "read", "bad", "x"]):
        done = run_gme(site, *words, workspace=small_workspace)
        assert done.returncode == 1
        assert "error: gme-broken 3.4 (gme." in done.stderr
        assert done.stderr.endswith("hint: update gme-broken, or uninstall it\n")
        assert "Traceback" not in done.stderr
    for words in (["retrieve", "plain", "--index", "bad"], ["embed", "--model", "bad"]):
        assert "error: gme-broken 3.4 (gme." in run_gme(site, *words, workspace=small_workspace).stderr


@contextlib.contextmanager
def _registered(registry: Registry[Any], name: str, entry: Any) -> Iterator[None]:
    registry.register(name, entry)
    try:
        yield
    finally:
        registry.unregister(name)


@pytest.fixture(name="run")
def _run(gme: Run) -> Run:
    """The fixture `gme`, which has the package's name."""
    return gme


@dataclass(frozen=True)
class Plain(Options):
    """A field that says nothing about itself."""

    size: int = 3


@dataclass(frozen=True)
class Listed(Options):
    """A field that no command line can give."""

    sizes: list[int] = field(default_factory=list, metadata={"help": "", "choices": None})


@dataclass(frozen=True)
class Illegal(Options):
    """A default out of range."""

    size: int = option(3, "a size", high=2)


@dataclass(frozen=True)
class Taken(PlainOptions):
    """An option that the commands have themselves."""

    threads: int = option(3, "a number")


@dataclass(frozen=True)
class OtherMix(PlainOptions):
    """Another type than that of the built-in strategies."""

    mix: int = option(3, "a number")


@dataclass(frozen=True)
class NoBudget(Options):
    """No budget."""

    depth: int = option(3, "a number")


@dataclass(frozen=True)
class Undefined(Options):
    """An option of a type that is not there."""

    size: NoSuchType = option(3, "a number")  # type: ignore[name-defined]  # noqa: F821, RUF009


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (Undefined, "NameError: name 'NoSuchType' is not defined"),
        (dict, "its options must be a dataclass derived from gme.Options"),
        (7, "its options must be a dataclass derived from gme.Options"),
        (Plain, "its option --size is not declared with gme.option"),
        (Listed, "its option --sizes is of type list\\[int\\]: a command line gives bool, .* with choices="),
        (Illegal, "its defaults are not legal: --size is 3, but must be at most 2"),
        (Taken, "the command has an option --threads of its own"),
        (OtherMix, "its option --mix is declared with another type than that of gme's own strategies"),
        (NoBudget, "a strategy must have an option --budget"),
    ],
)
def test_options_that_no_command_line_can_show_are_refused(options: Any, fault: str) -> None:
    entry = gme.Strategy(lambda search, options, schedule: None, options, "a test")
    with pytest.raises(GmeError, match=fault):
        gme.register_strategy("bad", entry)
    assert "bad" not in gme.STRATEGIES


def test_a_transform_that_needs_an_option_must_have_it() -> None:
    def run(graph: Any, vectors: Any, options: Any, context: Any) -> Any:
        raise AssertionError

    for needs, fault in (({"needs_vectors": False}, "an option --dim"), ({"needs_source": True}, "an option --source")):
        with pytest.raises(GmeError, match=fault):
            gme.register_transform("bad", gme.Transform("a test", Options, run, **needs))


@pytest.mark.parametrize(
    ("registry", "entry", "fault"),
    [
        (gme.TRANSFORMS, gme.Transform("a test", Options, None), "its run must be a function, found None"),  # type: ignore[arg-type]
        (gme.TRANSFORMS, gme.Transform("a test", Options, "module:name"), "its run must be a function"),  # type: ignore[arg-type]
        (gme.STRATEGIES, gme.Strategy(7, PlainOptions, "a test"), "its run must be a function, found 7"),  # type: ignore[arg-type]
        (gme.STORES, gme.StoreKind("a test", None), "its open must be a function, found None"),  # type: ignore[arg-type]
        (gme.MODELS, gme.EmbedderKind("bad", "no_colon"), "its build must be a function, or module:name, found 'no_"),
        (gme.READERS, gme.Reader("a test", Options, None, ()), "its function must be a function, or module:name"),  # type: ignore[arg-type]
        (gme.EDGE_BUILDERS, gme.EdgeBuilder("a test", Options, None), "its find must be a function, found None"),  # type: ignore[arg-type]
    ],
)
def test_an_entry_without_a_function_is_refused(registry: Registry[Any], entry: Any, fault: str) -> None:
    with pytest.raises(GmeError, match=fault):
        registry.register("bad", entry)
    assert "bad" not in registry


@pytest.mark.parametrize("name", ["original", "questions"])
def test_a_transform_has_no_name_that_a_collection_can_not_have(name: str) -> None:
    def run(graph: Any, vectors: Any, options: Any, context: Any) -> Any:
        raise AssertionError

    with pytest.raises(GmeError, match=f"'{name}' has a meaning of its own"):
        gme.register_transform(name, gme.Transform("a test", Options, run))


@pytest.mark.parametrize("name", [None, 7, "", "a b"])
def test_what_is_no_name_is_refused(name: Any) -> None:
    with pytest.raises(GmeError, match="a name is of lower-case letters"):
        Registry("thing", "gme.things", Thing, {}).register(name, Thing(len))


def test_names_that_are_taken() -> None:
    registry = Registry("thing", "gme.things", Thing, {"own": Thing(len)}, rules=Rules(names=("auto",)))
    registry.register("mine", Thing(len))
    for name, fault, hint in (
        ("own", "'own' has a meaning of its own in gme", "see gme.Thing"),
        ("auto", "'auto' has a meaning of its own in gme", "see gme.Thing"),
        ("mine", "the name is taken", "pass replace=True to replace it"),
    ):
        with pytest.raises(GmeError, match=fault) as caught:
            registry.register(name, Thing(len))
        assert caught.value.hint == hint
    other = Thing(max)
    registry.register("mine", other, replace=True)
    assert registry["mine"] is other
    with pytest.raises(GmeError, match="has a meaning of its own"):
        registry.register("own", other, replace=True)
    registry.unregister("mine")
    assert list(registry) == ["own"]
    with pytest.raises(KeyError):
        registry["mine"]


def test_what_is_registered_says_which_module_or_distribution_defines_it() -> None:
    registry = Registry("thing", "gme.things", Thing, {})
    registry.register("here", Thing(lambda: None))
    registry.register("there", Thing(pytest.raises))
    assert registry.source("here") == {"module": __name__, **CODE}
    there = registry.source("there")
    assert (there["distribution"], there["version"]) == ("pytest", pytest.__version__)


def test_what_is_registered_works_in_the_command_line(run: Run, small_workspace: Path) -> None:
    def negative(graph: Any, vectors: Any, options: Options, context: Any) -> gme.Transformed:
        return gme.Transformed(-vectors, {})

    with _registered(gme.TRANSFORMS, "negative", gme.Transform("a test", Options, negative)):
        assert "negative   a test" in run("transform", "--help")[1]
        assert run("transform", "negative", "-w", small_workspace)[:2] == (0, "negative\n")
        manifest = gme.Workspace(small_workspace).collection("negative").manifest
        assert manifest["plugins"] == {"method": {"module": __name__, **CODE}}
    assert run("transform", "negative", "-w", small_workspace)[0] == 2


EDGE = {"source": "a", "target": "e", "type": "next"}


def _chain(nodes: Any, options: Options, threads: int, progress: Any) -> Found:
    return Found([EDGE])


def _more(nodes: Any, options: Options, threads: int, progress: Any) -> Found:
    return Found([], [{"id": "new"}])


def test_a_builder_from_outside_adds_no_nodes(run: Run, small_workspace: Path) -> None:
    before = (small_workspace / "nodes.jsonl").read_bytes()
    with _registered(gme.EDGE_BUILDERS, "more", gme.EdgeBuilder("A test.", Options, _more)):
        code, _, err = run("graph", "more", "-w", small_workspace)
    assert code == 1
    assert err == "error: edge builder 'more' returned nodes\nhint: only the builder 'entities' can add nodes\n"
    assert (small_workspace / "nodes.jsonl").read_bytes() == before


def test_edges_of_a_builder_that_is_gone_stay_and_are_remembered(run: Run, small_workspace: Path) -> None:
    with _registered(gme.EDGE_BUILDERS, "chain", gme.EdgeBuilder("A test.", Options, _chain)):
        assert run("graph", "chain", "-w", small_workspace)[0] == 0
    assert run("graph", "links", "-w", small_workspace)[0] == 0
    origin = gme.Workspace(small_workspace).origin("edges.jsonl")
    assert origin is not None
    assert origin["command"] == "gme graph links && gme graph chain"
    edges = [json.loads(line) for line in (small_workspace / "edges.jsonl").read_text().splitlines()]
    assert {**EDGE, "by": "gme graph chain"} in edges


def test_a_store_must_go_by_the_name_it_is_opened_by(run: Run, small_workspace: Path) -> None:
    with _registered(gme.STORES, "other", gme.StoreKind("a test", lambda exact, request: exact)):
        code, _, err = run("retrieve", "plain", "--index", "other", "-w", small_workspace)
    assert (code, err) == (1, "error: store 'other' says that its kind is 'exact'\nhint: both must be the same name\n")


def test_the_commands_own_options_are_reserved() -> None:
    from inspect import signature

    from gme.pipeline.retrieve import retrieve_workspace
    from gme.retrieval.batch import retrieve

    named = {*RETRIEVE_PARAMETERS, *signature(retrieve).parameters, *signature(retrieve_workspace).parameters}
    assert set(gme.STRATEGIES._rules.options) == named - {"options"}


def test_help_of_the_whole_looks_at_no_entry_point(site: Path) -> None:
    code = (
        "import sys; sys.argv = ['gme', '--help']\n"
        "from gme.cli import run\n"
        "run(['--help'])\n"
        "assert not {'importlib.metadata', 'numpy', 'gme.registry'} & set(sys.modules), sys.modules.keys()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
