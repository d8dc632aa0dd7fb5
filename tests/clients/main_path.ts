// From files to a board and an export, by the client that openapi-generator generates.
//
// `node main_path.js SITE TOKEN SLUG FOLDER`, as main_path.py.

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, parse } from "node:path";
import {
  BenchmarksApi,
  Configuration,
  DoEnum,
  type EventRequest,
  ImportsApi,
  type Job,
  JobState,
  JobsApi,
  JudgingApi,
  LeaderboardApi,
  PoolsApi,
  QrelsApi,
  ReleasesApi,
  ResponseError,
  SubmissionsApi,
} from "./benchwright-api/index";

const [site, token, slug, folder] = process.argv.slice(2);
const RUNS = ["words.run", "titles.run"];
const configuration = new Configuration({ basePath: site, accessToken: token });
const judging = new JudgingApi(configuration);
const releases = new ReleasesApi(configuration);

async function main(): Promise<void> {
  await new BenchmarksApi(configuration).benchmarkListPost({
    newBenchmarkRequest: { name: slug, slug, scale: "0 = No\n1 = Partly *\n2 = Yes *" },
  });
  for (const name of ["corpus.jsonl", "queries.jsonl", ...RUNS]) await importFile(name);
  const n_graded = await judge(await poolOf());
  const qrels = (await publishQrels()).trimEnd().split("\n");
  const version = await publishRelease();
  const scores = await submit(RUNS[0]);
  const board = await wholeBoard(version);
  const archive = await releases.exportDetailGet({ slug, version, _export: "beir" });
  console.log(JSON.stringify({ n_graded, version, qrels, scores, board, n_bytes: archive.size }));
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 200));

async function finished(job: Job): Promise<void> {
  const jobs = new JobsApi(configuration);
  while (job.state === JobState.Queued || job.state === JobState.Running) {
    await pause();
    job = await jobs.jobDetailGet({ id: job.id });
  }
  if (job.state !== JobState.Done) throw new Error(`${job.title}: ${job.state}: ${job.error}`);
}

const fileOf = (name: string) => new File([readFileSync(join(folder, name))], name);

async function importFile(name: string): Promise<void> {
  const imports = new ImportsApi(configuration);
  const upload = await imports.uploadListPost({ slug, file: fileOf(name) });
  const importStartRequest = { name: parse(name).name };
  await finished(await imports.uploadImportPost({ slug, id: upload.id, importStartRequest }));
}

async function poolOf(): Promise<number> {
  const pools = new PoolsApi(configuration);
  const newPoolRequest = { name: "first", runs: RUNS.map((run) => parse(run).name), depth: 3 };
  await finished(await pools.poolListPost({ slug, newPoolRequest }));
  const [pool] = (await pools.poolListGet({ slug })).results;
  return pool.id;
}

async function judge(id: number): Promise<number> {
  const { version } = await judging.judgingStart({ slug, id });
  await judging.judgingStartRead({ slug, id, readRequest: { version } });
  let n_graded = 0;
  let say: EventRequest[] = [];
  for (;;) {
    const exchangeRequest = { want: 6, have: [], say };
    const { said, items } = await judging.judgingExchange({ slug, id, exchangeRequest });
    const refused = said.filter((outcome) => outcome.state !== "saved");
    if (refused.length) throw new Error(`refused: ${JSON.stringify(refused)}`);
    n_graded += said.length;
    if (!items.length) break;
    say = items.map((item, number) => ({
      clientId: randomUUID(),
      _do: DoEnum.Grade,
      token: item.token,
      grade: (number + 1) % 3,
    }));
  }
  await judging.judgingStop({ slug, id });
  return n_graded;
}

async function publishQrels(): Promise<string> {
  const qrels = new QrelsApi(configuration);
  await finished(await qrels.qrelsListPost({ slug, newQrelsRequest: { name: "own labels" } }));
  const [made] = (await qrels.qrelsListGet({ slug })).results;
  return qrels.qrelsDownloadGet({ slug, id: made.id });
}

async function publishRelease(): Promise<string> {
  const draftRequest = { qrels: "own labels", passesOnTexts: true };
  let draft = await releases.releaseListPost({ slug, draftRequest });
  const { id } = draft;
  // Empty until it was looked over.
  while (!Object.keys(draft.manifest).length) {
    await pause();
    draft = await releases.releaseDraftGet({ slug, id });
  }
  const acceptedRequest = { accepted: draft.findings.map((finding) => finding.code) };
  await finished(await releases.releaseDraftPublishPost({ slug, id, acceptedRequest }));
  return draft.version;
}

async function submit(name: string): Promise<{ [measure: string]: number | null }> {
  const submissions = new SubmissionsApi(configuration);
  const file = fileOf(name);
  let sent = await submissions.submissionListPost({ slug, file, name: "submitted" });
  while (!["scored", "invalid", "failed"].includes(sent.state)) {
    await pause();
    sent = await submissions.submissionDetailGet({ slug, id: sent.id });
  }
  return sent.scores;
}

async function wholeBoard(version: string): Promise<{ [run: string]: number }> {
  const boards = new LeaderboardApi(configuration);
  for (;;) {
    const board = await boards.leaderboardRetrieve({ slug, version });
    const rows = board.rows.map((row) => [row.run, row[board.column]]);
    if (!board.nWaiting) return Object.fromEntries(rows);
    await pause();
  }
}

main().catch(async (error) => {
  console.error(error instanceof ResponseError ? await error.response.text() : error);
  process.exitCode = 1;
});
