"""The words of `docs/signature.md`; signature_study.py puts its tables between them."""

INTRODUCTION = """\
# What a signature tells, and what it takes

Made by `just signature-study`"""

TEXTS: dict[str, tuple[str, str, str]] = {
    k: (k, "", "") for k in ("sets", "dimension", "restart", "normalisation", "edge-types", "storage", "incremental")
}
