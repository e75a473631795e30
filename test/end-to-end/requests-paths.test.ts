import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import { exchangeBytes, rawRequest } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { type Files, onDisk, type TestSite, testSite } from "../helpers/test-site.ts";

const everyMethod = ["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"];
const content = ["Content-Length: 4"];

/** A site in `site`, beside `secret.txt`; `everything` tells of both. */
async function beside(files: Files = {}): Promise<TestSite> {
  const around = await temporaryDirectory();
  const inside = Object.entries(files).map(([path, text]) => [`/site${path}`, text]);
  const { everything } = await onDisk(around, {
    "/secret.txt": "secret\n",
    "/site/": "",
    ...Object.fromEntries(inside),
  });
  return testSite({ storage: diskStorage(join(around, "site")), everything });
}

const codeOf = (body: string): unknown => JSON.parse(body).code;

describe("a request target that leaves the root or is not clean", () => {
  const dirty = [
    ...String.raw`
      /../etc/passwd /.. /../ /../site/a.txt /dir/../../secret.txt /dir/../.. /./../secret.txt //../secret.txt
      /%2e%2e/secret.txt /%2E%2e/secret.txt /.%2e/secret.txt /%2e./secret.txt /dir/%2e%2e/%2e%2e/secret.txt
      /..%2fsecret.txt /..%2Fsecret.txt /%2e%2e%2fsecret.txt /dir%2Fb.txt /%2F /..%5csecret.txt /dir%5Cb.txt
      /..\secret.txt /dir\b.txt /\evil.example /a.txt%00 /a.txt%00.png /%00 /a%0a.txt /a%0d%0aSet-Cookie:%20a=b
      /a%1b[31m.txt /a%7f.txt /a%C2%85.txt /% /%4 /100% /%zz /%u002e%u002e/secret.txt /%ff /%c0%ae%c0%ae/secret.txt
      /%e0%80%af /%ed%a0%80 /%f5%80%80%80 /a.txt#part /a.txt?x#part http://127.0.0.1/../secret.txt
      http://127.0.0.1/%2e%2e/secret.txt http://127.0.0.1/dir%2fb.txt ftp://127.0.0.1/a.txt file:///etc/passwd *`
      .trim()
      .split(/\s+/),
    `/${"x".repeat(256)}`,
    `/${"%E2%82%AC".repeat(86)}`,
    `/dir/${"x".repeat(256)}/b.txt`,
    `/${"x/".repeat(2050)}`,
  ];

  it.each(["GET", "PUT", "POST", "DELETE"])("is 400 INVALID_PATH for %s, and changes nothing", async (method) => {
    const site = await beside({ "/a.txt": "a", "/dir/b.txt": "b" });
    const before = await site.everything();
    const answers = await Promise.all(
      dirty.map((target) => rawRequest(site.port, method, target, [...content, "X-Filename: new.txt"], "evil")),
    );
    const told = answers.map(({ status, body }, index) => [
      dirty[index],
      status,
      codeOf(body),
      body.includes("secret\n"),
    ]);
    expect(told).toEqual(dirty.map((target) => [target, 400, "INVALID_PATH", false]));
    expect([await site.everything(), site.changes]).toEqual([before, []]);
    expect(await site.textAt("/a.txt")).toBe("a");
  });

  const malformed = [
    "a.txt",
    "../secret.txt",
    "\\a.txt",
    "/a\x01.txt",
    "/a\0.txt",
    "/a\x7f.txt",
    "/a b.txt",
    "/\t",
    "",
  ];
  it.each([...malformed, "/caf\xc3\xa9.txt", "/caf\xe9.txt", "/\x80"])(
    "is 400 before the server sees it where it is not HTTP at all: %j",
    async (target) => {
      const site = await beside({ "/a.txt": "a", "/café.txt": "coffee" });
      const { status, body } = await rawRequest(site.port, "GET", target);
      expect([status, body, site.outcomes]).toEqual([400, "", []]);
    },
  );
});

