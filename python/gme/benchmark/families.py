"""The eleven question families.

GME gives one example question per family. The rest is our choice. The gold is every chunk that the function uses. P and
R are people, O an employer, U a university, T a job title, S a skill, X a sector, C a certification.

=========================  ========================================================  ==================================
family (group, hops)       questions                                                 gold: the chunks of
=========================  ========================================================  ==================================
collect_local              P's certifications, endorsements, universities,           these facts of P
(single-fact, 1)           employers or projects
collect_global             degrees awarded by U; positions or projects at O;         U's degrees; O's jobs or projects;
(single-fact, 1)           whom O's roster lists                                     O's roster
comparison                 P and R: same employer? same university? who has          both people's jobs, degrees or
(single-fact, 1)           more certifications, or the longer job?                   certifications
multi_collect              P at O: tenure and skills, or title and projects;         the job, or it and its projects;
(single-fact, 1)           P's degrees and certifications, or employers and          P's facts of both kinds
                           endorsements
hop1                       who attended U, worked at O, ran projects at O,           U's degrees, O's jobs or projects,
(single-fact, 1)           or holds C                                                the certifications C
extremize                  who held one job the longest as T, with S or in X;        all jobs as T, with S or in X;
(extremisation, 1)         the largest project team with S                           all projects with S
extremize_collect          certifications, universities or employers of the most     all jobs with S or as T, and the
(extremisation, 2)         experienced with S, or of who was T the longest           winner's facts
collect_extremize          who was at O the longest or first, left U last; P's       O's jobs, U's degrees, P's jobs;
(extremisation, 1 or 2)    longest job; the graduate of U with the most              U's degrees and all graduates'
                           certifications or the longest job                         certifications or jobs
collect_global_collect     certifications or endorsements of people who worked       O's jobs or U's degrees, and these
(relational, 2)            at O; certifications of people who attended U             facts of the people in them
hop2                       universities of people at O; employers of people from     O's jobs, U's degrees or the
(relational, 2)            U or with C; other employers of people at O               certifications C, and these facts
hop3                       U's graduates' employer with the most employees;          U's degrees, all jobs at their
(relational, 3)            who else attended the universities of people at O;        employers; O's jobs, all degrees at
                           universities or other employers of those who shared       the universities; all jobs at P's
                           an employer with P                                        employers, and these facts
=========================  ========================================================  ==================================

In large networks, the facts about one T or one S are more than any budget. There `reserve` functions ask about people
who began in one year or one month.
"""

from __future__ import annotations

from . import extremisation, relational, single_fact

# family -> group
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

FUNCTIONS = single_fact.FUNCTIONS + extremisation.FUNCTIONS + relational.FUNCTIONS
