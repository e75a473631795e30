// `npm run soak -- --minutes 10 --busy 8`: a server process with everything switched on, under a mixed load whose every answer
// is known beforehand, while so many processes keep the cores busy. Ends after the minutes or after `--requests N`, whichever
// comes first; `--seed N` repeats a load. Exit code 1 if an answer, the memory, the descriptors or the files are wrong.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bigFile, secretsPage, sharedPage, Worker } from "./worker.mjs";

/** @typedef {{ requests: number, minutes: number, heap: number, history: number, rss: number, descriptors: string[] }} Sample */

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    requests: { type: "string", default: "Infinity" },
    busy: { type: "string", default: "0" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    steps: { type: "string", default: "20" },
  },
});
const numbers = [values.minutes, values.requests, values.busy, values.seed, values.steps].map(Number);
const [minutes, maxRequests, busy, seed, stepsInRound = 20] = numbers;
if (numbers.some((each) => each === undefined || Number.isNaN(each) || each < 0)) {
  console.error("--minutes, --requests, --busy, --seed and --steps are numbers");
  process.exit(2);
}

const workerCount = 8;
/** Requests after which caches are full and code is compiled, so that memory is compared from there on. */
const warmUp = 2000;
/** How much more heap the last third of the samples may hold than the first third: medians after garbage collection. */
const heapMargin = 2 * 1024 ** 2;
/** The same for a load too short to warm up: 4 MiB of code is compiled, a refused page takes more if it stays. */
const coldMargin = 8 * 1024 ** 2;
/** Locks are sockets. The watcher holds some when a sample is taken, to look at what has just changed. */
const descriptorMargin = 2;
/** The same where there are too few samples for one without such locks. */
const coldDescriptorMargin = 16;
const mebibytes = (/** @type {number} */ bytes) => (bytes / 1024 ** 2).toFixed(1);
const here = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));

const users = Array.from({ length: workerCount }, (_, index) => `w${index}`);
const password = "engine";
const hash = "$2y$10$PItV98z7ZTM68Rg/mpNP1uX3yJJyDm0VeKbBGGs./ttc7PeFo/QPK";

const startedAt = Date.now();
const endsAt = startedAt + (minutes ?? 0) * 60_000;
const directory = await mkdtemp(join(await realpath(tmpdir()), "filement-soak-"));
/** @type {import("node:child_process").ChildProcess[]} */
const children = [];
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => void cleanUp().finally(() => process.exit(1)));
}
let isRight = false;
try {
  isRight = await soak();
} finally {
  await cleanUp();
}
process.exitCode = isRight ? 0 : 1;

async function cleanUp() {
  for (const child of children) child.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true });
}

async function soak() {
  const root = join(directory, "root");
  await prepare(root);
  const accounts = users.map((username) => ({ username, password: hash, roles: ["worker"] }));
  const log = join(directory, "access.log");
  const server = start(
    "server.mjs",
    [root, log, JSON.stringify(accounts)],
    ["--expose-gc", "--max-old-space-size=256"],
  );
  const { port } = /** @type {{ port: number }} */ (await reply(server));
  for (let index = 0; index < (busy ?? 0); index += 1) start("busy-loop.mjs", [String((minutes ?? 0) + 1)], []);

  const workers = users.map(
    (user, index) => new Worker({ port, root, user, password, seed: (seed ?? 0) * 31 + index }),
  );
  for (const worker of workers) await writeFile(join(worker.directory, "page.html"), worker.page());
  const requests = () => workers.reduce((sum, { client }) => sum + client.requests, 0);
  /** @type {Sample[]} */
  const samples = [];
  while (Date.now() < endsAt && requests() < (maxRequests ?? 0)) {
    await Promise.all(workers.map((worker) => worker.work(stepsInRound)));
    server.send("sample");
    const sample = /** @type {Omit<Sample, "requests" | "minutes">} */ (await reply(server));
    samples.push({ requests: requests(), minutes: (Date.now() - startedAt) / 60_000, ...sample });
  }
  server.send("close");
  const [exitCode] = await once(server, "exit");

  const wrong = [
    ...workers.flatMap((worker) => worker.wrong),
    ...(await wrongFiles(root, workers)),
    ...(exitCode === 0 ? [] : [`the server reported errors (exit code ${exitCode})`]),
  ];
  printTable(samples);
  const grown = judge(samples);
  for (const line of [...wrong.slice(0, 20), ...grown]) console.log(`wrong: ${line}`);
  const load = `${busy} busy loops, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`;
  console.log(`Seed ${seed}, ${((Date.now() - startedAt) / 60_000).toFixed(1)} minutes, ${load}`);
  console.log(`${requests()} requests, ${wrong.length} wrong`);
  return wrong.length === 0 && grown.length === 0;
}

