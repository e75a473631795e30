import { describe, expect, it } from "vitest";
import { s3Storage } from "../../../src/storage/s3/s3-storage.ts";
import { plainDeletes } from "../../helpers/plain-deletes.ts";
import { testBucket } from "../../helpers/test-bucket.ts";

/** A storage whose requests of one kind lose a condition before they are signed, as if the store did not know it. */
async function without(command: string, condition: string) {
  const { options, client, keys, unfinished } = await testBucket();
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) =>
        next(commandName === command ? { ...args, input: { ...args.input, [condition]: undefined } } : args),
    { step: "initialize" },
  );
  return { storage: s3Storage({ client, bucket: options.bucket, prefix: options.prefix }), keys, unfinished };
}

describe("the start of an S3 storage", { tags: ["versitygw"] }, () => {
  it.each([
    ["PutObjectCommand", "IfNoneMatch", "PUT with If-None-Match"],
    ["PutObjectCommand", "IfMatch", "PUT with If-Match"],
    ["GetObjectCommand", "IfMatch", "GET with If-Match"],
    ["UploadPartCopyCommand", "CopySourceIfMatch", "UploadPartCopy with x-amz-copy-source-if-match"],
    ["CompleteMultipartUploadCommand", "IfNoneMatch", "CompleteMultipartUpload with If-None-Match"],
    ["CompleteMultipartUploadCommand", "IfMatch", "CompleteMultipartUpload with If-Match"],
  ])("fails where the store ignores, of %s, %s", async (command, condition, what) => {
    const { storage, keys, unfinished } = await without(command, condition);
    await expect(storage.start?.()).rejects.toThrow(`it ignores the condition of ${what}, without which`);
    expect([await keys(), await unfinished()]).toEqual([[], 0]);
  });

  it("goes on where it ignores that of DELETE, and leaves nothing", async () => {
    const { options, keys, unfinished } = await testBucket();
    await s3Storage({ ...options, endpoint: await plainDeletes(options.endpoint) }).start?.();
    expect([await keys(), await unfinished()]).toEqual([[], 0]);
  });
});
