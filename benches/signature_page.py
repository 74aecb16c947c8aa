"""The words of `docs/research/signature.md`: signature_study.py puts its tables between them."""

INTRODUCTION = """\
# What a signature tells, and what it takes

Every table on this page is made by `just signature-study`, all but the last part on development data only: the
synthetic development split with three seeds, and half of the questions of each real set, as in
[envelope.md](envelope.md).

A signature is Σ_j √p_ij r_j, scaled to length 1: p_i is the random walk from node i that returns to it with the
chance c at every step, without entries below `drop`, and r_j are random signs, drawn by (seed, id, column). The
cosine of two signatures estimates Σ_j √(p_ij p_kj), the Bhattacharyya coefficient of two walks. Where a table names
nothing else, c is .25, `drop` 1e-4, signatures have 512 numbers, and search is exact.

Recovery is that of `envelope`, titles ignored: 40 chunks a question, all-MiniLM-L6-v2, percent. *hard*:
extremisation and relational questions, and in the next column the difference from the table's first line in points,
with its paired 95 % bootstrap interval. *worst family*: in points over plain search in all types; none, where no
family loses. Real sets: all gold passages among the first 10/40; one question is half a point or more there."""

# part -> its title, what stands before its table, and what after it
TEXTS: dict[str, tuple[str, str, str]] = {
    "sets": ("The sets", "", ""),
    "dimension": (
        "Dimension",
        """\
The exact cosines are those of the roots of rows that come from diffusing the identity, nothing dropped, on
development-42, 2wiki and musique. Nearly all pairs of nodes have next to nothing in common, so a sample of all
pairs would tell of noise around 0 and little else. Pairs are therefore drawn by exact cosine: at most 2,000
from each tenth of the range from 0 to 1 and each graph, among the nodes that have edges.

*By theory*: a cosine ρ of random projections to d numbers has the standard error (1 − ρ²)/√d; given is its root
mean square over the same pairs. *recall@40*: of the 40 nodes nearest to a node by exact cosine, those below .05
left out, the share that is among its 40 nearest by signature (up to 1,000 nodes a graph). *Seconds*: of the graph
with most edges, musique's, the best of three; the machine was busy, so only the order of size is worth something.""",
        """\
Up to 128 numbers the error comes from the sketch, near what theory says; from there on it falls slowly, for what is
dropped and not followed stays away from the exact cosine in any dimension. Recovery rises up to 512 numbers and is
nearly flat from there: 2,048 win .4 points of the hard questions, and lose four of MuSiQue's questions at 40. 256
numbers take half the space and cost .5 points, four questions of 2WikiMultihopQA at 10 and two of MuSiQue at 40; 32
cost six points.""",
    ),
    "roots": (
        "Why square roots",
        """\
A walk is most often at its start and next to it. Where rows are compared by their cosine, Σ_j p_ij p_kj over the
lengths, products of these few large entries are nearly all of the sum: two nodes are alike if they lie side by side,
and of what lies five edges away nothing is left. The Bhattacharyya coefficient Σ_j √(p_ij p_kj) gives each node as
much weight as the two walks have mass there. It is 1 − H² of the Hellinger distance H, the cosine of the vectors √p,
which all have the same length where p sums to 1, and 1 only for equal walks. So a sketch of √p compares whole
neighborhoods, near and far, and one random projection estimates it like any cosine.

*Exact rows*: entries of the same rows, raised to a power, whole and without a sketch. They are compared by the same
rule, which was chosen for roots.""",
        """\
Roots find 13.5 points more of the hard questions than the entries themselves, by the same rows, and nothing of it is
lost elsewhere. Fourth roots find half a point more there than exact roots, let one family fall below plain, and lose
twelve of MuSiQue's questions at 10: they let what is far away drown what is near. A sketch of 512 numbers costs half
a point of the exact rows, and nothing beyond a few questions on the real sets. The diffused form is that of signatures
before; it is judged here by the rule that was chosen for roots.""",
    ),
    "drop": (
        "Dropping",
        """\
Entries below `drop` are left out of a row, and walks are not followed where less than a fifth of it would go over
each edge. Entries and edges a row, and the mass dropped, are means over the sets.""",
        """\
1e-3 leaves out what the relational questions need, at a quarter of the edges; below 1e-4 there is little to win at
twice the edges and entries. 1e-4 is the default.""",
    ),
    "restart": (
        "Restart",
        "The chance to return to the start at every step. The smaller it is, the further a signature sees.",
        """\
The synthetic questions want to see far, the real sets do not: .15 wins 1.3 points of the hard questions and loses
two of MuSiQue's questions at 10 and four at 40, .1 seven and five. .3 and .4 lose hard questions and questions of
2WikiMultihopQA. .25 is the default: shorter rows than .2, and as many questions of the real sets or more.""",
    ),
    "normalization": (
        "Normalization by degree",
        """\
`--hub-damping β` multiplies the random vector of node j by deg(j)^−β: what walks meet counts less where everybody
meets it. .5 is the symmetric normalization D^−½ A D^−½. *Walks avoid hubs* is no option: there a walk follows an
edge in proportion to (deg(i)·deg(j))^−exponent, which changes where walks go, and not only what counts.""",
        """\
By our reading hubs carry what the synthetic questions need: the organisation that two people have in common.
Damping them costs hard questions in either way, and more with every step of the exponent. On the real sets no
figure moves by more than three questions. Damping does not earn its place, and the form `roots` has no such option.""",
    ),
    "edge-types": (
        "Weights of edge types",
        """\
`--edge-type-weights TYPE=WEIGHT` on the synthetic sets, one type at a time, all others 1. Title-mention graphs have
one type only, so that there is nothing to weigh.""",
        """\
`mentions`, of chunks and the people and organisations in them, carries nearly everything: without it most of the
gain over plain is gone. `part_of`, of chunks and their document, is worth a third of a point. `about`, of documents
and who they are about, is worth nothing, its ends being linked through chunks as well. No weight wins more than a tenth
of a point: there is no reason for one by default. The option is for corpora with types of edges that mean less, or
nothing.""",
    ),
    "storage": (
        "Storage",
        """\
*Exact*: both collections are rounded and searched exactly; f16 as numpy rounds, i8 as whole numbers from −127 to
127 with one f32 scale a vector. gme keeps collections in float32; this is what a store of your own would lose.
*HNSW*: indexes of `gme retrieve --hnsw --precision …`; their bytes are those of the index file, and the float32
vectors, which score the candidates, come on top (memory-mapped). *Recall*: share of the 40 nearest by float32 and
exact search, to the question for texts, to the signature of the question's first hit for signatures. Bytes and
recall are means over sets and questions.""",
        """\
f16 loses nothing, and i8, in a quarter of the space, one question of 2WikiMultihopQA. An HNSW index of i8 is .30 to
.32 times as large as one of f32, and finds as much: what HNSW loses, one question of each real set at 10 and two of
2WikiMultihopQA at 40, it loses in any precision, but for one of them. `--precision` chooses; the default is f32.""",
    ),
    "incremental": (
        "When the graph grows",
        """\
Random vectors belong to ids, so that what is added changes none of those that were there. An edge between two nodes
at random, or a new node with edges to three: cosine of the old and the new signature of every node that was there,
by its distance from the nearest end of what was added; mean / least. Last line: |cos(old, new) − cos(new, new)| of
2,000 pairs of nodes a change, drawn at random; mean / largest.""",
        """\
A change is felt where it happens and next to it, and little from two hops on. Rows that come to neither end of it are
the same to the byte. Old and new signatures live in one space, as long as seed, dim, restart and options are the same:
they can be compared and can stand side by side in one store, and the last line says what that costs. gme itself always
computes a collection whole.""",
    ),
    "held-out": (
        "On data that nothing was chosen on",
        """\
Run once, after form, restart, `drop` and the constants of `envelope` (`--lift` 2.5, `--closeness` 8) had been chosen
above: three other seeds of the validation and of the test split, and the other half of each real set. *Diffused* is
what signatures and the rule were before (restart .1, `--lift` 2 `--closeness` 4). *Shuffled*: each node has the
signature of another.""",
        """\
Roots find 20 points more of what lies three hops away, and 6 more of the hard questions; no family falls below plain on
chunks by more than the last digit, as it was before. On the real sets the two forms find the same within a few
questions: every interval holds 0. On a shuffled graph `envelope` is plain search on chunks, but for two questions of
2WikiMultihopQA and a tenth of a point in one family.""",
    ),
}
