"""What runs with a generated client is no module of the tests."""

collect_ignore = ["main_path.py"]
