import { describe, expect, it } from "vitest";
import type { Change } from "../../src/server/change-feed.ts";
import { timesOf } from "../helpers/effort.ts";
import { storages, testSite } from "../helpers/test-site.ts";

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe.each(storages)("many requests at the same time $where", ({ make }) => {
  it("append all of many contents to one file, each whole, announced in the order in which they stand", async () => {
    const site = await testSite(await make({ "/log.txt": "" }));
    const lines = numbers(timesOf(20, 200)).map((number) => `line ${number} ${"x".repeat(number)}\n`);
    const answers = await Promise.all(lines.map((body) => site.send("POST", "/log.txt", { body })));
    const text = (await site.textAt("/log.txt")) ?? "";
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(text.split(/(?<=\n)/).sort()).toEqual([...lines].sort());

    // The file only grows: the size after each append tells their order.
    const stored = answers.map((answer): { size: number; etag: string } => JSON.parse(answer.text));
    const inOrder = stored.sort((one, other) => one.size - other.size).map(({ etag }) => etag);
    expect(site.changes.map(({ etag }) => etag)).toEqual(inOrder);
    await site.files.close();
    expect(await site.everything()).toEqual(["/log.txt"]);
  });

  it("leave one of the contents that were PUT, whole, and create the file once", async () => {
    const site = await testSite(await make());
    const bodies = numbers(timesOf(10, 30)).map((number) => String.fromCharCode(65 + number).repeat(100_000 + number));
    const others = bodies.length - 1;
    const answers = await Promise.all(bodies.map((body) => site.send("PUT", "/dir/a.txt", { body })));
    const last = site.changes.at(-1)?.etag;
    const winner = answers.findIndex(({ headers }) => headers.etag === last);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(others).fill(200), 201]);
    expect(site.changes.map(({ kind }) => kind)).toEqual(["created", ...Array(others).fill("replaced")]);
    expect((await site.textAt("/dir/a.txt")) === bodies[winner]).toBe(true);
    expect(await site.everything()).toEqual(["/dir/", "/dir/a.txt"]);
  });

  it("read one whole version each while the file is replaced and appended to", async () => {
    const site = await testSite(await make({ "/a.txt": "0".repeat(200_000) }));
    const writes = numbers(timesOf(8, 20)).map((number) =>
      number % 4 === 3
        ? site.send("POST", "/a.txt", { body: "+".repeat(100_000) })
        : site.send("PUT", "/a.txt", { body: String(number % 10).repeat(200_000) }),
    );
    const reads = numbers(timesOf(20, 60)).map(() => site.send("GET", "/a.txt"));
    const answers = await Promise.all(reads);
    await Promise.all(writes);
    for (const { status, headers, bytes, text } of answers) {
      expect(status).toBe(200);
      expect(String(bytes.length)).toBe(headers["content-length"]);
      expect(/^(\d)\1{199999}(?:\+{100000})*$/.test(text)).toBe(true);
    }
    // Never two contents under one tag.
    const contents = new Set(answers.map(({ headers, text }) => `${headers.etag} ${text}`));
    expect(contents.size).toBe(new Set(answers.map(({ headers }) => headers.etag)).size);
  });

  it("let exactly one of two win that change the same version", async () => {
    const site = await testSite(await make({ "/a.txt": "old" }));
    for (const method of ["PUT", "POST"]) {
      const { etag = "" } = (await site.send("HEAD", "/a.txt")).headers;
      const answers = await Promise.all(
        ["mine", "yours"].map((body) => site.send(method, "/a.txt", { body, headers: { "if-match": etag } })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
      const lost = answers.find(({ status }) => status === 412);
      expect(lost?.headers.etag).toBe((await site.send("HEAD", "/a.txt")).headers.etag);
    }
    expect(site.changes).toHaveLength(2);
  });

  it("keep a file whatever spelling of its path they use", async () => {
    const site = await testSite(await make({ "/dir/a.txt": "" }));
    const spellings = ["/dir/a.txt", "/dir//a.txt", "/dir/%61.txt", "/x/../dir/./a.txt"];
    await Promise.all(numbers(40).map((i) => site.send("POST", spellings[i % 4] ?? "", { body: "1234567890" })));
    expect((await site.textAt("/dir/a.txt"))?.length).toBe(400);
    expect(new Set(site.changes.map(({ path }) => path))).toEqual(new Set(["/dir/a.txt"]));
  });
});

describe.each(storages)("the changes that are announced $where", ({ make }) => {
  it("are the committed ones, each once, in order, with all that is known of them", async () => {
    const site = await testSite(await make({ "/a.txt": "a", "/empty/": "" }));
    const steps: readonly [method: string, target: string, headers?: Record<string, string>][] = [
      ["PUT", "/new/b.txt"],
      ["PUT", "/%61.txt"],
      ["POST", "/a.txt"],
      ["POST", "/new", { "x-filename": "c.txt" }],
      ["DELETE", "/a.txt"],
      ["DELETE", "/empty"],
    ];
    const tags: (string | undefined)[] = [];
    for (const [index, [method, target, headers]] of steps.entries()) {
      const sending = { headers: { ...headers, "x-request-id": `request-${index}` }, body: "content" };
      tags.push((await site.send(method, target, sending)).headers.etag);
    }
    const summary = ({ kind, method, path, etag, requestId }: Change) => [kind, method, path, etag, requestId];
    expect(site.changes.map(summary)).toEqual([
      ["created", "PUT", "/new/b.txt", tags[0], "request-0"],
      ["replaced", "PUT", "/a.txt", tags[1], "request-1"],
      ["appended", "POST", "/a.txt", tags[2], "request-2"],
      ["created", "POST", "/new/c.txt", tags[3], "request-3"],
      ["deleted", "DELETE", "/a.txt", undefined, "request-4"],
      ["deleted", "DELETE", "/empty/", undefined, "request-5"],
    ]);
    expect(site.changes.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(site.changes[0]).toMatchObject({ host: "127.0.0.1", time: expect.stringMatching(/^\d{4}-.*Z$/) });
  });

  it("are there before the client has its answer", async () => {
    const site = await testSite(await make());
    await site.send("PUT", "/a.txt", { body: "x" });
    expect(site.changes).toHaveLength(1);
  });

  it("are none for what is only read, and for what fails", async () => {
    const site = await testSite(await make({ "/a.txt": "a", "/full/b.txt": "b" }));
    const failing: readonly [method: string, target: string, headers?: Record<string, string>][] = [
      ["GET", "/a.txt"],
      ["HEAD", "/full/"],
      ["OPTIONS", "/a.txt"],
      ["PUT", "/full"],
      ["PUT", "/a.txt/b"],
      ["PUT", "/a.txt", { "if-none-match": "*" }],
      ["PUT", "/a.txt", { "content-encoding": "gzip" }],
      ["POST", "/no.txt"],
      ["POST", "/full/", { "x-filename": "b.txt" }],
      ["POST", "/full/"],
      ["DELETE", "/full/"],
      ["DELETE", "/no.txt"],
      ["PATCH", "/a.txt"],
    ];
    for (const [method, target, headers = {}] of failing) await site.send(method, target, { headers });
    expect(site.changes).toEqual([]);
  });
});
