import { afterAll, beforeAll, describe } from "vitest";
import { s3Storage } from "../../../src/storage/s3/s3-storage.ts";
import { type S3Server, startS3Server } from "../../helpers/s3-server.ts";
import { storageContract } from "../contract.ts";

describe("an S3 storage", { tags: ["versitygw"] }, () => {
  let store: S3Server;
  beforeAll(async () => {
    store = await startS3Server();
  });
  afterAll(() => store.stop());

  storageContract(async (files) => s3Storage(await store.storageWith(files)));
});
