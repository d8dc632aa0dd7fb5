"""`python -m scoring.cli` is `benchwright`."""

from benchmarks_app.cli import main

if __name__ == "__main__":
    main()
