"""What a WSGI server loads."""

from benchmarks_app.memory import return_memory_at_once
from benchmarks_app.web import load

return_memory_at_once()
load()

from django.core.wsgi import get_wsgi_application  # noqa: E402 (reads the settings)

from benchmarks_app.supervisor import tell_started  # noqa: E402

application = get_wsgi_application()
tell_started()