/** Starts a process that is killed at the end at the latest. @param {string} name @param {string[]} args @param {string[]} execArgv */
function start(name, args, execArgv) {
  const child = fork(here(name), args, { execArgv });
  children.push(child);
  return child;
}

/** The next message; fails where the process ends instead. @param {import("node:child_process").ChildProcess} child @returns {Promise<unknown>} */
function reply(child) {
  return new Promise((resolve, reject) => {
    const onExit = (/** @type {number | null} */ code) => reject(new Error(`the server ended with exit code ${code}`));
    child.once("exit", onExit);
    child.once("message", (message) => {
      child.off("exit", onExit);
      resolve(message);
    });
  });
}

/** @param {string} root */
async function prepare(root) {
  for (const user of users) await mkdir(join(root, user), { recursive: true });
  await writeFile(join(root, "big.txt"), bigFile);
  await writeFile(join(root, "secrets.html"), secretsPage);
  await writeFile(join(root, "shared.html"), sharedPage(users.map((user) => ({ user, shared: 0 }))));
}

/** Compares the disk with what the workers know: nothing else may lie there. @param {string} root @param {readonly Worker[]} workers */
async function wrongFiles(root, workers) {
  /** @type {Map<string, string | Buffer>} */
  const expected = new Map();
  expected.set("big.txt", bigFile);
  expected.set("secrets.html", secretsPage);
  expected.set("shared.html", sharedPage(workers));
  for (const worker of workers) {
    expected.set(join(worker.user, "page.html"), worker.page());
    for (const [name, { body }] of worker.files) expected.set(join(worker.user, name), body);
  }
  const wrong = [];
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const name = join(entry.parentPath, entry.name).slice(root.length + 1);
    const content = expected.get(name);
    expected.delete(name);
    if (entry.isDirectory() && users.includes(name)) continue;
    if (content === undefined) wrong.push(`${name} was left behind`);
    else if (!(await readFile(join(root, name))).equals(Buffer.from(content))) wrong.push(`${name} has other content`);
  }
  return [...wrong, ...[...expected.keys()].map((name) => `${name} is missing`)];
}

/** What grew from the first third of the rounds to the last: the fewest descriptors, the heap. @param {readonly Sample[]} samples */
function judge(samples) {
  const grown = [];
  const some = Math.max(1, Math.floor(samples.length / 3));
  const [first = [], last = []] = [samples.slice(0, some), samples.slice(-some)].map(
    (each) => each.map(({ descriptors }) => descriptors).sort((a, b) => a.length - b.length)[0],
  );
  if (last.length > first.length + (some < 3 ? coldDescriptorMargin : descriptorMargin)) {
    grown.push(`${last.length} descriptors instead of ${first.length}, more are: ${added(first, last).join(", ")}`);
  }
  const warm = samples.filter(({ requests }) => requests > warmUp);
  const [compared, margin] = warm.length >= 3 ? [warm, heapMargin] : [samples, coldMargin];
  if (compared.length < 2) {
    console.log("Too few rounds to compare the heap.");
    return grown;
  }
  const third = Math.max(1, Math.floor(compared.length / 3));
  const [before, after] = [compared.slice(0, third), compared.slice(-third)].map((some) => {
    const sorted = some.map(({ heap }) => heap).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)];
  });
  const line = `${mebibytes(before ?? 0)} MiB in the first third, ${mebibytes(after ?? 0)} MiB in the last`;
  console.log(`Heap, medians: ${line}`);
  if ((after ?? 0) > (before ?? 0) + margin) grown.push(`the heap grew: ${line}`);
  return grown;
}

/** What a list has more often than another. @param {readonly string[]} before @param {readonly string[]} after */
function added(before, after) {
  const left = [...before];
  return after.filter((each) => {
    const place = left.indexOf(each);
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
}

/** Twelve rounds at most, spread over all. @param {readonly Sample[]} samples */
function printTable(samples) {
  const rows = Math.min(12, samples.length);
  console.log(
    "| minute | requests | heap after gc without history, MiB | history of changes, MiB | resident, MiB | descriptors |\n|---|---|---|---|---|---|",
  );
  for (let row = 0; row < rows; row += 1) {
    const sample = samples[Math.round((row * (samples.length - 1)) / Math.max(1, rows - 1))];
    if (!sample) continue;
    const { minutes, requests, heap, history, rss, descriptors } = sample;
    console.log(
      `| ${minutes.toFixed(1)} | ${requests} | ${mebibytes(heap)} | ${mebibytes(history)} | ${mebibytes(rss)} | ${descriptors.length} |`,
    );
  }
}
