import { gzipSync } from "node:zlib";
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
} from "@aws-sdk/client-s3";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FileServerConfig } from "../../../src/config.ts";
import { createFileServer } from "../../../src/file-server.ts";
import { s3Storage } from "../../../src/storage/s3/s3-storage.ts";
import { testBucket } from "../../helpers/test-bucket.ts";
import { namesAt } from "../content.ts";

/** A server over a bucket in which other tools work, too. */
async function besideOtherTools(config: Omit<FileServerConfig, "storage"> = {}) {
  const { options, client } = await testBucket();
  const { bucket: Bucket, prefix } = options;
  const reported: string[] = [];
  const onError = (error: unknown): void => void reported.push(String(error));
  const files = createFileServer({ ...config, storage: s3Storage(options), onError });
  onTestFinished(() => files.close());
  await files.ready();
  const ask = (method: string, path: string, body?: string, headers = {}): Promise<Response> =>
    files.fetch(new Request(`http://localhost${path}`, { method, headers, ...(body !== undefined && { body }) }));
  return {
    ask,
    reported,
    put: (key: string, Body: string | Buffer, more: Partial<PutObjectCommandInput> = {}) =>
      client.send(new PutObjectCommand({ Bucket, Key: `${prefix}/${key}`, Body, ...more })),
    head: (key: string) => client.send(new HeadObjectCommand({ Bucket, Key: `${prefix}/${key}` })),
    get: (key: string) => client.send(new GetObjectCommand({ Bucket, Key: `${prefix}/${key}` })),
  };
}

const stored = {
  ContentType: "text/html; charset=iso-8859-1",
  CacheControl: "max-age=60",
  ContentDisposition: 'attachment; filename="page.html"',
  ContentLanguage: "fr",
  Metadata: { team: "docs" },
} as const;

describe("what other tools have stored with an object", { tags: ["versitygw"] }, () => {
  it("is sent, where the host's options do not say otherwise", async () => {
    const bare = await besideOtherTools();
    await bare.put("page.html", "<p>hello", stored);
    await bare.put("data.foo", "x", { ContentType: "application/octet-stream" });
    const { headers } = await bare.ask("GET", "/page.html");
    expect(
      ["content-type", "cache-control", "content-disposition", "content-language"].map((name) => headers.get(name)),
    ).toEqual([stored.ContentType, stored.CacheControl, stored.ContentDisposition, stored.ContentLanguage]);

    const strict = await besideOtherTools({
      contentTypes: { html: "text/html; charset=utf-8" },
      cacheControl: "no-store",
      download: true,
    });
    await strict.put("page.html", "<p>hello", stored);
    const own = (await strict.ask("GET", "/page.html")).headers;
    expect(["content-type", "cache-control", "content-disposition"].map((name) => own.get(name))).toEqual([
      "text/html; charset=utf-8",
      "no-store",
      expect.stringMatching(/^attachment/),
    ]);
  });

  it.each([
    ["POST", "more", {}],
    ["POST", "<b>more</b>", { range: "selector=p" }],
    ["PUT", "<p>new</p>", {}],
  ])("is kept by %s of %s", async (method, body, headers) => {
    const { put, ask, head } = await besideOtherTools();
    await put("page.html", "<p>hello</p>", stored);
    expect((await ask(method, "/page.html", body, headers)).ok).toBe(true);
    expect(await head("page.html")).toMatchObject({ ...stored, Metadata: expect.objectContaining(stored.Metadata) });
    expect((await ask("GET", "/page.html")).headers.get("cache-control")).toBe(stored.CacheControl);
  });

  it("has the type of its name where it is made here, for other tools to know", async () => {
    const { ask, head } = await besideOtherTools();
    await ask("PUT", "/page.html", "<p>");
    await ask("PUT", "/large.css", "a".repeat(9 * 1024 * 1024));
    expect([(await head("page.html")).ContentType, (await head("large.css")).ContentType]).toEqual([
      "text/html; charset=utf-8",
      "text/css",
    ]);
  });

  it("is a coding, in which it is sent; parts of it are not changed, and new content has none", async () => {
    const { put, ask, get } = await besideOtherTools();
    const content = gzipSync("<p>hello</p>");
    await put("page.html", content, { ContentEncoding: "gzip", ContentType: "text/html" });
    const reply = await ask("GET", "/page.html");
    expect(reply.headers.get("content-encoding")).toBe("gzip");
    expect(content.equals(Buffer.from(await reply.arrayBuffer()))).toBe(true);
    const elements = { range: "selector=p" };
    const refused = [
      await ask("GET", "/page.html", undefined, elements),
      await ask("PUT", "/page.html", "<p>n", elements),
      await ask("POST", "/page.html", "more"),
    ];
    expect(refused.map(({ status }) => status)).toEqual([415, 415, 415]);
    expect(content.equals(Buffer.from((await (await get("page.html")).Body?.transformToByteArray()) ?? []))).toBe(true);
    expect((await ask("PUT", "/page.html", "<p>plain</p>")).status).toBe(200);
    const replaced = await ask("GET", "/page.html");
    expect([replaced.headers.get("content-encoding"), await replaced.text()]).toEqual([null, "<p>plain</p>"]);
  });
});

/** A client of a store that has these keys, and takes no others: not every store can keep them. */
function readOnlyStore(keys: readonly string[]): S3Client {
  const failure = (name: string, httpStatusCode: number): Error =>
    Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });
  const send = async (command: object): Promise<object> => {
    if (command instanceof HeadObjectCommand) throw failure("NotFound", 404);
    if (!(command instanceof ListObjectsV2Command)) throw failure("AccessDenied", 403);
    const { Prefix = "", Delimiter } = command.input;
    const found = keys.filter((key) => key.startsWith(Prefix));
    const prefixOf = (key: string): string => {
      const end = Delimiter === undefined ? -1 : key.indexOf(Delimiter, Prefix.length);
      return end < 0 ? "" : key.slice(0, end + 1);
    };
    const prefixes = new Set(found.map(prefixOf).filter((prefix) => prefix !== ""));
    return {
      Contents: found.filter((key) => prefixOf(key) === "").map((Key) => ({ Key, Size: 1 })),
      CommonPrefixes: [...prefixes].map((prefix) => ({ Prefix: prefix })),
    };
  };
  return Object.assign(new S3Client({ region: "us-east-1" }), { send });
}

describe("keys that no path can spell", () => {
  it("are counted and named in the log, and make no directory that lists nothing", async () => {
    const client = readOnlyStore(["a.txt", "a\u0001b", "dir//x.txt", "odd/../y.txt", "sub/b.txt"]);
    const reported: string[] = [];
    const onError = (error: unknown): void => void reported.push(String(error));
    const storage = s3Storage({ bucket: "site", client });
    await storage.start?.(onError);
    expect(await namesAt(storage, "/")).toEqual(["a.txt", "dir", "odd", "sub"]);
    const stats = await Promise.all(["/dir", "/odd", "/sub"].map((path) => storage.stat(path)));
    expect(stats.map((stat) => stat?.type)).toEqual([undefined, undefined, "directory"]);
    await namesAt(storage, "/"); // told once
    expect(reported.sort()).toEqual([
      expect.stringMatching(/"a\\u0001b" below \/ cannot be shown: .* \(\d of them so far\)$/),
      expect.stringContaining('"dir//x.txt" below /dir cannot be shown'),
      expect.stringContaining('"odd/../y.txt" below /odd cannot be shown'),
    ]);
  });
});
