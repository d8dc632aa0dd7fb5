"""What attackers who adapt say of a collection: `python -m tests.red_team FOLDER`."""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
django.setup()  # the attacks read the site's own rules, which stand beside models

from tests.red_team.adaptive import main  # noqa: E402

main(*sys.argv[1:])
