"""What a WSGI server loads."""

import os

from django.core.wsgi import get_wsgi_application

from benchmarks_app.returned_memory import return_memory_at_once

return_memory_at_once()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
application = get_wsgi_application()

from benchmarks_app.supervisor import tell_started  # noqa: E402 (reads the settings)

tell_started()