describe("a request target in an unusual spelling", () => {
  const files = {
    "/a.txt": "a",
    "/a b.txt": "space",
    "/dir/b.txt": "b",
    "/café.txt": "coffee",
    "/%41.txt": "percent",
    "/%2e%2e/c.txt": "dots",
    "/%2f.txt": "slash",
    "/evil.example/d.txt": "host",
    "/a?b.txt": "question",
    "/a#b.txt": "hash",
    "/a&b=c;d+e.txt": "signs",
  };

  const spellings = [
    ["//a.txt", "a"],
    ["///a.txt", "a"],
    ["/./a.txt", "a"],
    ["/%2e/a.txt", "a"],
    ["/dir/../a.txt", "a"],
    ["/none/../a.txt", "a"],
    ["/dir/%2e%2e/a.txt", "a"],
    ["/dir//b.txt", "b"],
    ["/%61.txt", "a"],
    ["/a.txt?../../secret.txt", "a"],
    ["/a.txt?%00%zz%2f", "a"],
    ["/a.txt?", "a"],
    ["/a%20b.txt", "space"],
    ["/caf%C3%A9.txt", "coffee"],
    ["/%2541.txt", "percent"],
    ["/%252e%252e/c.txt", "dots"],
    ["/%252f.txt", "slash"],
    ["//evil.example/d.txt", "host"],
    ["/a%3fb.txt", "question"],
    ["/a%23b.txt", "hash"],
    ["/a&b=c;d+e.txt", "signs"],
    ["http://127.0.0.1/a.txt", "a"],
    ["HTTP://localhost:1/a.txt?x", "a"],
    ["https://127.0.0.1//dir//b.txt", "b"],
  ] as const;

  it("is the file that it means", async () => {
    const site = await beside(files);
    const answers = await Promise.all(spellings.map(([target]) => rawRequest(site.port, "GET", target)));
    const told = answers.map(({ status, body }, index) => [spellings[index]?.[0], status, body]);
    expect(told).toEqual(spellings.map(([target, text]) => [target, 200, text]));
  });

  it("is announced under its one canonical path", async () => {
    const site = await beside();
    await rawRequest(site.port, "PUT", "//new/%2e/x/../caf%c3%a9%2541.txt?q", content, "text");
    expect(site.changes.map(({ path }) => path)).toEqual(["/new/café%41.txt"]);
    expect(await site.textAt("/new/café%41.txt")).toBe("text");
  });
});

describe("methods", () => {
  it.each(["TRACE", "PROPFIND", "PROPPATCH", "LOCK", "PURGE", "LINK"])(
    "answers %s with 405 and what the resource supports",
    async (method) => {
      const site = await beside({ "/a.txt": "a", "/dir/b.txt": "b", "/empty/": "" });
      const targets = ["/a.txt", "/dir/", "/empty/", "/", "/none.txt"];
      const answers = await Promise.all(targets.map((target) => site.send(method, target)));
      expect(answers.map(({ status, text }) => [status, codeOf(text)])).toEqual(
        targets.map(() => [405, "METHOD_NOT_ALLOWED"]),
      );
      const supported = await Promise.all(targets.map((target) => site.send("OPTIONS", target)));
      expect(answers.map(({ headers }) => headers.allow)).toEqual(supported.map(({ headers }) => headers.allow));
      expect(answers[0]?.headers.allow).toBe("GET, HEAD, PUT, POST, DELETE, MOVE, COPY, OPTIONS");
    },
  );

  it("never echoes a TRACE", async () => {
    const site = await beside({ "/a.txt": "a" });
    expect((await site.send("TRACE", "/a.txt", { headers: { cookie: "session=1" } })).text).not.toContain("session");
  });

  it("closes the connection on CONNECT, and opens none to anywhere", async () => {
    const site = await beside();
    expect(await exchangeBytes(site.port, "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n")).toBe("");
  });

  it.each(["get", "GETS", "", "G@T"])("does not take %j for a method", async (method) => {
    const site = await beside({ "/a.txt": "a" });
    expect(await rawRequest(site.port, method, "/a.txt")).toMatchObject({ status: 400, body: "" });
  });

  it("answers OPTIONS * for the server", async () => {
    const site = await beside();
    const { status, head, body } = await rawRequest(site.port, "OPTIONS", "*");
    expect([status, body]).toEqual([200, ""]);
    for (const method of everyMethod) expect(/^allow: (.*)$/im.exec(head)?.[1]?.split(", ")).toContain(method);
  });
});
