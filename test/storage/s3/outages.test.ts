import { randomUUID } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createFileServer, type FileServer } from "../../../src/file-server.ts";
import { s3Storage } from "../../../src/storage/s3/s3-storage.ts";
import { seededRandom, timesOf } from "../../helpers/effort.ts";
import { type FaultyProxy, faultyProxy } from "../../helpers/faulty-proxy.ts";
import { plainDeletes } from "../../helpers/plain-deletes.ts";
import { testBucket } from "../../helpers/test-bucket.ts";

const serverCount = 3;
const clientsOfServer = 2;
const roundsOfClient: number = timesOf(4, 100);
const busy =
  "HTTP/1.1 503 Slow Down\r\ncontent-length: 36\r\nconnection: close\r\n\r\n<Error><Code>SlowDown</Code></Error>";
/** Of tries to know whether a change was made, and of what the client of the store waits. */
const pauseFactor = 0.05;

/** Outages that begin at random, of some requests each: answers lost, requests lost, or 503 to what was made. */
function withOutages(way: FaultyProxy, random: () => number): void {
  let left = 0;
  let kind: "answers" | "requests" | "says 503" = "answers";
  const begins = (request: string): boolean => {
    if (left === 0 && /^(?:PUT|DELETE|POST) /.test(request) && random() < 0.12) {
      left = 1 + Math.floor(random() * 14);
      kind = (["answers", "requests", "says 503"] as const)[Math.floor(random() * 3)] ?? "answers";
    }
    return left > 0;
  };
  const strikes = (wanted: typeof kind) => (request: string) => {
    if (!begins(request) || kind !== wanted) return false;
    left -= 1;
    return true;
  };
  way.fail({
    cutRequest: { test: strikes("requests") },
    cutAnswer: { test: strikes("answers") },
    replaceAnswer: { request: { test: strikes("says 503") }, answer: busy },
    times: Number.POSITIVE_INFINITY,
  });
}

/** What was sent, by what it was added to: whether it was answered, refused, or nothing is known of it. */
type Journal = Map<string, "answered" | "refused" | "unknown">;

function outcomeOf(status: number, success: readonly number[], refusals: readonly number[]) {
  if (success.includes(status)) return "answered";
  expect([503, ...refusals]).toContain(status);
  return status === 503 ? "unknown" : "refused";
}

/** Everything that was answered is there once, what is not known at most once, and nothing else. */
function expectEach(found: readonly string[], journal: Journal): void {
  expect(found.filter((id, index) => found.indexOf(id) !== index)).toEqual([]);
  expect(found.filter((id) => (journal.get(id) ?? "refused") === "refused")).toEqual([]);
  expect([...journal].filter(([id, outcome]) => outcome === "answered" && !found.includes(id))).toEqual([]);
}

async function ask(files: FileServer, method: string, path: string, body?: string, headers = {}) {
  const reply = await files.fetch(
    new Request(`http://localhost${path}`, { method, headers, ...(body !== undefined && { body }) }),
  );
  return { status: reply.status, etag: reply.headers.get("etag"), text: await reply.text() };
}

describe("servers of one bucket whose ways to it fail, one after the other and at once", {
  tags: ["versitygw"],
}, () => {
  it.each([
    ["has", false],
    ["has no", true],
  ])("double nothing, lose nothing and tell one tag where the store %s conditional DELETE", async (_has, isPlain) => {
    const random = seededRandom(21);
    const realRandom = Math.random.bind(Math);
    const pauses = vi.spyOn(Math, "random").mockImplementation(() => realRandom() * pauseFactor);
    onTestFinished(() => pauses.mockRestore());
    const { options } = await testBucket({ "/log.txt": "", "/list.html": "<ul></ul>", "/same.txt": "" });
    const endpoint = isPlain ? await plainDeletes(options.endpoint) : options.endpoint;
    const ways = await Promise.all(Array.from({ length: serverCount }, () => faultyProxy(endpoint)));
    const servers = ways.map(({ url }) =>
      createFileServer({ storage: s3Storage({ ...options, endpoint: url }), onError() {} }),
    );
    onTestFinished(async () => void (await Promise.all(servers.map((files) => files.close()))));
    await Promise.all(servers.map((files) => files.ready()));
    for (const way of ways) withOutages(way, random);

    const [lines, items, told]: [Journal, Journal, string[]] = [new Map(), new Map(), []];
    for (const files of servers) {
      files.changes.subscribe(({ path, etag, kind }) => void (path === "/log.txt" && told.push(`${kind} ${etag}`)));
    }
    const client = async (files: FileServer, name: string): Promise<void> => {
      for (let round = 0; round < roundsOfClient; round += 1) {
        const id = randomUUID();
        lines.set(id, outcomeOf((await ask(files, "POST", "/log.txt", `${id}\n`)).status, [200], [409]));
        const range = { range: "selector=ul" };
        items.set(id, outcomeOf((await ask(files, "POST", "/list.html", `<li>${id}`, range)).status, [206], [409]));
        await ask(files, "PUT", "/same.txt", "the same content");
        const path = `/${name}.txt`;
        const created = await ask(files, "PUT", path, id, { "if-none-match": "*" });
        outcomeOf(created.status, [201], []); // nobody else makes it: 412 would be its own
        if (created.status !== 201) {
          // What is not known is looked up before the next round, as the reply says.
          let status = 503;
          while (status === 503) ({ status } = await ask(files, "DELETE", path));
          continue;
        }
        const deleted = await ask(files, "DELETE", path);
        outcomeOf(deleted.status, [204], []); // nobody else deletes it: 404 would be its own
        for (let { status } = deleted; status === 503; ) ({ status } = await ask(files, "DELETE", path));
      }
    };
    await Promise.all(
      servers.flatMap((files, server) =>
        Array.from({ length: clientsOfServer }, (_, index) => client(files, `own-${server}-${index}`)),
      ),
    );

    const failures = ways.reduce((sum, way) => sum + way.failures, 0);
    for (const way of ways) way.fail({});
    const [one] = servers as [FileServer, ...FileServer[]];
    expectEach((await ask(one, "GET", "/log.txt")).text.split("\n").slice(0, -1), lines);
    const page = (await ask(one, "GET", "/list.html")).text;
    expectEach(
      [...page.matchAll(/<li>([^<]+)/g)].map(([, id = ""]) => id),
      items,
    );
    const answered = [...lines.values()].filter((outcome) => outcome === "answered");
    expect(told).toHaveLength(answered.length);
    expect(answered.length).toBeGreaterThan(lines.size / 4);
    for (const path of ["/log.txt", "/list.html", "/same.txt"]) {
      const tags = await Promise.all(servers.map(async (files) => (await ask(files, "GET", path)).etag));
      expect([path, new Set(tags).size]).toEqual([path, 1]);
    }
    expect(failures).toBeGreaterThan(10);
    const known = [...lines.values(), ...items.values()].filter((outcome) => outcome !== "unknown").length;
    process.stdout.write(`${failures} faults, ${known} of ${lines.size + items.size} outcomes known\n`);
  });
});
