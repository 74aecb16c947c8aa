"""The network as the lines of `nodes.jsonl` and `edges.jsonl`: ids, sentences, and the three edge patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .careers import KINDS
from .draws import hash64
from .world import Fact, World

Record = dict[str, Any]

_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def nodes(world: World) -> Iterator[Record]:
    """Every node, one by one: each person with the résumé and its chunks, then organizations, then rosters."""
    for person in range(world.people):
        name = world.person_name(person)
        yield _named(f"entity:person:{name}", "entity", name, {"kind": "person", "person": name})
        yield _named(f"document:resume:{name}", "document", f"Résumé of {name}", {"kind": "resume", "person": name})
        for kind in KINDS:
            for fact in world.facts(kind, person):
                yield _chunk(fact)
    for university in world.keys("education", "university"):
        name = world.university_name(university)
        yield _named(f"entity:org:{name}", "entity", name, {"kind": "university", "university": name})
    for employer in world.keys("job", "employer"):
        name = world.employer_name(employer)
        source = {"kind": "employer", "employer": name, "sector": world.employer_sector(employer)}
        yield _named(f"entity:org:{name}", "entity", name, source)
    for employer in world.rostered:
        name = world.employer_name(employer)
        yield _named(
            f"document:roster:{name}", "document", f"Staff roster of {name}", {"kind": "roster", "employer": name}
        )
        yield _chunk(world.roster(employer))


def edges(world: World) -> Iterator[Record]:
    """Every edge, one by one: part_of (chunk to document), about (document to entity), mentions (chunk to entity)."""
    for person in range(world.people):
        name = world.person_name(person)
        yield _edge(f"document:resume:{name}", f"entity:person:{name}", "about")
        for kind in KINDS:
            for fact in world.facts(kind, person):
                yield _edge(fact.id, f"document:resume:{name}", "part_of")
                yield _edge(fact.id, f"entity:person:{name}", "mentions")
                if kind == "education":
                    yield _edge(fact.id, f"entity:org:{fact.source['university']}", "mentions")
                elif fact.organisation >= 0:
                    yield _edge(fact.id, f"entity:org:{fact.source['employer']}", "mentions")
    for employer in world.rostered:
        roster = world.roster(employer)
        name = roster.source["employer"]
        yield _edge(f"document:roster:{name}", f"entity:org:{name}", "about")
        yield _edge(roster.id, f"document:roster:{name}", "part_of")
        yield _edge(roster.id, f"entity:org:{name}", "mentions")
        for employee in roster.source["employees"]:
            yield _edge(roster.id, f"entity:person:{employee}", "mentions")


def month_words(month: str) -> str:
    """``2014-03`` as people write it: ``March 2014``."""
    year, number = month.split("-")
    return f"{_MONTHS[int(number) - 1]} {year}"


def listing(items: Sequence[str]) -> str:
    """``a``, ``a and b``, or ``a, b and c``."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def article(noun: str) -> str:
    """A noun with "a" or "an" before it."""
    return f"{'an' if noun[0] in 'AEIOUaeiou' and not noun.startswith('Uni') else 'a'} {noun}"


def _edge(source: str, target: str, kind: str) -> Record:
    return {"source": source, "target": target, "type": kind}


def _named(node_id: str, kind: str, title: str, source: Record) -> Record:
    return {"id": node_id, "type": kind, "text": title, "title": title, "source": source}


def _chunk(fact: Fact) -> Record:
    forms = _FORMS[fact.kind]
    text = forms[hash64(fact.id) % len(forms)].format(**_words(fact))
    return {"id": fact.id, "type": "chunk", "text": text, "source": {"kind": fact.kind, **fact.source}}


def _words(fact: Fact) -> dict[str, Any]:
    """The values for the placeholders in the sentences of a kind."""
    source = fact.source
    words = dict(source)
    if "skills" in source:
        words["skills"] = listing(source["skills"])
    if fact.kind == "job":
        words.update(
            a_title=article(source["title"]),
            start=month_words(source["start"]),
            end=month_words(source["end"]),
            span=_span(source["months"]),
        )
    elif fact.kind == "education":
        words["years"] = f"{source['start']} to {source['end']}"
        words["a_degree"] = f"a {source['degree']}" + ("" if source["degree"] == "PhD" else " degree")
    elif fact.kind == "certification":
        words["date"] = month_words(source["date"])
    elif fact.kind == "endorsement":
        words["a_relation"] = article(source["relation"])
    elif fact.kind == "roster":
        words["employees"] = listing(source["employees"])
    return words


def _span(months: int) -> str:
    years, rest = divmod(months, 12)
    parts = [
        f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in ((years, "year"), (rest, "month")) if count
    ]
    return " and ".join(parts)


_FORMS: dict[str, tuple[str, ...]] = {
    "job": (
        "{person} worked as {a_title} at {employer} from {start} to {end} ({span}). The work drew on {skills}.",
        "From {start} to {end}, {person} was employed by {employer} as {a_title}, {span} in all, using {skills}.",
        "At {employer}, {person} was {title} for {span}, from {start} until {end}, and practised {skills}.",
        "{person} joined {employer} in {start} as {a_title} and stayed {span}, until {end}, working on {skills}.",
    ),
    "project": (
        "{person} delivered the {project} at {employer} in {year} as {title} with a team of {team}, applying {skills}.",
        "{person} led the {project} for {employer} in {year}. The team of {team} people relied on {skills}.",
        "In {year}, {person} and a team of {team} at {employer} completed the {project}; it called for {skills}.",
        "At {employer}, {person} carried out the {project} in {year} with {team} team members, using {skills}.",
    ),
    "education": (
        "{person} studied {field} at {university} from {years} and graduated with {a_degree}.",
        "{person} earned {a_degree} in {field} from {university} in {end}, having enrolled in {start}.",
        "{university} awarded {person} {a_degree} in {field} in {end} after studies that began in {start}.",
        "In {end}, {person} completed {a_degree} in {field} at {university}, begun in {start}.",
    ),
    "certification": (
        "{person} earned the credential {certification} in {date} after passing the required examination.",
        "In {date}, {person} was accredited with the certification {certification}, and has kept it up to date since.",
        "{person} holds the professional certification {certification}, which was awarded in {date}.",
    ),
    "endorsement": (
        "In {year}, {a_relation} who praised reliable and thoughtful work endorsed {person} for {skill}.",
        "In {year}, {person} received an endorsement for {skill} from {a_relation} who valued the results.",
        "{person} was recommended for expertise in {skill} by {a_relation} in {year}.",
    ),
    "roster": (
        "Staff roster of {employer}, {sector} sector. People who have worked here: {employees}.",
        "The people who have been employed at {employer} ({sector}) are {employees}.",
        "{employer}, an organisation in the {sector} sector, lists these past and present employees: {employees}.",
    ),
}
