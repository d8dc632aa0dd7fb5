"""`python -m benchwright` is `benchwright`."""

from benchwright.cli.start import main

if __name__ == "__main__":
    main()
