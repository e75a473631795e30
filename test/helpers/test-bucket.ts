import { randomUUID } from "node:crypto";
import { ListMultipartUploadsCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { onTestFinished } from "vitest";
import type { S3StorageOptions } from "../../src/storage/s3/s3-storage.ts";
import { s3Credentials } from "./s3-credentials.mjs";
import { bucketOptions } from "./test-site.ts";

/** A place of its own in the bucket of the tests, and how to see what really is in it. */
export interface TestBucket {
  /** For a storage of all that is there; `endpoint` is where the server is reached. */
  readonly options: S3StorageOptions & { readonly endpoint: string; readonly prefix: string };
  readonly client: S3Client;
  /** All keys, without the prefix, sorted. */
  keys(): Promise<string[]>;
  /** Uploads that are neither completed nor given up. */
  unfinished(): Promise<number>;
}

/** A place with these files, and empty directories: paths that end in a slash. For tests with the tag `versitygw`. */
export async function testBucket(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<TestBucket> {
  const { endpoint, bucket: Bucket, credentials } = bucketOptions();
  const settings = { region: "us-east-1", forcePathStyle: true, requestChecksumCalculation: "WHEN_REQUIRED" } as const;
  const client = new S3Client({ endpoint, credentials: s3Credentials, ...settings });
  onTestFinished(() => client.destroy());
  const prefix = `${randomUUID()}/files`;
  const puts = Object.entries(files).map(([path, content]) => {
    const object = { Bucket, Key: prefix + path, Body: Buffer.from(content) };
    return client.send(new PutObjectCommand(object));
  });
  await Promise.all(puts);
  return {
    options: { endpoint, bucket: Bucket, prefix, credentials },
    client,
    async keys() {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket, Prefix: `${prefix}/` }));
      return Contents.map(({ Key = "" }) => Key.slice(prefix.length)).sort();
    },
    async unfinished() {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: `${prefix}/` }));
      return Uploads.length;
    },
  };
}
