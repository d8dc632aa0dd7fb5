"""`python -m scoring.cli` is `benchwright`."""

from benchmarks_app.start import main

if __name__ == "__main__":
    main()
