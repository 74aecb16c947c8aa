"""The files of a workspace, and which command writes each."""

NODES, EDGES, QUESTIONS = "nodes.jsonl", "edges.jsonl", "questions.jsonl"
ORIGINAL, QUESTION_VECTORS = "embeddings/original.npy", "embeddings/questions.npy"

PARTS = ("", "embeddings", "indexes", "manifests", "reports", "reports/figures", "runs")
"""The folders of a workspace that commands write files to."""

BUILDERS = "gme graph mentions, gme graph links, gme graph names or gme graph entities"
"""The commands that find edges, for hints. The corpus decides which of them fits, and each says so."""

# file -> the command that writes it, for the hint when it is missing or stale
WRITERS = {
    NODES: "gme graph read (your corpus), gme generate (the benchmark), or put your own file there",
    EDGES: f"{BUILDERS}, or put your own file there",
    QUESTIONS: "gme graph read or gme generate, or put your own file there",
    ORIGINAL: "gme embed",
    QUESTION_VECTORS: "gme embed",
}
