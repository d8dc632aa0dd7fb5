"""What a WSGI server loads."""

from django.core.wsgi import get_wsgi_application

from benchmarks_app.memory import return_memory_at_once
from benchmarks_app.places import with_places
from benchmarks_app.site_path import below_site_path
from benchmarks_app.web import load

return_memory_at_once()
load()
application = below_site_path(with_places(get_wsgi_application()))

from benchmarks_app.supervisor import tell_started  # noqa: E402 (reads the settings)

tell_started()
