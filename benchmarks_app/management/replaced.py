"""Commands of a site that `benchwright` does as well, from any machine, and by what."""

REPLACED = {
    "agreement": "agreement",
    "ask_system": "ask SYSTEM",
    "build_pool": "pool",
    "check_contamination": "contamination new FILE",
    "create_benchmark": "create SLUG",
    "delete_qrels": "qrels remove NAME",
    "derive_document_qrels": "qrels by-document NAME",
    "draw_queries": "draws new -n N",
    "estimate_runs": "estimate POOL",
    "export_judgments": "export judgments",
    "export_release": "pull",
    "fetch_collection": "corpus fetch NAME",
    "grade_clicks": "clicks LOG",
    "group_queries": "families",
    "import_beir": "import FILE",
    "import_cases": "contextual CASES",
    "import_file": "import FILE",
    "import_judgments": "label FILE",
    "import_known_grades": "pools know POOL FILE",
    "import_log": "sample LOG --dry-run",
    "import_reported": "reported new FILE",
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
    "map_qrels": "qrels map NAME",
    "publish_qrels": "publish NAME",
    "publish_release": "release QRELS",
    "register_slice": "slice NAME --register",
    "sample_queries": "sample LOG",
    "score_runs": "score",
    "spare_work": "pools spare POOL CAMPAIGN",
    "split_queries": "split",
    "submit_run": "submit RUN",
    "switch_ladder": "phases change NAME --ladder",
    "take_snapshot": "corpus decide NUMBER take",
}
"""What does the same through the API, with a person's token; the others operate a server."""


def replacement(name: str) -> str:
    """What is to be called in place of a command; empty where it stays."""
    words = REPLACED.get(name, "")
    return f"benchwright --site URL --benchmark SLUG {words}" if words else ""
