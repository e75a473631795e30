import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Access keys of the servers that tests start. */
export const s3Credentials = { accessKeyId: "filement", secretAccessKey: "a secret of tests" };

/** A real S3 server on a free port of the loopback interface, with one bucket. */
export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  stop(): Promise<void>;
}

/** Starts the server of the tag `versitygw`. */
export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(await realpath(tmpdir()), "filement-s3-"));
  const bucket = "site";
  await mkdir(join(directory, "data", bucket), { recursive: true }); // a directory is a bucket
  const port = await freePort();
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Waits for what the server prints when it listens; what it prints later is passed over. */
async function listening(server: ChildProcess): Promise<void> {
  let printed = "";
  await new Promise<void>((resolve, reject) => {
    server.once("exit", (code) => reject(new Error(`versitygw ended with ${code}: ${printed}`)));
    const hear = (text: unknown): void => {
      if (printed.includes("listening on")) return;
      printed += text;
      if (printed.includes("listening on")) resolve();
    };
    server.stdout?.on("data", hear);
    server.stderr?.on("data", hear);
  });
}
