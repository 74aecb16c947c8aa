"""Single-fact families: facts of one or two people, or of one organization or certification."""

from __future__ import annotations

from .domains import (
    CERTIFICATION,
    CLASSMATES,
    COLLEAGUES,
    EMPLOYER,
    PAIR,
    PERSON,
    POST,
    PROJECT_EMPLOYER,
    ROSTERED,
    UNIVERSITY,
    Function,
)
from .evidence import Compute, Evidence, facts_of, field, highest, listed, months, pool
from .world import World


def own(*parts: tuple[str, str]) -> Compute:
    """One person's facts of some kinds, each as (kind, field of the answer). There must be one of each kind."""

    def compute(world: World, person: int) -> Evidence | None:
        found = [world.facts(kind, person) for kind, _ in parts]
        if not all(found):
            return None
        answers = [field(facts, name) for facts, (_, name) in zip(found, parts, strict=True)]
        return Evidence([fact for facts in found for fact in facts], "; ".join(answers))

    return compute


def at(kind: str, column: str, name: str) -> Compute:
    """All facts of a kind at an organization, or of a certification. The answer lists one of their fields."""

    def compute(world: World, key: int) -> Evidence | None:
        facts = pool(world, kind, column, key)
        return Evidence(facts, field(facts, name)) if facts else None

    return compute


def roster(world: World, employer: int) -> Evidence:
    """The people on an employer's roster."""
    fact = world.roster(employer)
    return Evidence([fact], listed(fact.source["employees"]))


def tenure_and_skills(world: World, person: int, employer: int) -> Evidence:
    """How long a person was at an employer, and the skills used there."""
    jobs = [fact for fact in world.facts("job", person) if fact.organisation == employer]
    skills = listed(skill for job in jobs for skill in job.source["skills"])
    return Evidence(jobs, f"{sum(map(months, jobs))} months; {skills}")


def role_and_projects(world: World, person: int, employer: int) -> Evidence | None:
    """A person's title at an employer and the projects delivered there."""
    jobs = [fact for fact in world.facts("job", person) if fact.organisation == employer]
    projects = [fact for fact in world.facts("project", person) if fact.organisation == employer]
    if not projects:
        return None
    return Evidence(jobs + projects, f"{field(jobs, 'title')}; {field(projects, 'project')}")


def overlap(kind: str, name: str) -> Compute:
    """Whether two people share a value of a field, such as an employer."""

    def compute(world: World, person: int, other: int) -> Evidence:
        first, second = world.facts(kind, person), world.facts(kind, other)
        shared = {fact.source[name] for fact in first} & {fact.source[name] for fact in second}
        return Evidence(first + second, f"yes: {listed(shared)}" if shared else "no")

    return compute


def more_certifications(world: World, person: int, other: int) -> Evidence | None:
    """Which of two people holds more certifications. Both hold at least one."""
    found = {one: world.facts("certification", one) for one in (person, other)}
    winner = highest({one: len(facts) for one, facts in found.items()})
    if winner is None or not all(found.values()):
        return None
    return Evidence(found[person] + found[other], world.person_name(winner))


def longer_job(world: World, person: int, other: int) -> Evidence | None:
    """Which of two people held a single job longer."""
    jobs = facts_of(world, "job", (person, other))
    winner = highest({one: max(months(job) for job in jobs if job.person == one) for one in (person, other)})
    return None if winner is None else Evidence(jobs, world.person_name(winner))


