import { STATUS_CODES } from "node:http";
import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import type { Answer } from "../helpers/send.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { onDisk, type TestSite, testSite } from "../helpers/test-site.ts";

type Fields = Readonly<Record<string, string>>;
type Asked = readonly [method: string, target: string, headers?: Fields, body?: string | undefined];

const secret = "the database password is in /etc/filement/secret.conf";

/** Answers what a file handler never does: failures of all kinds. */
const failing: Plugin = {
  name: "failing",
  handle(exchange, next) {
    if (exchange.path === "/fails") throw new Error(secret);
    if (exchange.path === "/fails-oddly") throw { toString: () => secret };
    return next();
  },
};

async function site(config: Omit<FileServerConfig, "root" | "storage"> = {}): Promise<TestSite & { root: string }> {
  const root = await temporaryDirectory();
  const files = {
    "/a.txt": "0123456789",
    "/empty.txt": "",
    "/page.html": "<title>t</title><p>one</p><p>two</p>",
    "/dir/b.txt": "b",
    "/home/index.html": "<h1>Home</h1>",
    "/none/": "",
  };
  const made = await testSite(await onDisk(root, files), {
    maxFileSize: 1000,
    onError: () => {},
    ...config,
    plugins: [failing, ...(config.plugins ?? [])],
  });
  return { ...made, root };
}

const ask = ({ send }: TestSite, [method, target, headers = {}, body]: Asked): Promise<Answer> =>
  send(method, target, { headers, body });

const errors: readonly (readonly [number, string, Asked])[] = [
  [400, "INVALID_PATH", ["GET", "/%00"]],
  [400, "INVALID_HOST", ["GET", "/", { host: "a/b" }]],
  [400, "INVALID_SELECTOR", ["GET", "/page.html", { range: "selector=p[" }]],
  [400, "INVALID_HTML", ["PUT", "/page.html", { range: "selector=p" }, "<div>"]],
  [400, "INVALID_RANGE", ["PUT", "/a.txt", { range: "bytes=0-1" }, "x"]],
  [400, "MISSING_FILENAME", ["POST", "/dir/", {}, "x"]],
  [403, "CROSS_SITE", ["DELETE", "/a.txt", { origin: "https://evil.example" }]],
  [403, "FORBIDDEN_PATH", ["PUT", "/.env", {}, "x"]],
  [403, "ROOT_DIRECTORY", ["DELETE", "/"]],
  [404, "NOT_FOUND", ["GET", "/missing"]],
  [404, "NOT_FOUND", ["GET", "/a.txt/"]],
  [405, "METHOD_NOT_ALLOWED", ["PROPFIND", "/a.txt"]],
  [405, "IS_DIRECTORY", ["PUT", "/dir/", {}, "x"]],
  [409, "NOT_A_DIRECTORY", ["PUT", "/a.txt/b", {}, "x"]],
  [409, "DIRECTORY_NOT_EMPTY", ["DELETE", "/dir/"]],
  [409, "FILE_EXISTS", ["POST", "/dir/", { "x-filename": "b.txt" }, "x"]],
  [412, "PRECONDITION_FAILED", ["PUT", "/a.txt", { "if-match": '"x"' }, "x"]],
  [413, "FILE_TOO_LARGE", ["PUT", "/a.txt", {}, "x".repeat(1001)]],
  [415, "UNSUPPORTED_ENCODING", ["PUT", "/a.txt", { "content-encoding": "gzip" }, "x"]],
  [416, "NOT_HTML", ["GET", "/a.txt", { range: "selector=p" }]],
  [416, "RANGE_NOT_SATISFIABLE", ["GET", "/a.txt", { range: "bytes=50-" }]],
  [500, "INTERNAL_ERROR", ["GET", "/fails"]],
  [500, "INTERNAL_ERROR", ["PUT", "/fails-oddly", {}, "x"]],
];
const successes: readonly (readonly [number, Asked])[] = [
  [200, ["GET", "/a.txt"]],
  [200, ["HEAD", "/a.txt"]],
  [200, ["GET", "/empty.txt"]],
  [200, ["GET", "/dir/"]],
  [200, ["GET", "/home/"]],
  [200, ["OPTIONS", "/a.txt"]],
  [200, ["PUT", "/a.txt", {}, "x"]],
  [200, ["POST", "/a.txt", {}, "x"]],
  [201, ["PUT", "/new.txt", {}, "x"]],
  [204, ["DELETE", "/a.txt"]],
  [204, ["GET", "/page.html", { range: "selector=nav" }]],
  [206, ["GET", "/a.txt", { range: "bytes=1-2" }]],
  [206, ["HEAD", "/page.html", { range: "selector=p" }]],
  [301, ["GET", "/dir"]],
  [304, ["GET", "/a.txt", { "if-none-match": "*" }]],
];

