import { describe } from "vitest";
import { s3Storage } from "../../../src/storage/s3/s3-storage.ts";
import { plainDeletes } from "../../helpers/plain-deletes.ts";
import { testBucket } from "../../helpers/test-bucket.ts";
import { storageContract } from "../contract.ts";

describe("an S3 storage", { tags: ["versitygw"] }, () => {
  storageContract(async (files) => s3Storage((await testBucket(files)).options));
});

// What is different then, the deletes, is in races.test.ts.
describe("an S3 storage whose store has no conditional DELETE", { tags: ["versitygw", "campaign"] }, () => {
  storageContract(async (files) => {
    const { options } = await testBucket(files);
    return s3Storage({ ...options, endpoint: await plainDeletes(options.endpoint) });
  });
});