FUNCTIONS = (
    Function(
        "certifications_of",
        "collect_local",
        1,
        PERSON,
        own(("certification", "certification")),
        ("What accreditations does {person} have?", "Which certifications has {person} earned?"),
    ),
    Function(
        "endorsements_of",
        "collect_local",
        1,
        PERSON,
        own(("endorsement", "skill")),
        ("What has {person} been endorsed for?", "For which skills was {person} recommended by others?"),
    ),
    Function(
        "universities_of",
        "collect_local",
        1,
        PERSON,
        own(("education", "university")),
        ("Where did {person} study?", "Which universities did {person} graduate from?"),
    ),
    Function(
        "employers_of",
        "collect_local",
        1,
        PERSON,
        own(("job", "employer")),
        ("Which organisations has {person} worked for?", "Who have been the employers of {person}?"),
    ),
    Function(
        "projects_of",
        "collect_local",
        1,
        PERSON,
        own(("project", "project")),
        ("Which projects has {person} worked on?", "What projects did {person} deliver?"),
    ),
    Function(
        "degrees_at",
        "collect_global",
        1,
        UNIVERSITY,
        at("education", "university", "degree"),
        ("What degrees has {university} awarded?", "Which kinds of degree did people earn at {university}?"),
    ),
    Function(
        "positions_at",
        "collect_global",
        1,
        EMPLOYER,
        at("job", "employer", "title"),
        ("Which positions have people held at {employer}?", "What job titles have there been at {employer}?"),
    ),
    Function(
        "projects_at",
        "collect_global",
        1,
        PROJECT_EMPLOYER,
        at("project", "employer", "project"),
        ("What projects has {employer} carried out?", "Which projects were delivered at {employer}?"),
    ),
    Function(
        "roster_of",
        "collect_global",
        1,
        ROSTERED,
        roster,
        ("Whom does the staff roster of {employer} list?", "Which names appear on the roster of {employer}?"),
    ),
    Function(
        "same_employer",
        "comparison",
        1,
        COLLEAGUES,
        overlap("job", "employer"),
        (
            "Were {person} and {other} ever at the same company?",
            "Did {person} and {other} ever work for the same employer?",
        ),
    ),
    Function(
        "same_employer",
        "comparison",
        1,
        PAIR,
        overlap("job", "employer"),
        (
            "Were {person} and {other} ever at the same company?",
            "Did {person} and {other} ever work for the same employer?",
        ),
    ),
    Function(
        "same_university",
        "comparison",
        1,
        CLASSMATES,
        overlap("education", "university"),
        (
            "Did {person} and {other} attend the same university?",
            "Is there a university where both {person} and {other} studied?",
        ),
    ),
    Function(
        "same_university",
        "comparison",
        1,
        PAIR,
        overlap("education", "university"),
        (
            "Did {person} and {other} attend the same university?",
            "Is there a university where both {person} and {other} studied?",
        ),
    ),
    Function(
        "more_certifications",
        "comparison",
        1,
        PAIR,
        more_certifications,
        (
            "Who has more certifications, {person} or {other}?",
            "Between {person} and {other}, who earned more credentials?",
        ),
    ),
    Function(
        "longer_job",
        "comparison",
        1,
        PAIR,
        longer_job,
        (
            "Who stayed longer in a single job, {person} or {other}?",
            "Between {person} and {other}, whose longest position lasted longer?",
        ),
    ),
    Function(
        "tenure_and_skills",
        "multi_collect",
        1,
        POST,
        tenure_and_skills,
        (
            "What was {person}'s tenure and what skills did they use at {employer}?",
            "How long was {person} at {employer}, and which skills did the work involve?",
        ),
    ),
    Function(
        "role_and_projects",
        "multi_collect",
        1,
        POST,
        role_and_projects,
        (
            "What position did {person} hold at {employer} and which projects did they deliver there?",
            "What was {person}'s job title at {employer}, and what projects did it include?",
        ),
    ),
    Function(
        "degrees_and_certifications",
        "multi_collect",
        1,
        PERSON,
        own(("education", "degree"), ("certification", "certification")),
        (
            "What degrees and which certifications does {person} have?",
            "List the degrees and the professional credentials of {person}.",
        ),
    ),
    Function(
        "employers_and_endorsements",
        "multi_collect",
        1,
        PERSON,
        own(("job", "employer"), ("endorsement", "skill")),
        (
            "Where has {person} worked and what have they been endorsed for?",
            "Name the employers of {person} and the skills others praised.",
        ),
    ),
    Function(
        "people_from",
        "hop1",
        1,
        UNIVERSITY,
        at("education", "university", "person"),
        ("Who attended {university}?", "Which people graduated from {university}?"),
    ),
    Function(
        "people_at",
        "hop1",
        1,
        EMPLOYER,
        at("job", "employer", "person"),
        ("Who has worked at {employer}?", "Which people have been employed by {employer}?"),
    ),
    Function(
        "project_people_at",
        "hop1",
        1,
        PROJECT_EMPLOYER,
        at("project", "employer", "person"),
        ("Who led or delivered projects at {employer}?", "Which people ran projects for {employer}?"),
    ),
    Function(
        "holders_of",
        "hop1",
        1,
        CERTIFICATION,
        at("certification", "certification", "person"),
        ("Who holds the credential {certification}?", "Which people were certified with {certification}?"),
    ),
)
