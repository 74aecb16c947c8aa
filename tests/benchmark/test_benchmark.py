"""The synthetic network: size, schema, names, determinism, scale, and `gme generate` as users type it."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from conftest import REPOSITORY, Run
from gme.benchmark import Benchmark, generate
from gme.benchmark.draws import Deck, Draws, Permutation
from gme.benchmark.sectors import SECTORS
from gme.benchmark.vocabulary import SPLITS, Vocabulary
from gme.errors import GmeError
from gme.workspace import Workspace

GOLDEN = REPOSITORY / "tests" / "golden" / "benchmark.json"
FILES = ("nodes.jsonl", "edges.jsonl", "questions.jsonl")

# GME, appendix A: the validation graph.
PUBLISHED = {
    "nodes": 1759, "edges": 3665, "person": 133, "organisation": 228, "resume": 133, "rosters": 94, "project": 326,
    "job": 319, "education": 195, "endorsement": 133, "certification": 104, "mentions": 2267, "part_of": 1171,
    "about": 227, "roster mentions": 256,
}  # fmt: skip

Parts = tuple[list[dict[str, Any]], list[dict[str, Any]]]


def parts(benchmark: Benchmark) -> Parts:
    return list(benchmark.nodes()), list(benchmark.edges())


@pytest.fixture(scope="module")
def validation() -> Parts:
    return parts(generate("validation"))


def counts(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> dict[str, int]:
    kinds = Counter((node["type"], node["source"]["kind"]) for node in nodes)
    types = Counter(edge["type"] for edge in edges)
    roster_mentions = sum(
        edge["source"].startswith("chunk:roster:") and edge["target"].startswith("entity:person:") for edge in edges
    )
    chunks = {kind: count for (node_type, kind), count in kinds.items() if node_type == "chunk"}
    assert chunks["roster"] == kinds["document", "roster"]
    return {
        "nodes": len(nodes),
        "edges": len(edges),
        "person": kinds["entity", "person"],
        "organisation": kinds["entity", "university"] + kinds["entity", "employer"],
        "resume": kinds["document", "resume"],
        "rosters": chunks.pop("roster"),
        "roster mentions": roster_mentions,
        **chunks,
        **types,
    }


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("seed", [42, 0, 1, 7, 123, 2024, 99999])
def test_every_count_is_within_a_tenth_of_the_published_one(split: str, seed: int) -> None:
    found = counts(*parts(generate(split, seed, questions=1)))
    assert found.keys() == PUBLISHED.keys()
    for name, published in PUBLISHED.items():
        assert abs(found[name] - published) <= published / 10, (name, found[name])


def test_edges_follow_the_three_patterns(validation: Parts) -> None:
    nodes, edges = validation
    types = {node["id"]: node["type"] for node in nodes}
    assert len(types) == len(nodes)
    patterns = {(types[edge["source"]], edge["type"], types[edge["target"]]) for edge in edges}
    assert patterns == {
        ("chunk", "part_of", "document"),
        ("document", "about", "entity"),
        ("chunk", "mentions", "entity"),
    }
    assert len({(edge["source"], edge["target"]) for edge in edges}) == len(edges)


def test_edges_are_what_the_sources_say(validation: Parts) -> None:
    nodes, edges = validation
    expected = set()
    for node in nodes:
        source, kind = node["source"], node["source"]["kind"]
        if node["type"] == "document":
            about = f"person:{source['person']}" if kind == "resume" else f"org:{source['employer']}"
            expected.add((node["id"], f"entity:{about}", "about"))
        elif node["type"] == "chunk":
            document = f"roster:{source['employer']}" if kind == "roster" else f"resume:{source['person']}"
            expected.add((node["id"], f"document:{document}", "part_of"))
            mentioned = [f"person:{person}" for person in source.get("employees", [source.get("person")])]
            if kind in ("job", "project", "roster"):
                mentioned.append(f"org:{source['employer']}")
            elif kind == "education":
                mentioned.append(f"org:{source['university']}")
            expected.update((node["id"], f"entity:{name}", "mentions") for name in mentioned)
    assert {(edge["source"], edge["target"], edge["type"]) for edge in edges} == expected


def test_people_have_plausible_lives(validation: Parts) -> None:
    nodes, _ = validation
    lives: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for node in nodes:
        if node["type"] == "chunk" and node["source"]["kind"] != "roster":
            source = node["source"]
            lives.setdefault(source["person"], {}).setdefault(source["kind"], []).append(source)
    degrees: Counter[str] = Counter()
    for life in lives.values():
        jobs, education = life["job"], life["education"]
        assert 1 <= len(jobs) <= 4
        assert 1 <= len(education) <= 2
        assert len(life.get("certification", [])) <= 3
        assert len(life.get("endorsement", [])) <= 2
        assert all(first["end"] <= second["start"] for first, second in itertools.pairwise(jobs))
        assert len({job["employer"] for job in jobs}) == len(jobs)
        assert all(0 < degree["end"] - degree["start"] <= 6 for degree in education)
        assert education[-1]["end"] <= int(jobs[0]["start"][:4])
        degrees.update(degree["degree"] for degree in education)
        practiced = {skill for job in jobs for skill in job["skills"]}
        assert practiced.issuperset(endorsement["skill"] for endorsement in life.get("endorsement", []))
        projects: Counter[str] = Counter(project["employer"] for project in life.get("project", []))
        assert max(projects.values(), default=0) <= 2
        for project in life.get("project", []):
            (job,) = [job for job in jobs if job["employer"] == project["employer"]]
            assert set(project["skills"]) <= set(job["skills"])
            assert job["start"][:4] <= str(project["year"]) <= job["end"][:4]
    share = {degree: count / degrees.total() for degree, count in degrees.items()}
    assert share == pytest.approx({"Bachelor's": 0.5, "Master's": 0.35, "PhD": 0.15}, abs=0.03)


def test_a_fifth_of_the_roles_come_from_related_sectors(validation: Parts) -> None:
    words = Vocabulary("validation", 42)
    per_sector = len(words.titles) // len(SECTORS)
    home = {title: SECTORS[number // per_sector] for number, title in enumerate(words.titles)}
    jobs = [node["source"] for node in validation[0] if node["source"]["kind"] == "job"]
    moved = [job for job in jobs if home[job["title"]].name != job["sector"]]
    assert len(moved) / len(jobs) == pytest.approx(0.2, abs=0.02)
    related = {sector.name: sector.related for sector in SECTORS}
    assert all(home[job["title"]].name in related[job["sector"]] for job in moved)


def test_texts_say_what_the_sources_say(validation: Parts) -> None:
    for node in validation[0]:
        text, source = node["text"], node["source"]
        assert "{" not in text
        if node["type"] != "chunk":
            assert text == node["title"]
            continue
        assert text[0].isupper() or text[0].isdigit()
        assert 8 <= len(text.split()) <= 60
        for key in (
            "person",
            "employer",
            "university",
            "field",
            "degree",
            "project",
            "certification",
            "skill",
            "relation",
        ):
            assert source.get(key, "") in text, (key, text)
        assert all(value in text for value in source.get("skills", []) + source.get("employees", []))
        if source["kind"] == "job":
            assert source["title"] in text
            assert source["start"][:4] in text
            assert source["end"][:4] in text


def test_splits_share_no_id_and_no_vocabulary() -> None:
    found = {split: parts(generate(split))[0] for split in SPLITS}
    for first, second in itertools.combinations(SPLITS, 2):
        assert not {node["id"] for node in found[first]} & {node["id"] for node in found[second]}
        for key in ("person", "employer", "university", "title", "project", "certification", "field"):
            one, two = ({n["source"].get(key) for n in found[split]} - {None} for split in (first, second))
            assert one
            assert not one & two, key
        one, two = (
            {skill for n in found[split] for skill in n["source"].get("skills", ())} for split in (first, second)
        )
        assert not one & two
        first_names, last_names = (
            [{node["source"]["person"].split()[place] for node in found[split] if "person" in node["source"]}
             for split in (first, second)]
            for place in (0, -1)
        )  # fmt: skip
        assert not first_names[0] & first_names[1]
        assert not last_names[0] & last_names[1]


def test_pools_are_of_the_published_size_and_without_duplicates() -> None:
    from gme.benchmark import names

    assert len(set(names.FIRST_NAMES)) == 512
    assert len(set(names.LAST_NAMES)) == 458
    assert len(SECTORS) == 11
    terms = [
        term.lower()
        for sector in SECTORS
        for pool in (sector.titles, sector.skills, sector.certifications, sector.projects, sector.fields)
        for term in pool
    ]
    assert len(set(terms)) == len(terms)
    for name in (*names.FIRST_NAMES, *names.LAST_NAMES, *names.PLACES):
        assert unicodedata.is_normalized("NFC", name)
        assert ":" not in name
    words = Vocabulary("test", 1)
    assert {
        len(getattr(words, pool)) % 11 for pool in ("titles", "skills", "certifications", "projects", "fields")
    } == {0}


def test_names_stay_unique_when_the_pools_run_out() -> None:
    words = Vocabulary("validation", 42)
    people = [words.person(number) for number in range(60_000)]
    assert len(set(people)) == len(people)
    assert all(len(name.split()) == 2 for name in people[:25_000])
    assert {len(name.split()) for name in people} == {2, 3}
    employers = [words.employer(sector, number) for sector in (0, 10) for number in range(40_000)]
    assert len(set(employers)) == len(employers)
    universities = [words.university(number) for number in range(60_000)]
    assert len(set(universities)) == len(universities)
    assert words.person(800_000).count(".") == 2


def test_the_same_bytes_for_any_hash_seed_and_locale(tmp_path: Path) -> None:
    digests = set()
    for number, hash_seed in enumerate(("0", "1", "random")):
        folder = tmp_path / str(number)
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "LC_ALL": "C", "TZ": "Asia/Tokyo"}
        arguments = ["generate", "-w", str(folder), "--split", "test", "--people", "80", "--seed", "6"]
        code = f"import sys; from gme.cli import run; sys.exit(run({arguments!r}))"
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
        digests.add(tuple(hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES))
    assert len(digests) == 1


@pytest.mark.parametrize("split", SPLITS)
def test_golden_bytes(split: str, tmp_path: Path) -> None:
    """Update tests/golden/benchmark.json only for an intended change: published results depend on these bytes."""
    generate(split).write(Workspace(tmp_path))
    found = {name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in FILES}
    assert found == json.loads(GOLDEN.read_text())[split]


def test_seeds_differ() -> None:
    first, second = (list(generate(seed=seed, questions=1).nodes()) for seed in (1, 2))
    assert {node["id"] for node in first} != {node["id"] for node in second}


def test_workspace_reads_what_is_written(tmp_path: Path) -> None:
    benchmark = generate("development", people=50, questions=5)
    written = benchmark.write(Workspace(tmp_path))
    workspace = Workspace(tmp_path)
    assert len(workspace.nodes) == sum(written["nodes"].values())
    assert len(workspace.edges) == sum(written["edges"].values())
    assert len(workspace.questions) == len(benchmark.questions) == 55
    assert benchmark.total() == sum(sum(counter.values()) for counter in written.values())
    chunks = {
        node_id for node_id, kind in zip(workspace.nodes.ids, workspace.nodes.types, strict=True) if kind == "chunk"
    }
    assert all(gold == sorted(gold) and chunks.issuperset(gold) for gold in workspace.questions.gold)
    assert all(workspace.questions.gold)


def test_a_failed_write_leaves_all_three_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generate(people=20, questions=1).write(Workspace(tmp_path))
    before = {name: (tmp_path / name).read_bytes() for name in FILES}

    def full(_: Benchmark) -> Any:
        yield {"source": "a", "target": "b", "type": "part_of"}
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Benchmark, "edges", full)
    with pytest.raises(OSError, match="No space left"):
        generate(people=30, questions=1).write(Workspace(tmp_path))
    assert {name: (tmp_path / name).read_bytes() for name in FILES} == before
    assert sorted(path.name for path in tmp_path.glob("*.*")) == sorted(FILES)


def peak_memory(people: int, folder: Path) -> int:
    """Bytes that a process of its own needed at most to generate and write."""
    script = (
        "from pathlib import Path; from gme.benchmark import write_benchmark; from gme.workspace import Workspace\n"
        f"write_benchmark(Workspace({str(folder)!r}), people={people}, questions=20)\n"
        "status = Path('/proc/self/status').read_text().split()\n"
        "print(int(status[status.index('VmHWM:') + 1]) * 1024)"
    )
    return int(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's account of peak memory")
def test_five_thousand_people_stream(tmp_path: Path) -> None:
    peak = peak_memory(5000, tmp_path)
    written = sum((tmp_path / name).stat().st_size for name in FILES)
    grown = peak - peak_memory(50, tmp_path / "small")
    assert grown < written / 2, f"{grown:,} bytes more than a small network for {written:,} bytes of files"
    ids = [orjson.loads(line)["id"] for line in (tmp_path / "nodes.jsonl").read_bytes().splitlines()]
    assert len(set(ids)) == len(ids)


def test_progress_reaches_its_total(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    generate(people=3000, questions=10, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[0] == (1000, 3110)
    assert seen[-1] == (3110, 3110)


@pytest.mark.parametrize("people", [2, 3, 5, 11])
def test_tiny_networks(people: int, tmp_path: Path) -> None:
    benchmark = generate(people=people)
    benchmark.write(Workspace(tmp_path))
    found = Counter(question["family"] for question in benchmark.questions)
    assert {shortage.family: shortage.found for shortage in benchmark.shortages} == {
        shortage.family: found[shortage.family] for shortage in benchmark.shortages
    }
    assert {shortage.family for shortage in benchmark.shortages} >= {"hop2", "hop3", "extremize_collect"}
    assert len(Workspace(tmp_path).nodes) > 3 * people


# ---- the command ----


def test_command_prints_counts(tmp_path: Path, gme: Run) -> None:
    code, out, err = gme("generate", "-w", tmp_path, "--split", "test", "--people", "40", "--questions", "3")
    assert (code, err) == (0, "")
    lines = [line.split("\t") for line in out.splitlines()]
    assert [line[0] for line in lines] == ["nodes", "edges", "questions"]
    assert int(lines[0][1]) == len((tmp_path / "nodes.jsonl").read_bytes().splitlines())
    assert lines[2][1] == "33"


def test_command_json_and_replacing(tmp_path: Path, gme: Run) -> None:
    assert gme("generate", "-w", tmp_path, "--people", "40", "--questions", "3")[0] == 0
    code, out, err = gme("generate", "-w", tmp_path, "--people", "41", "--questions", "3", "--json")
    assert code == 0
    assert "replaced the benchmark files" in err
    summary = json.loads(out)
    assert (summary["split"], summary["seed"], summary["people"]) == ("validation", 42, 41)
    assert summary["nodes"]["entity:person"] == 41
    assert summary["questions"]["hop3"] == 3
    assert summary["shortages"] == {}


def test_command_says_which_family_is_short_and_why(tmp_path: Path, gme: Run) -> None:
    code, out, err = gme("generate", "-w", tmp_path, "--people", "3")
    assert code == 0
    assert "warning: hop3 has " in err
    assert "of 90 questions: all " in err
    assert "hint: ask for more --people or fewer --questions" in err
    assert out.startswith("nodes\t")
    code, _, err = gme("generate", "-w", tmp_path, "--people", "3", "--quiet")
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--split", "validaton"], "error: unknown split 'validaton'\nhint: did you mean 'validation'?"),
        (["--people", "1"], "error: people is 1, but must be a whole number of at least 2"),
        (["--people", "9" * 23], f"error: people is {'9' * 23}, but must be at most 10,000,000"),
        (["--questions", "9" * 23], f"error: questions is {'9' * 23}, but must be at most 1,000,000"),
        (["--questions", "0"], "error: questions is 0, but must be a whole number of at least 1"),
        (["--seed", "-1"], "error: seed is -1, but must be a whole number of at least 0"),
    ],
)
def test_command_refuses(arguments: list[str], message: str, tmp_path: Path, gme: Run) -> None:
    code, out, err = gme("generate", "-w", tmp_path, *arguments)
    assert (code, out) == (1, "")
    assert err.startswith(message)
    assert not list(tmp_path.iterdir())


def test_library_refuses_what_is_not_a_number() -> None:
    for wrong in (2.5, "10", True):
        with pytest.raises(GmeError, match="must be a whole number"):
            generate(people=wrong)  # type: ignore[arg-type]


# ---- draws ----


def test_draws_are_pinned() -> None:
    """splitmix64 of a fixed key: these must never change."""
    draws = Draws("pinned", 1)
    assert [draws.below(1000) for _ in range(8)] == [293, 152, 159, 287, 638, 621, 516, 421]


@pytest.mark.parametrize("size", [1, 2, 3, 17, 256, 1000])
def test_permutation_is_one(size: int) -> None:
    order = Permutation(size, "key")
    assert sorted(order[place] for place in range(size)) == list(range(size))


def test_draws_are_even() -> None:
    draws = Draws("even")
    seen = Counter(draws.below(7) for _ in range(70_000))
    expected = 10_000
    assert sum((seen[value] - expected) ** 2 / expected for value in range(7)) < 22.5  # chi-square, 6 degrees, p = .001


def test_deck_meets_its_shares_and_deals_distinct_cards() -> None:
    deck = Deck((0, 0, 0, 1), "deck")
    assert Counter(deck.deal() for _ in range(400)) == {0: 300, 1: 100}
    for _ in range(50):
        assert sorted(deck.deal_distinct(2)) == [0, 1]
