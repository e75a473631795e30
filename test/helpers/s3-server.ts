import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import type { S3StorageOptions } from "../../src/storage/s3/s3-storage.ts";

/** Access keys of the servers that tests start. */
export const s3Credentials = { accessKeyId: "filement", secretAccessKey: "a secret of tests" };

/** A real S3 server, with one bucket, on a free port of the loopback interface. */
export interface S3Server {
  readonly endpoint: string;
  readonly port: number;
  readonly bucket: string;
  readonly client: S3Client;
  /** Options for a storage of its own in the bucket, with these files and nothing else in it. */
  storageWith(files?: Readonly<Record<string, string>>): Promise<S3StorageOptions & { readonly prefix: string }>;
  stop(): Promise<void>;
}

/** Starts the server of the tag `versitygw`. Tests keep apart by prefixes. */
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

  const endpoint = `http://127.0.0.1:${port}`;
  const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials: s3Credentials });
  let count = 0;
  return {
    endpoint,
    port,
    bucket,
    client,
    async storageWith(files = {}) {
      count += 1;
      const prefix = `${count}/files`;
      const puts = Object.entries(files).map(([path, text]) =>
        client.send(new PutObjectCommand({ Bucket: bucket, Key: prefix + path, Body: Buffer.from(text) })),
      );
      await Promise.all(puts);
      return { endpoint, bucket, prefix, credentials: s3Credentials };
    },
    async stop() {
      client.destroy();
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
