import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { s3Credentials } from "../helpers/s3-credentials.mjs";
import { startS3Server } from "../helpers/s3-server.mjs";
import { requestBytes } from "./load.mjs";
import { measure } from "./rounds.mjs";
import { withServers } from "./server-process.mjs";
import { printLoads } from "./table.mjs";

const connections = 16;
const content = Buffer.alloc(1000, "0123456789abcdef\n");
const large = Buffer.alloc(100_000, "0123456789abcdef\n");
/** More large files than are kept in memory, and pages that no two clients change at once. */
const many = 400;
const range = { range: "selector=title" };

/** @type {Readonly<Record<string, { status: number, requests: readonly Buffer[] }>>} */
const tasks = {
  "GET 1 KB from a bucket": { status: 200, requests: each(connections, (i) => requestBytes("GET", `/${i}.txt`)) },
  "GET 100 KB from a bucket, 400 files in turn": {
    status: 200,
    requests: each(many, (i) => requestBytes("GET", `/large-${i}.txt`)),
  },
  "GET of an element from a bucket": {
    status: 206,
    requests: each(connections, (i) => requestBytes("GET", `/${i}.html`, range)),
  },
  "PUT 1 KB to a bucket": {
    status: 200,
    requests: each(connections, (i) => requestBytes("PUT", `/${i}.txt`, {}, content)),
  },
  "PUT of an element in a bucket": {
    status: 206,
    requests: each(2 * many, (i) => requestBytes("PUT", `/${i % many}.html`, range, `<title>${i}</title>`)),
  },
};

/**
 * Files in an S3 bucket, beside the SDK alone. The store runs on the same machine.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function scale(_directory, effort) {
  process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] = "true"; // also for the servers
  const store = await startS3Server().catch(() => undefined);
  if (!store) return console.log("versitygw is not installed: nothing is measured of a bucket.\n");
  const { endpoint, bucket } = store;
  const args = [endpoint, bucket, s3Credentials.accessKeyId, s3Credentials.secretAccessKey];
  try {
    await fill(store);
    for (const [title, task] of Object.entries(tasks)) {
      await withServers(
        [
          ["filement", "filement-s3", args],
          ["the SDK behind node:http", "bare-s3", args],
        ],
        async (servers) => printLoads(title, await measure(servers, { ...task, connections }, effort)),
      );
    }
    const onePage = { status: 206, requests: [requestBytes("PUT", "/0.html", range, "<title>0</title>")] };
    await withServers([["filement", "filement-s3", args]], async (servers) => {
      for (const clients of [1, connections]) {
        const title = `PUT of an element, one page in a bucket, connections: ${clients}`;
        printLoads(title, await measure(servers, { ...onePage, connections: clients }, effort));
      }
    });
  } finally {
    await store.stop();
  }
}

/** @param {import("../helpers/s3-server.mjs").S3Server} store */
async function fill({ endpoint, bucket: Bucket }) {
  const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials: s3Credentials });
  const put = (/** @type {string} */ Key, /** @type {Buffer | string} */ Body) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body }));
  for (let i = 0; i < connections; i += 1) await put(`${i}.txt`, content);
  for (let i = 0; i < many; i += 1) {
    await put(`large-${i}.txt`, large);
    await put(`${i}.html`, `<!doctype html><title>old</title>${"<p>text</p>".repeat(20)}`);
  }
  client.destroy();
}

/**
 * @template Item
 * @param {number} length
 * @param {(index: number) => Item} make
 */
function each(length, make) {
  return Array.from({ length }, (_, index) => make(index));
}
