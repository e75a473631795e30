import { describe } from "vitest";
import { s3Storage } from "../../../src/storage/s3/s3-storage.ts";
import { testBucket } from "../../helpers/test-bucket.ts";
import { storageContract } from "../contract.ts";

describe("an S3 storage", { tags: ["versitygw"] }, () => {
  storageContract(async (files) => s3Storage((await testBucket(files)).options));
});
