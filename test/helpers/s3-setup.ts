import type { TestProject } from "vitest/node";
import { isMet } from "./needs.ts";
import { startS3Server } from "./s3-server.mjs";

declare module "vitest" {
  interface ProvidedContext {
    /** The S3 server of this run, where one is installed. */
    s3: { readonly endpoint: string; readonly bucket: string } | undefined;
  }
}

/** Starts one S3 server for all tests of a run, which keep apart by prefixes of keys. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!isMet("versitygw")) {
    project.provide("s3", undefined);
    return undefined;
  }
  const { endpoint, bucket, stop } = await startS3Server();
  project.provide("s3", { endpoint, bucket });
  return stop;
}
