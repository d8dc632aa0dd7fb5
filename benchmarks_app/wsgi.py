"""What a WSGI server loads."""

import os

from django.core.signals import request_finished
from django.core.wsgi import get_wsgi_application

from benchmarks_app.returned_memory import pass_over_what_is_loaded, return_memory_at_once

return_memory_at_once()
request_finished.connect(pass_over_what_is_loaded)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
application = get_wsgi_application()

from benchmarks_app.supervisor import tell_started  # noqa: E402 (reads the settings)

tell_started()
