"""The jobs of this app; `benchmarks_app.jobs.services.jobs` finds them here by their kind."""

from benchmarks_app.clicks.services import forget_logs_of_ended
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import Job, User
from scoring.comparisons.services import comparing, comparison_rows, robustness
from scoring.contextual.services import evaluating, from_runs, importing, judging
from scoring.contrastive.services import contrastive
from scoring.gates.services import gating, online_logs, rehearsing
from scoring.live.selectors import JOB_KIND as ASK_KIND
from scoring.live.services import asking
from scoring.rescoring.services import rescoring
from scoring.scores.selectors.rescoring import RUNS_KIND
from scoring.scores.services import ranking
from scoring.submissions.services import scoring_submission, submitting
from scoring.systems.services import baselines, sharded_steps, shards


@jobs.handles(submitting.JOB_KIND)
def score_submission_task(job: RunningJob) -> None:
    scoring_submission.score_submission(job)


@jobs.readmits(submitting.JOB_KIND)
def readmit_submission(job: Job, user: User) -> None:
    submitting.readmit(job, user)


@jobs.handles(RUNS_KIND)
def score_runs_task(job: RunningJob) -> None:
    rescoring.score_runs(job)


@jobs.handles(baselines.JOB_KIND)
def make_baseline_task(job: RunningJob) -> None:
    baselines.make_baseline(job)


@jobs.handles(shards.KIND)
def retrieve_shard_task(job: RunningJob) -> None:
    sharded_steps.retrieve_shard(job)


@jobs.cleans
def set_back_shards(job_id: int) -> None:
    shards.set_back_shards(job_id)


@jobs.sweeps
def sweep_shared_folders() -> None:
    shards.sweep_shared_folders()


@jobs.handles(comparing.KIND)
def compare_runs_task(job: RunningJob) -> None:
    comparing.compare_runs(job)


@jobs.handles(robustness.KIND)
def compare_robustness_task(job: RunningJob) -> None:
    robustness.compare_robustness(job)


@jobs.sweeps
def drop_unread_comparisons() -> None:
    comparison_rows.drop_unread_now_and_then()


@jobs.cleans
def set_back_submission(job_id: int) -> None:
    scoring_submission.set_back_submission(job_id)


@jobs.sweeps
def score_again_after_an_upgrade() -> None:
    rescoring.start_outdated_now_and_then()


@jobs.handles(ranking.JOB_KIND)
def rank_board_task(job: RunningJob) -> None:
    ranking.rank_board(job)


@jobs.handles(gating.KIND)
def decide_gate_task(job: RunningJob) -> None:
    gating.decide_gate(job)


@jobs.handles(gating.RESUME_KIND)
def resume_gates_task(job: RunningJob) -> None:
    gating.resume_gates(job)


@jobs.cleans
def set_back_gates(job_id: int) -> None:
    gating.set_back_gates(job_id)


@jobs.handles(rehearsing.KIND)
def rehearse_task(job: RunningJob) -> None:
    rehearsing.rehearse(job)


@jobs.handles(online_logs.JOB_KIND, is_once=True)
def read_online_task(job: RunningJob) -> None:
    online_logs.read_online(job)


@jobs.cleans
def forget_online_log(job_id: int) -> None:
    forget_logs_of_ended(job_id, kind=online_logs.JOB_KIND)


@jobs.handles(importing.JOB_KIND)
def import_cases_task(job: RunningJob) -> None:
    importing.import_cases(job)


@jobs.handles(from_runs.JOB_KIND)
def make_cases_task(job: RunningJob) -> None:
    from_runs.make_cases_of_run(job)


@jobs.handles(evaluating.JOB_KIND)
def judge_contextual_task(job: RunningJob) -> None:
    judging.judge_contextual(job)


@jobs.cleans
def remove_staged_set(job_id: int) -> bool:
    return importing.remove_staged_set(job_id)


@jobs.cleans
def set_back_evaluation(job_id: int) -> None:
    judging.set_back_evaluation(job_id)


@jobs.handles(contrastive.JOB_KIND)
def measure_pair_task(job: RunningJob) -> None:
    contrastive.measure_pair(job)


@jobs.handles(ASK_KIND)
def ask_system_task(job: RunningJob) -> None:
    asking.ask_system(job)


@jobs.cleans
def forget_answers(job_id: int) -> None:
    asking.forget_answers(job_id)
