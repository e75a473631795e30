import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { s3Credentials } from "./s3-credentials.mjs";
import { unusedPort } from "./unused-port.mjs";

/**
 * A real S3 server on a free port of the loopback interface, with one bucket.
 *
 * @typedef {object} S3Server
 * @property {string} endpoint
 * @property {string} bucket
 * @property {() => Promise<void>} stop
 */

/** Starts the server of the tag `versitygw`. */
export async function startS3Server() {
  const directory = await mkdtemp(join(await realpath(tmpdir()), "filement-s3-"));
  const bucket = "site";
  await mkdir(join(directory, "data", bucket), { recursive: true }); // a directory is a bucket
  const port = await unusedPort();
  const { accessKeyId, secretAccessKey } = s3Credentials;
  const env = { ...process.env, ROOT_ACCESS_KEY_ID: accessKeyId, ROOT_SECRET_ACCESS_KEY: secretAccessKey };
  const args = ["--keep-alive", "--port", `127.0.0.1:${port}`, "posix", join(directory, "data")];
  const server = spawn("versitygw", args, { env, stdio: ["ignore", "pipe", "pipe"] });
  await listening(server);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    async stop() {
      const ended = once(server, "exit");
      server.kill();
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Waits for what the server prints when it listens; what it prints later is passed over.
 *
 * @param {import("node:child_process").ChildProcess} server
 */
async function listening(server) {
  let printed = "";
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`versitygw ended with ${code}: ${printed}`)));
    const hear = (/** @type {unknown} */ text) => {
      if (printed.includes("listening on")) return;
      printed += text;
      if (printed.includes("listening on")) resolve(undefined);
    };
    server.stdout?.on("data", hear);
    server.stderr?.on("data", hear);
  });
}