describe("an error", () => {
  it.each(errors)("is %i %s, as JSON or as a page, and tells nothing of the server's inside: %j", async (...row) => {
    const [status, code, [method, target, headers, body]] = row;
    const to = await site();
    const asked = (accept: string) => ask(to, [method, target, { ...headers, accept }, body]);
    const json = await asked("application/json");
    expect([json.status, json.headers["content-type"]]).toEqual([status, "application/json"]);
    expect(JSON.parse(json.text)).toEqual({
      error: STATUS_CODES[status],
      details: expect.stringMatching(/^.{10,}$/s),
      code,
    });
    expect(json.headers["content-length"]).toBe(String(json.bytes.length));

    const page = await asked("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
    expect([page.status, page.headers["content-type"]]).toEqual([status, "text/html; charset=utf-8"]);
    expect(page.text).toContain(`<title>${status} ${STATUS_CODES[status]}</title>`);
    expect(page.text).toContain(code);
    expect(page.headers["content-security-policy"]).toMatch(/default-src 'none'/);

    for (const answer of [json, page]) {
      const all = JSON.stringify(answer.headers) + answer.text;
      for (const inside of [to.root, secret, process.cwd(), "node:", "file://", "    at ", ".ts:"]) {
        expect(all).not.toContain(inside);
      }
    }
  });

  it("does not repeat what the client sent as markup", async () => {
    const to = await site();
    const headers = { accept: "text/html", range: "selector=p:<img src=x onerror=alert(1)>" };
    const answer = await ask(to, ["GET", "/page.html", headers]);
    expect([answer.status, answer.text.includes("<img")]).toEqual([400, false]);
    expect((await ask(to, ["GET", "/%3Cimg%20src=x%3E", { accept: "text/html" }])).text).not.toContain("<img");
  });
});

describe("every reply", () => {
  it.each([...errors.map(([status, , asked]) => [status, asked] as const), ...successes])(
    "has an id, nosniff, a date and its length: %i for %j",
    async (status, asked) => {
      const [method, target, headers, body] = asked;
      const before = Math.floor(Date.now() / 1000) * 1000; // the field has no fractions, and Node keeps it for a second
      const answer = await ask(await site(), [method, target, { ...headers, "x-request-id": "r-1" }, body]);
      expect(answer.status).toBe(status);
      expect(answer.headers).toMatchObject({ "x-request-id": "r-1", "x-content-type-options": "nosniff" });
      expect(Date.parse(answer.headers.date ?? "")).toBeGreaterThanOrEqual(before - 1000);
      expect(Date.parse(answer.headers.date ?? "")).toBeLessThanOrEqual(Date.now());
      expect(Object.keys(answer.headers)).not.toContain("x-powered-by");
      expect(Object.keys(answer.headers)).not.toContain("server");
    },
  );

  it.each(successes.filter(([status]) => status === 204 || status === 304))(
    "has neither content nor its length with %i: %j",
    async (_status, asked) => {
      const { text, headers } = await ask(await site(), asked);
      expect([text, headers["content-length"], headers["transfer-encoding"]]).toEqual(["", undefined, undefined]);
    },
  );
});

/** The header fields that say something of the resource: not of this moment, and not of how the content is framed. */
function meaningOf({ headers }: Answer): unknown {
  const { date: _now, "transfer-encoding": _framing, ...rest } = headers;
  return rest;
}

describe("HEAD", () => {
  const targets: readonly (readonly [string, Fields])[] = [
    ["/a.txt", {}],
    ["/empty.txt", {}],
    ["/page.html", {}],
    ["/dir/", {}],
    ["/dir/", { accept: "application/json" }],
    ["/none/", {}],
    ["/home/", {}],
    ["/missing", {}],
    ["/missing", { accept: "text/html" }],
    ["/.env", {}],
    ["/%zz", {}],
    ["/fails", {}],
    ["/a.txt", { host: "a/b" }],
    ["/a.txt", { range: "bytes=2-3" }],
    ["/a.txt", { range: "bytes=50-" }],
    ["/a.txt", { "if-none-match": "*" }],
    ["/a.txt", { "if-match": '"x"' }],
    ["/page.html", { range: "selector=p" }],
    ["/page.html", { range: "selector=nav" }],
    ["/page.html", { range: "selector=p[" }],
    ["/a.txt", { range: "selector=p" }],
  ];

  it.each(targets)("is GET without the content: %s %j", async (target, fields) => {
    const to = await site();
    const headers = { ...fields, "x-request-id": "same" };
    const get = await ask(to, ["GET", target, headers]);
    const head = await ask(to, ["HEAD", target, headers]);
    expect(head.text).toBe("");
    expect([head.status, meaningOf(head)]).toEqual([get.status, meaningOf(get)]);
  });

  it("is redirected where GET is", async () => {
    const { status, headers, text } = await ask(await site(), ["HEAD", "/dir?a=b"]);
    expect([status, headers.location, text]).toEqual([301, "/dir/?a=b", ""]);
  });
});

describe("untrustedContent", () => {
  const page = "<p>one</p>";
  const files = {
    "/a.txt": "a",
    "/a.svg": "<svg/>",
    "/a.xml": "<a/>",
    "/page.html": page,
    "/a.HTM": page,
    "/a.shtml": page,
    "/a.xhtml": page,
    "/a.xht": page,
    "/a.md": page,
  };
  const contentTypes = { ".md": "text/html" };
  const policyOf = async (untrustedContent: boolean, target: string, headers: Fields = {}): Promise<unknown> => {
    const options = { untrustedContent, contentTypes };
    const to = await testSite(await onDisk(await temporaryDirectory(), files), options);
    return (await to.send("GET", target, { headers })).headers["content-security-policy"];
  };

  it.each(Object.keys(files).slice(1))("has %s sandboxed", async (target) => {
    expect(await policyOf(true, target)).toBe("sandbox");
    expect(await policyOf(true, target, { range: "bytes=0-2" })).toBe("sandbox");
    expect(await policyOf(false, target)).toBe(undefined);
  });

  it("has elements sandboxed, and nothing that is no document", async () => {
    expect(await policyOf(true, "/page.html", { range: "selector=p" })).toBe("sandbox");
    expect(await policyOf(true, "/a.txt")).toBe(undefined);
  });
});
