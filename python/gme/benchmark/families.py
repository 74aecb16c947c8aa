"""The eleven question families, their functions and their phrasings.

Gold is every chunk that the function touches. P and R are people, O an employer, U a university, T a job title, S a skill,
C a certification, F a field of study. GME gives one example question a family, in this order; what each computes is ours.

| family (group, hops)                         | functions, and the chunks each touches                                       |
|----------------------------------------------|------------------------------------------------------------------------------|
| collect_local (single-fact, 1)               | P's certifications, endorsements, degrees, jobs or projects: those chunks    |
| collect_global (single-fact, 1)              | degrees at U, positions at O, projects at O: those chunks; O's roster chunk  |
| comparison (single-fact, 1)                  | P and R: same employer, same university, more certifications, longer job:    |
|                                              | the job, education or certification chunks of both                           |
| multi_collect (single-fact, 1)               | P at O: tenure and skills (the job), title and projects (job, projects);     |
|                                              | P's degrees and certifications, P's employers and endorsements               |
| hop1 (single-fact, 1)                        | who attended U, who worked at O, who ran projects at O, who holds C          |
| extremize (extremisation, 1)                 | longest position with T or S, latest degree in F, largest team with S: all   |
|                                              | competing job, education or project chunks                                   |
| extremize_collect (extremisation, 2)         | most experienced with S or longest as T (all competing jobs), then the       |
|                                              | winner's certifications, degrees or employers                                |
| collect_extremize (extremisation, 1 or 2)    | longest at O, first at O, latest degree at U, P's longest job; graduates of  |
|                                              | U with their certifications or jobs, then the most or the longest            |
| collect_global_collect (relational, 2)       | people at O or U, then their certifications or endorsements                  |
| hop2 (relational, 2)                         | people at O, at U or with C, then their degrees or jobs                      |
| hop3 (relational, 3)                         | U, graduates, employers, employees; O, people, universities, graduates;      |
|                                              | P, employers, colleagues, their degrees or other jobs                        |

Pools named by T, S or F alone outgrow every budget in large networks; there the functions marked `reserve` ask about those
who began in one year or one month. They serve only when the others cannot fill a family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import functions as f
from .records import month_words
from .sectors import SECTORS
from .world import STEP, Fact, World, month_text


@dataclass(frozen=True)
class Domain:
    """What a function can be asked about: so many cases, each giving the numbers of the arguments, or None."""

    names: tuple[str, ...]
    size: Callable[[World], int]
    case: Callable[[World, int], tuple[int, ...] | None]


@dataclass(frozen=True)
class Function:
    """A function of a family, and how its questions are phrased."""

    name: str
    family: str
    hops: int
    domain: Domain
    compute: f.Compute
    forms: tuple[str, ...]
    reserve: bool = False


def _column(name: str, kind: str, column: str) -> Domain:
    """Every value of a column."""
    return Domain(
        (name,), lambda world: len(world.keys(kind, column)), lambda world, number: (world.keys(kind, column)[number],)
    )


def _pair_column(name: str, second: str, column: str) -> Domain:
    """Every value of a column of jobs that joins two numbers; the function gets the joint key, the question both parts."""

    def case(world: World, number: int) -> tuple[int, ...]:
        key = world.keys("job", column)[number]
        return (key, *divmod(key, STEP))

    return Domain(("", name, second), lambda world: len(world.keys("job", column)), case)


def _any_two(world: World, number: int) -> tuple[int, ...] | None:
    first, second = divmod(number, world.people)
    return (first, second) if first < second else None


def _two_at(kind: str, column: str) -> Domain:
    """Two people with a fact at the same place."""

    def case(world: World, number: int) -> tuple[int, ...] | None:
        facts = world.where(kind, column, world.keys(kind, column)[number])
        persons = sorted({fact.person for fact in facts})
        return (persons[0], persons[-1]) if len(persons) > 1 else None

    return Domain(("person", "other"), lambda world: len(world.keys(kind, column)), case)


PERSON = Domain(("person",), lambda world: world.people, lambda world, number: (number,))
PAIR = Domain(("person", "other"), lambda world: world.people**2, _any_two)
COLLEAGUES = _two_at("job", "employer")
CLASSMATES = _two_at("education", "university")
POST = Domain(("person", "employer"), lambda world: world.count("job"), lambda world, row: world.job_parties(row))
EMPLOYER = _column("employer", "job", "employer")
ROSTERED = Domain(("employer",), lambda world: len(world.rostered), lambda world, number: (world.rostered[number],))
PROJECT_EMPLOYER = _column("employer", "project", "employer")
UNIVERSITY = _column("university", "education", "university")
SECTOR = _column("sector", "job", "sector")
TITLE = _column("title", "job", "title")
TITLE_YEAR = _pair_column("title", "year", "title and year")
TITLE_MONTH = _pair_column("title", "month", "title and month")
SKILL = _column("skill", "job", "skill")
SKILL_YEAR = _pair_column("skill", "year", "skill and year")
SKILL_MONTH = _pair_column("skill", "month", "skill and month")
PROJECT_SKILL = _column("skill", "project", "skill")
CERTIFICATION = _column("certification", "certification", "certification")

# Argument name -> its number as text, for the question's `source`.
LABELS: dict[str, Callable[[World, int], str]] = {
    "person": lambda world, number: world.person_name(number),
    "other": lambda world, number: world.person_name(number),
    "employer": lambda world, number: world.employer_name(number),
    "university": lambda world, number: world.university_name(number),
    "title": lambda world, number: world.words.titles[number],
    "skill": lambda world, number: world.words.skills[number],
    "sector": lambda world, number: SECTORS[number].name,
    "certification": lambda world, number: world.words.certifications[number],
    "year": lambda world, number: str(number),
    "month": lambda world, number: month_text(number),
}

GROUPS = {
    "collect_local": "single-fact",
    "collect_global": "single-fact",
    "comparison": "single-fact",
    "multi_collect": "single-fact",
    "hop1": "single-fact",
    "extremize": "extremisation",
    "extremize_collect": "extremisation",
    "collect_extremize": "extremisation",
    "collect_global_collect": "relational",
    "hop2": "relational",
    "hop3": "relational",
}


def phrase(name: str, label: str) -> str:
    """An argument as it reads in a question."""
    return month_words(label) if name == "month" else label


_longest_as = f.best_fact("job", "title", f.months)
_longest_with = f.best_fact("job", "skill", f.months)
_experienced = f.most_months("skill")


def _graduated(fact: Fact) -> int:
    return int(fact.source["end"])


FUNCTIONS = (
    # ---- single-fact
    Function(
        "certifications_of",
        "collect_local",
        1,
        PERSON,
        f.own(("certification", "certification")),
        ("What accreditations does {person} have?", "Which certifications has {person} earned?"),
    ),
    Function(
        "endorsements_of",
        "collect_local",
        1,
        PERSON,
        f.own(("endorsement", "skill")),
        ("What has {person} been endorsed for?", "For which skills was {person} recommended by others?"),
    ),
    Function(
        "universities_of",
        "collect_local",
        1,
        PERSON,
        f.own(("education", "university")),
        ("Where did {person} study?", "Which universities did {person} graduate from?"),
    ),
    Function(
        "employers_of",
        "collect_local",
        1,
        PERSON,
        f.own(("job", "employer")),
        ("Which organisations has {person} worked for?", "Who have been the employers of {person}?"),
    ),
    Function(
        "projects_of",
        "collect_local",
        1,
        PERSON,
        f.own(("project", "project")),
        ("Which projects has {person} worked on?", "What projects did {person} deliver?"),
    ),
    Function(
        "degrees_at",
        "collect_global",
        1,
        UNIVERSITY,
        f.at("education", "university", "degree"),
        ("What degrees has {university} awarded?", "Which kinds of degree did people earn at {university}?"),
    ),
    Function(
        "positions_at",
        "collect_global",
        1,
        EMPLOYER,
        f.at("job", "employer", "title"),
        ("Which positions have people held at {employer}?", "What job titles have there been at {employer}?"),
    ),
    Function(
        "projects_at",
        "collect_global",
        1,
        PROJECT_EMPLOYER,
        f.at("project", "employer", "project"),
        ("What projects has {employer} carried out?", "Which projects were delivered at {employer}?"),
    ),
    Function(
        "roster_of",
        "collect_global",
        1,
        ROSTERED,
        f.roster,
        ("Whom does the staff roster of {employer} list?", "Which names appear on the roster of {employer}?"),
    ),
    Function(
        "same_employer",
        "comparison",
        1,
        COLLEAGUES,
        f.overlap("job", "employer"),
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
        f.overlap("job", "employer"),
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
        f.overlap("education", "university"),
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
        f.overlap("education", "university"),
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
        f.more_certifications,
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
        f.longer_job,
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
        f.tenure_and_skills,
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
        f.role_and_projects,
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
        f.own(("education", "degree"), ("certification", "certification")),
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
        f.own(("job", "employer"), ("endorsement", "skill")),
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
        f.at("education", "university", "person"),
        ("Who attended {university}?", "Which people graduated from {university}?"),
    ),
    Function(
        "people_at",
        "hop1",
        1,
        EMPLOYER,
        f.at("job", "employer", "person"),
        ("Who has worked at {employer}?", "Which people have been employed by {employer}?"),
    ),
    Function(
        "project_people_at",
        "hop1",
        1,
        PROJECT_EMPLOYER,
        f.at("project", "employer", "person"),
        ("Who led or delivered projects at {employer}?", "Which people ran projects for {employer}?"),
    ),
    Function(
        "holders_of",
        "hop1",
        1,
        CERTIFICATION,
        f.at("certification", "certification", "person"),
        ("Who holds the credential {certification}?", "Which people were certified with {certification}?"),
    ),
    # ---- extremisation
    Function(
        "longest_as",
        "extremize",
        1,
        TITLE,
        f.who(_longest_as),
        (
            "Which {title} held a single position for the most years?",
            "Among everyone employed as {title}, who stayed in one such position the longest?",
        ),
    ),
    Function(
        "longest_with",
        "extremize",
        1,
        SKILL,
        f.who(_longest_with),
        (
            "Which candidate held a single position involving {skill} for the most years?",
            "Of all jobs that drew on {skill}, whose lasted the longest?",
        ),
    ),
    Function(
        "longest_in",
        "extremize",
        1,
        SECTOR,
        f.who(f.best_fact("job", "sector", f.months)),
        (
            "Which candidate held a single position in the {sector} sector for the most years?",
            "Of all jobs at {sector} organisations, whose lasted the longest?",
        ),
    ),
    Function(
        "largest_team",
        "extremize",
        1,
        PROJECT_SKILL,
        f.who(f.best_fact("project", "skill", lambda fact: int(fact.source["team"]))),
        (
            "Who worked with the largest team on a project that used {skill}?",
            "Whose {skill} project had the most team members?",
        ),
    ),
    Function(
        "longest_as_from",
        "extremize",
        1,
        TITLE_YEAR,
        f.who(f.best_fact("job", "title and year", f.months)),
        ("Which {title} who started in {year} held that position for the most years?",),
        reserve=True,
    ),
    Function(
        "longest_as_from",
        "extremize",
        1,
        TITLE_MONTH,
        f.who(f.best_fact("job", "title and month", f.months)),
        ("Which {title} who started in {month} held that position for the most years?",),
        reserve=True,
    ),
    Function(
        "certifications_of_experienced",
        "extremize_collect",
        2,
        SKILL,
        f.then(_experienced, "certification", "certification"),
        (
            "Which credentials has the most experienced {skill} practitioner earned?",
            "What certifications does the person with the most years of {skill} hold?",
        ),
    ),
    Function(
        "universities_of_experienced",
        "extremize_collect",
        2,
        SKILL,
        f.then(_experienced, "education", "university"),
        (
            "Where did the most experienced {skill} practitioner study?",
            "Which universities did the person with the most years of {skill} attend?",
        ),
    ),
    Function(
        "certifications_of_longest",
        "extremize_collect",
        2,
        TITLE,
        f.then(_longest_as, "certification", "certification"),
        (
            "Which credentials has the longest-serving {title} earned?",
            "What certifications does the person who held one {title} position the longest have?",
        ),
    ),
    Function(
        "employers_of_longest",
        "extremize_collect",
        2,
        TITLE,
        f.then(_longest_as, "job", "employer"),
        (
            "Which organisations has the longest-serving {title} worked for?",
            "Who have been the employers of the person who held one {title} position the longest?",
        ),
    ),
    Function(
        "certifications_of_experienced_from",
        "extremize_collect",
        2,
        SKILL_YEAR,
        f.then(f.most_months("skill and year"), "certification", "certification"),
        ("Which credentials has the most experienced of those who took up {skill} in a job begun in {year} earned?",),
        reserve=True,
    ),
    Function(
        "certifications_of_experienced_from",
        "extremize_collect",
        2,
        SKILL_MONTH,
        f.then(f.most_months("skill and month"), "certification", "certification"),
        ("Which credentials has the most experienced of those who took up {skill} in a job begun in {month} earned?",),
        reserve=True,
    ),
    Function(
        "longest_at",
        "collect_extremize",
        1,
        EMPLOYER,
        f.who(f.best_fact("job", "employer", f.months)),
        ("Who worked at {employer} for the most years?", "Which employee of {employer} stayed the longest?"),
    ),
    Function(
        "first_at",
        "collect_extremize",
        1,
        EMPLOYER,
        f.who(f.best_fact("job", "employer", lambda fact: str(fact.source["start"]), least=True)),
        ("Who was the first to join {employer}?", "Of the people who worked at {employer}, who started earliest?"),
    ),
    Function(
        "latest_from",
        "collect_extremize",
        1,
        UNIVERSITY,
        f.who(f.best_fact("education", "university", _graduated)),
        ("Who graduated from {university} most recently?", "Which graduate of {university} finished last?"),
    ),
    Function(
        "longest_job_of",
        "collect_extremize",
        1,
        PERSON,
        f.longest_job_of,
        (
            "At which organisation did {person} stay the longest?",
            "Which of {person}'s employers kept them for the most years?",
        ),
    ),
    Function(
        "most_certified_from",
        "collect_extremize",
        2,
        UNIVERSITY,
        f.best_graduate("certification", len),
        (
            "Which graduate of {university} holds the most certifications?",
            "Who among those who studied at {university} earned the most credentials?",
        ),
    ),
    Function(
        "longest_job_from",
        "collect_extremize",
        2,
        UNIVERSITY,
        f.best_graduate("job", lambda facts: max(map(f.months, facts))),
        (
            "Which graduate of {university} held a single job for the most years?",
            "Who among those who studied at {university} stayed in one job the longest?",
        ),
    ),
    # ---- relational and collection
    Function(
        "certifications_at",
        "collect_global_collect",
        2,
        EMPLOYER,
        f.joined("job", "employer", "certification", "certification"),
        (
            "What certifications do employees of {employer} hold?",
            "Which credentials have people who worked at {employer} earned?",
        ),
    ),
    Function(
        "endorsements_at",
        "collect_global_collect",
        2,
        EMPLOYER,
        f.joined("job", "employer", "endorsement", "skill"),
        (
            "What have the people employed by {employer} been endorsed for?",
            "For which skills were employees of {employer} recommended?",
        ),
    ),
    Function(
        "certifications_from",
        "collect_global_collect",
        2,
        UNIVERSITY,
        f.joined("education", "university", "certification", "certification"),
        (
            "What certifications do graduates of {university} hold?",
            "Which credentials have people who studied at {university} earned?",
        ),
    ),
    Function(
        "universities_at",
        "hop2",
        2,
        EMPLOYER,
        f.joined("job", "employer", "education", "university"),
        ("Where did people who worked at {employer} study?", "Which universities did employees of {employer} attend?"),
    ),
    Function(
        "employers_from",
        "hop2",
        2,
        UNIVERSITY,
        f.joined("education", "university", "job", "employer"),
        (
            "Which organisations have graduates of {university} worked for?",
            "Where did people who studied at {university} find employment?",
        ),
    ),
    Function(
        "other_employers_at",
        "hop2",
        2,
        EMPLOYER,
        f.joined("job", "employer", "job", "employer"),
        (
            "Where else have people who worked at {employer} been employed?",
            "Which other organisations have employees of {employer} worked for?",
        ),
    ),
    Function(
        "employers_of_holders",
        "hop2",
        2,
        CERTIFICATION,
        f.joined("certification", "certification", "job", "employer"),
        (
            "Which organisations have holders of the credential {certification} worked for?",
            "Where have people certified with {certification} been employed?",
        ),
    ),
    Function(
        "largest_employer_from",
        "hop3",
        3,
        UNIVERSITY,
        f.largest_employer_of_graduates,
        (
            "Which employer of {university} graduates has the most total employees?",
            "Of all organisations that employed graduates of {university}, which had the largest staff?",
        ),
    ),
    Function(
        "fellow_graduates_at",
        "hop3",
        3,
        EMPLOYER,
        f.fellow_graduates,
        (
            "Who else attended the universities where people who worked at {employer} studied?",
            "Which people went to the same universities as the employees of {employer}?",
        ),
    ),
    Function(
        "universities_of_colleagues",
        "hop3",
        3,
        PERSON,
        f.colleagues("education", "university"),
        (
            "Which universities did people who worked at the same organisations as {person} attend?",
            "Where did those who shared an employer with {person} study?",
        ),
    ),
    Function(
        "employers_of_colleagues",
        "hop3",
        3,
        PERSON,
        f.colleagues("job", "employer"),
        (
            "Where else have people who worked at the same organisations as {person} been employed?",
            "Which other employers have those who shared an employer with {person} had?",
        ),
    ),
)
