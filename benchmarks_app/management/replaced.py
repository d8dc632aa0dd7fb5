"""Commands of a site that `benchwright` does as well, from any machine, and by what."""

REPLACED = {
    "ask_system": "ask SYSTEM",
    "build_pool": "pool",
    "create_benchmark": "create SLUG",
    "estimate_runs": "estimate POOL",
    "export_judgments": "export judgments",
    "export_release": "pull",
    "grade_clicks": "clicks LOG",
    "group_queries": "families",
    "import_beir": "import FILE",
    "import_cases": "contextual CASES",
    "import_file": "import FILE",
    "import_judgments": "label FILE",
    "import_log": "sample LOG --dry-run",
    "import_run": "import FILE",
    "import_slices": "import FILE --kind slices",
    "import_trec": "import FILE",
    "invite": "invite",
    "judge_cases": "contextual SET --judge NAME",
    "judge_pool": "judge POOL --judge NAME",
    "leaderboard": "leaderboard",
    "make_baselines": "retrieve",
    "make_cases": "contextual NAME --of-run RUN",
    "make_slice": "slice NAME",
    "publish_qrels": "publish NAME",
    "publish_release": "release QRELS",
    "register_slice": "slice NAME --register",
    "sample_queries": "sample LOG",
    "score_runs": "score",
    "split_queries": "split",
    "submit_run": "submit RUN",
}
"""What does the same through the API, with a person's token; the others operate a server."""


def replacement(name: str) -> str:
    """What is to be called in place of a command; empty where it stays."""
    words = REPLACED.get(name, "")
    return f"benchwright --site URL --benchmark SLUG {words}" if words else ""
