import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { logLines } from "../../src/cli/log-lines.ts";
import { startFiles } from "../../src/cli/start-files.ts";
import { createFileServer } from "../../src/file-server.ts";
import { configPage } from "../helpers/config-page.ts";
import { s3Credentials } from "../helpers/s3-credentials.mjs";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { bucketOptions } from "../helpers/test-site.ts";

const log = logLines(() => {}, { logFormat: "text", verbose: false });

beforeEach(() => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", s3Credentials.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", s3Credentials.secretAccessKey);
});
afterEach(() => void vi.unstubAllEnvs());

/** The URL of a place in the bucket of the tests that nobody else has. */
function placeInBucket(bucket?: string): string {
  const options = bucketOptions();
  return `s3://${bucket ?? options.bucket}/${randomUUID()}?endpoint=${options.endpoint}`;
}

describe("a root in a bucket", () => {
  it("is served, with the keys of the environment", { tags: ["versitygw"] }, async () => {
    const { files } = await startFiles({ target: placeInBucket(), tls: undefined, verbose: false, live: true }, log);
    const put = await files.fetch(new Request("http://localhost/a.html", { method: "PUT", body: "<title>T</title>" }));
    const get = await files.fetch(new Request("http://localhost/a.html", { headers: { range: "selector=title" } }));
    expect([put.status, get.status, await get.text()]).toEqual([201, 206, "<title>T</title>"]);
    await files.close();
  });

  it("is named by a page for a host like a directory", { tags: ["versitygw"] }, async () => {
    const page = join(await temporaryDirectory({ "config.html": configPage(placeInBucket()) }), "config.html");
    const { files } = await startFiles({ target: page, tls: undefined, verbose: false }, log);
    expect((await files.fetch(new Request("http://localhost/a.txt", { method: "PUT", body: "a" }))).status).toBe(201);
    await files.close();
  });

  it("is reached at the start, so that --check finds what is wrong", { tags: ["versitygw"] }, async () => {
    const start = (target: string) => startFiles({ target, tls: undefined, verbose: false }, log);
    await expect(start(placeInBucket("no-bucket"))).rejects.toThrow(
      'the bucket "no-bucket" cannot be used: NoSuchBucket',
    );
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "wrong");
    await expect(start(placeInBucket())).rejects.toThrow("SignatureDoesNotMatch");
  });

  it.each(["s3://", "s3://site?endpiont=http://127.0.0.1", "s3://site?endpoint=127.0.0.1", "s3://site//a"])(
    "is refused with its URL where that makes no sense: %s",
    async (root) => {
      await expect(startFiles({ target: root, tls: undefined, verbose: false }, log)).rejects.toMatchObject({
        problems: [expect.stringContaining(`root is "${root}": `)],
      });
    },
  );

  it("is not opened in code, where the keys are not those of the environment", () => {
    expect(() => createFileServer({ root: "s3://site" })).toThrow("s3Storage of filement/s3");
  });
});
