"""What this app's jobs do, and how their unfinished attempts are cleaned up."""

from annotation.agreement.services import measuring_agreement
from annotation.campaigns.services import asking, running
from annotation.labels.services import importing_labels, publishing
from annotation.pools.services import finishing, pooling, previewing, simulating, watching
from annotation.queueing.services import JOB_KIND, order_queue
from annotation.searching import services as searching
from annotation.searching.selectors import INDEX_JOB
from annotation.sparing.services import follow_all
from benchmarks_app.jobs.services.jobs import cleans, handles, sweeps

handles(importing_labels.JOB_KIND)(importing_labels.import_labels)
handles(measuring_agreement.JOB_KIND)(measuring_agreement.measure_agreement)
handles(pooling.JOB_KIND)(pooling.build_pool)
handles(previewing.JOB_KIND)(previewing.preview_pool)
handles(simulating.JOB_KIND)(simulating.simulate_orders)
handles(publishing.JOB_KIND)(publishing.publish_qrels)
handles(INDEX_JOB)(searching.index_words)
handles(watching.JOB_KIND)(watching.watch_pool)
handles(JOB_KIND)(order_queue)
handles(running.JOB_KIND)(asking.judge_pool)
handles(running.TRIAL_KIND)(asking.try_campaign)
cleans(asking.set_back_campaign)
cleans(pooling.discard_unfinished)
cleans(publishing.discard_unfinished)
sweeps(follow_all)
sweeps(finishing.look_for_finished)
