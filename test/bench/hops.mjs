// `npm run hops`: counts what one request passes through, with V8's precise coverage: the files and functions of the compiled
// library that it enters, and the calls. `npm run hops -- --list` names them; `npm run hops -- DIRECTORY` looks at another
// compiled library, for instance that of an older version. Nothing depends on how the library is laid out.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, createServer, request } from "node:http";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { printTable } from "./table.mjs";

/** Enough for what is done once, or once in a while, to be done. */
const warmUps = 20;
/** After a reply files are closed and caches are filled; there is no event that says so. */
const quietMs = 250;

const page = `<!doctype html><title>T</title><ul id="news">${"<li>one <b>two</b></li>".repeat(20)}</ul>`;
const selector = "selector=#news li:first-child";

/** @type {readonly { name: string, method: string, path: string, headers?: Record<string, string>, body?: string }[]} */
const requests = [
  { name: "GET", method: "GET", path: "/a.txt" },
  { name: "GET 304", method: "GET", path: "/a.txt", headers: { "if-none-match": "*" } },
  { name: "PUT", method: "PUT", path: "/b.txt", body: "b" },
  { name: "GET by selector", method: "GET", path: "/page.html", headers: { range: selector } },
  { name: "PUT by selector", method: "PUT", path: "/page.html", headers: { range: selector }, body: "<li>new</li>" },
];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { list: { type: "boolean" } } });
const library = pathToFileURL(`${resolve(positionals[0] ?? "build")}/`).href;
const { createFileServer } = await import(`${library}index.js`);

const directory = await mkdtemp(join(tmpdir(), "filement-hops-"));
await writeFile(join(directory, "a.txt"), "a".repeat(1024));
await writeFile(join(directory, "b.txt"), "b");
await writeFile(join(directory, "page.html"), page);
const files = createFileServer({ root: directory });
const server = createServer(files).listen(0, "127.0.0.1");
await new Promise((done) => server.once("listening", done));
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const session = new Session();
session.connect();

try {
  const rows = [];
  for (const each of requests) {
    for (let i = 0; i < warmUps; i += 1) await ask(each);
    await setTimeout(quietMs);
    await ask(each); // what is kept only of files that rest is kept by now
    const entered = await functionsEntered(() => ask(each));
    const calls = entered.reduce((sum, { count }) => sum + count, 0);
    const filesEntered = new Set(entered.map(({ file }) => file));
    rows.push([each.name, filesEntered.size, entered.length, calls].map(String));
    if (values.list) list(each.name, entered);
  }
  printTable("One warm request", ["request", "files", "functions", "calls"], rows);
} finally {
  session.disconnect();
  agent.destroy();
  server.close();
  await files.close();
  await rm(directory, { recursive: true, force: true });
}

/** @typedef {{ file: string, name: string, count: number }} Entered */

/** @param {() => Promise<void>} act */
async function functionsEntered(act) {
  await setTimeout(quietMs);
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await act();
  await setTimeout(quietMs);
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  await session.post("Profiler.disable");
  return result
    .filter(({ url }) => url.startsWith(library))
    .flatMap(({ url, functions }) =>
      functions.map(({ functionName, ranges: [range] }) => ({
        file: url.slice(library.length),
        name: functionName || "(anonymous)",
        count: range?.count ?? 0,
      })),
    )
    .filter(({ count }) => count > 0);
}

/** @param {(typeof requests)[number]} what */
function ask({ name, method, path, headers = {}, body = "" }) {
  return new Promise((done, failed) => {
    const length = method === "PUT" ? { "content-length": String(Buffer.byteLength(body)) } : {};
    const asked = request({ port, agent, method, path, headers: { ...headers, ...length } }, (response) => {
      const { statusCode = 500 } = response;
      if (statusCode >= 400) failed(new Error(`${name} was answered ${statusCode}`));
      response.resume().once("end", done);
    });
    asked.once("error", failed).end(body);
  });
}

/**
 * @param {string} title
 * @param {readonly Entered[]} entered
 */
function list(title, entered) {
  console.log(`${title}:`);
  for (const file of new Set(entered.map((each) => each.file))) {
    const functions = entered.filter((each) => each.file === file);
    console.log(`  ${file}: ${functions.map((each) => `${each.name} ${each.count}`).join(", ")}`);
  }
  console.log();
}
