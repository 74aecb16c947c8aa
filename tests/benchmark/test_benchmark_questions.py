"""Gold sets and answers, recomputed from the written files by a slow twin that shares no code with the generator."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest

from gme.benchmark import generate, write_benchmark
from gme.workspace import Workspace

Row = dict[str, Any]
Found = tuple[list[Row], str]


def read(path: Path) -> list[Row]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture(
    scope="module", params=[("validation", 42, None, 90), ("test", 3, 60, 40), ("development", 5, 400, 150)]
)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Row], list[Row]]:
    """Chunks as rows of their `source` plus id, and the questions."""
    split, seed, people, questions = request.param
    folder = tmp_path_factory.mktemp("benchmark")
    write_benchmark(Workspace(folder), split=split, seed=seed, people=people, questions=questions)
    chunks = [{"id": n["id"], **n["source"]} for n in read(folder / "nodes.jsonl") if n["type"] == "chunk"]
    return chunks, read(folder / "questions.jsonl")


class Oracle:
    """Answers by scanning all chunks."""

    def __init__(self, chunks: list[Row]) -> None:
        self.chunks = chunks

    def of(self, kind: str, **wanted: Any) -> list[Row]:
        """Chunks whose fields have the wanted values (one of them, where a set is given)."""

        def fits(row: Row) -> bool:
            return all(
                row[name] in value if isinstance(value, set) else row[name] == value for name, value in wanted.items()
            )

        return [row for row in self.chunks if row["kind"] == kind and fits(row)]

    def skilled(self, kind: str, skill: str, start: str = "") -> list[Row]:
        return [r for r in self.of(kind) if skill in r["skills"] and (not start or r["start"].startswith(start))]

    def answer(self, function: str, given: dict[str, str]) -> Found:
        return ORACLES[function](self, **given)


def names(rows: Iterable[Row], field: str) -> str:
    return "; ".join(sorted({row[field] for row in rows}))


def listing(rows: list[Row], field: str) -> Found:
    return rows, names(rows, field)


def persons(rows: Iterable[Row]) -> set[str]:
    return {row["person"] for row in rows}


def only_best(scores: dict[str, Any], *, least: bool = False) -> str:
    """The key with the best score, which must be the only one and must have had a competitor."""
    assert len(scores) > 1
    best = (min if least else max)(scores.values())
    (winner,) = [key for key, score in scores.items() if score == best]
    return winner


def best_row(rows: list[Row], field: str, *, least: bool = False) -> Row:
    winner = only_best({row["id"]: row[field] for row in rows}, least=least)
    return next(row for row in rows if row["id"] == winner)


def totals(rows: list[Row]) -> dict[str, int]:
    months: dict[str, int] = defaultdict(int)
    for row in rows:
        months[row["person"]] += row["months"]
    return months


def own(kind: str, field: str) -> Callable[..., Found]:
    return lambda o, person: listing(o.of(kind, person=person), field)


def own_two(first: str, first_field: str, second: str, second_field: str) -> Callable[..., Found]:
    def compute(o: Oracle, person: str) -> Found:
        one, two = o.of(first, person=person), o.of(second, person=person)
        assert one
        assert two
        return one + two, f"{names(one, first_field)}; {names(two, second_field)}"

    return compute


def place(kind: str, where: str, field: str) -> Callable[..., Found]:
    return lambda o, **given: listing(o.of(kind, **{where: given[where]}), field)


def roster_of(o: Oracle, employer: str) -> Found:
    (roster,) = o.of("roster", employer=employer)
    assert set(roster["employees"]) == persons(o.of("job", employer=employer))
    return [roster], "; ".join(sorted(roster["employees"]))


def same(kind: str, field: str) -> Callable[..., Found]:
    def compute(o: Oracle, person: str, other: str) -> Found:
        first, second = o.of(kind, person=person), o.of(kind, person=other)
        shared = {row[field] for row in first} & {row[field] for row in second}
        return first + second, "yes: " + "; ".join(sorted(shared)) if shared else "no"

    return compute


def more_certifications(o: Oracle, person: str, other: str) -> Found:
    rows = o.of("certification", person={person, other})
    return rows, only_best(dict(Counter(row["person"] for row in rows)))


def longer_job(o: Oracle, person: str, other: str) -> Found:
    rows = o.of("job", person={person, other})
    return rows, only_best({one: max(r["months"] for r in rows if r["person"] == one) for one in (person, other)})


def tenure_and_skills(o: Oracle, person: str, employer: str) -> Found:
    (job,) = o.of("job", person=person, employer=employer)
    return [job], f"{job['months']} months; {'; '.join(sorted(job['skills']))}"


def role_and_projects(o: Oracle, person: str, employer: str) -> Found:
    (job,) = o.of("job", person=person, employer=employer)
    projects = o.of("project", person=person, employer=employer)
    assert projects
    return [job, *projects], f"{job['title']}; {names(projects, 'project')}"


def titled(o: Oracle, title: str, year: str = "", month: str = "") -> list[Row]:
    return [row for row in o.of("job", title=title) if row["start"].startswith(year or month)]


def longest_as(o: Oracle, **given: str) -> Found:
    rows = titled(o, **given)
    return rows, best_row(rows, "months")["person"]


def longest_with(o: Oracle, skill: str) -> Found:
    rows = o.skilled("job", skill)
    return rows, best_row(rows, "months")["person"]


def best_at(kind: str, where: str, field: str, answer: str = "person", *, least: bool = False) -> Callable[..., Found]:
    def compute(o: Oracle, **given: str) -> Found:
        rows = o.of(kind, **{where: given[where]})
        return rows, best_row(rows, field, least=least)[answer]

    return compute


def largest_team(o: Oracle, skill: str) -> Found:
    rows = o.skilled("project", skill)
    return rows, best_row(rows, "team")["person"]


def of_experienced(kind: str, field: str) -> Callable[..., Found]:
    def compute(o: Oracle, skill: str, year: str = "", month: str = "") -> Found:
        jobs = o.skilled("job", skill, year or month)
        further = o.of(kind, person=only_best(totals(jobs)))
        assert further
        return jobs + further, names(further, field)

    return compute


def of_longest(kind: str, field: str) -> Callable[..., Found]:
    def compute(o: Oracle, title: str) -> Found:
        jobs, winner = longest_as(o, title=title)
        further = o.of(kind, person=winner)
        assert further
        return jobs + further, names(further, field)

    return compute


def most_certified_from(o: Oracle, university: str) -> Found:
    degrees = o.of("education", university=university)
    found = o.of("certification", person=persons(degrees))
    counts = {person: sum(row["person"] == person for row in found) for person in persons(degrees)}
    return degrees + found, only_best(counts)


def longest_job_from(o: Oracle, university: str) -> Found:
    degrees = o.of("education", university=university)
    jobs = o.of("job", person=persons(degrees))
    longest = {person: max(r["months"] for r in jobs if r["person"] == person) for person in persons(degrees)}
    return degrees + jobs, only_best(longest)


def joined(kind: str, where: str, then: str, field: str) -> Callable[..., Found]:
    def compute(o: Oracle, **given: str) -> Found:
        rows = o.of(kind, **{where: given[where]})
        assert len(persons(rows)) > 1
        further = [row for row in o.of(then, person=persons(rows)) if row not in rows]
        assert further
        return rows + further, names(further, field)

    return compute


def largest_employer_from(o: Oracle, university: str) -> Found:
    degrees = o.of("education", university=university)
    employers = {row["employer"] for row in o.of("job", person=persons(degrees))}
    jobs = o.of("job", employer=employers)
    staff = {employer: len(persons(o.of("job", employer=employer))) for employer in employers}
    return degrees + jobs, only_best(staff)


def fellow_graduates_at(o: Oracle, employer: str) -> Found:
    jobs = o.of("job", employer=employer)
    universities = {row["university"] for row in o.of("education", person=persons(jobs))}
    degrees = o.of("education", university=universities)
    others = persons(degrees) - persons(jobs)
    assert others
    return jobs + degrees, "; ".join(sorted(others))


def of_colleagues(kind: str, field: str) -> Callable[..., Found]:
    def compute(o: Oracle, person: str) -> Found:
        employers = {row["employer"] for row in o.of("job", person=person)}
        jobs = o.of("job", employer=employers)
        further = [row for row in o.of(kind, person=persons(jobs) - {person}) if row not in jobs]
        assert further
        return jobs + further, names(further, field)

    return compute


ORACLES: dict[str, Callable[..., Found]] = {
    "certifications_of": own("certification", "certification"),
    "endorsements_of": own("endorsement", "skill"),
    "universities_of": own("education", "university"),
    "employers_of": own("job", "employer"),
    "projects_of": own("project", "project"),
    "degrees_at": place("education", "university", "degree"),
    "positions_at": place("job", "employer", "title"),
    "projects_at": place("project", "employer", "project"),
    "roster_of": roster_of,
    "same_employer": same("job", "employer"),
    "same_university": same("education", "university"),
    "more_certifications": more_certifications,
    "longer_job": longer_job,
    "tenure_and_skills": tenure_and_skills,
    "role_and_projects": role_and_projects,
    "degrees_and_certifications": own_two("education", "degree", "certification", "certification"),
    "employers_and_endorsements": own_two("job", "employer", "endorsement", "skill"),
    "people_from": place("education", "university", "person"),
    "people_at": place("job", "employer", "person"),
    "project_people_at": place("project", "employer", "person"),
    "holders_of": place("certification", "certification", "person"),
    "longest_as": longest_as,
    "longest_as_from": longest_as,
    "longest_with": longest_with,
    "longest_in": best_at("job", "sector", "months"),
    "largest_team": largest_team,
    "certifications_of_experienced": of_experienced("certification", "certification"),
    "certifications_of_experienced_from": of_experienced("certification", "certification"),
    "universities_of_experienced": of_experienced("education", "university"),
    "certifications_of_longest": of_longest("certification", "certification"),
    "employers_of_longest": of_longest("job", "employer"),
    "longest_at": best_at("job", "employer", "months"),
    "first_at": best_at("job", "employer", "start", least=True),
    "latest_from": best_at("education", "university", "end"),
    "longest_job_of": best_at("job", "person", "months", "employer"),
    "most_certified_from": most_certified_from,
    "longest_job_from": longest_job_from,
    "certifications_at": joined("job", "employer", "certification", "certification"),
    "endorsements_at": joined("job", "employer", "endorsement", "skill"),
    "certifications_from": joined("education", "university", "certification", "certification"),
    "universities_at": joined("job", "employer", "education", "university"),
    "employers_from": joined("education", "university", "job", "employer"),
    "other_employers_at": joined("job", "employer", "job", "employer"),
    "employers_of_holders": joined("certification", "certification", "job", "employer"),
    "largest_employer_from": largest_employer_from,
    "fellow_graduates_at": fellow_graduates_at,
    "universities_of_colleagues": of_colleagues("education", "university"),
    "employers_of_colleagues": of_colleagues("job", "employer"),
}


def test_gold_and_answer_are_what_a_scan_of_all_chunks_finds(written: tuple[list[Row], list[Row]]) -> None:
    chunks, questions = written
    oracle = Oracle(chunks)
    for question in questions:
        rows, answer = oracle.answer(question["source"]["function"], question["source"]["arguments"])
        assert question["gold"] == sorted({row["id"] for row in rows}), question
        assert question["answer"] == answer, question


def test_every_function_is_asked_by_default() -> None:
    asked = {question["source"]["function"] for question in generate().questions}
    assert asked == {name for name in ORACLES if not name.endswith("_experienced_from") and name != "longest_as_from"}


def test_questions_show_their_arguments_and_differ(written: tuple[list[Row], list[Row]]) -> None:
    _, questions = written
    texts = [question["question"] for question in questions]
    assert len(set(texts)) == len(texts)
    assert len({question["id"] for question in questions}) == len(questions)
    for question in questions:
        for name, value in question["source"]["arguments"].items():
            assert name == "month" or value in question["question"]
        assert "{" not in question["question"]
        assert question["answer"]


def test_families_groups_and_hops() -> None:
    questions = generate(seed=9).questions
    assert Counter(question["family"] for question in questions) == dict.fromkeys(GROUP_OF, 90)
    assert all(question["group"] == GROUP_OF[question["family"]] for question in questions)
    hops = {family: {q["hops"] for q in questions if q["family"] == family} for family in GROUP_OF}
    assert hops["hop1"] == {1}
    assert hops["hop2"] == {2}
    assert hops["hop3"] == {3}


GROUP_OF = {
    **dict.fromkeys(("collect_local", "collect_global", "comparison", "multi_collect", "hop1"), "single-fact"),
    **dict.fromkeys(("extremize", "extremize_collect", "collect_extremize"), "extremisation"),
    **dict.fromkeys(("collect_global_collect", "hop2", "hop3"), "relational"),
}


def test_sizes_of_gold_sets_fit_the_budget_and_grow_with_hops() -> None:
    sizes: dict[str, list[int]] = defaultdict(list)
    for question in generate().questions:
        sizes[question["family"]].append(len(question["gold"]))
    assert all(max(values) <= 40 for family, values in sizes.items() if family != "hop3")
    medians = {family: statistics.median(values) for family, values in sizes.items()}
    assert all(medians[family] <= 5 for family, group in GROUP_OF.items() if group == "single-fact")
    assert medians["hop1"] < medians["hop2"] < medians["hop3"]


def test_comparisons_have_both_answers() -> None:
    answers = [q["answer"] for q in generate().questions if q["source"]["function"] == "same_employer"]
    assert 0.3 < sum(answer == "no" for answer in answers) / len(answers) < 0.7
