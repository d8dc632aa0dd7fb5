"""What this app's jobs do, and how their unfinished attempts are cleaned up."""

from annotation.services import pooling, publishing
from benchmarks_app.services.jobs import cleans, handles

handles(pooling.JOB_KIND)(pooling.build_pool)
handles(publishing.JOB_KIND)(publishing.publish_qrels)
cleans(pooling.discard_unfinished)
cleans(publishing.discard_unfinished)
