import { describe, expect, it } from "vitest";
import { bucketUrlProblem, isBucketUrl, readBucketUrl } from "../../../src/storage/s3/bucket-url.ts";

describe("the URL of a bucket", () => {
  it("names a bucket, what keys begin with, and where the store is", () => {
    expect(readBucketUrl("s3://site")).toEqual({ bucket: "site", prefix: "" });
    expect(
      readBucketUrl("s3://site/docs/a%20b/?endpoint=http://127.0.0.1:9000&region=eu-west-1&pathStyle=false"),
    ).toEqual({
      bucket: "site",
      prefix: "docs/a b/",
      endpoint: "http://127.0.0.1:9000",
      region: "eu-west-1",
      pathStyle: false,
    });
  });

  it.each([
    "s3://",
    "s3:///prefix",
    "s3://key:secret@site",
    "s3://site:9000",
    "s3://site#part",
    "s3://site?endpiont=http://127.0.0.1:9000",
    "s3://site?region=a&region=b",
    "s3://site?pathStyle=maybe",
    "s3://site/%E0%A4%A",
    "file:///srv/www",
  ])("is not %s", (location) => {
    expect(readBucketUrl(location)).toBeUndefined();
  });

  it("does not have its keys repeated in messages, and is explained where HTML has changed it", () => {
    expect(bucketUrlProblem("s3://key:secret@site/docs")).toMatch(/^"s3:\/\/\*\*\*@site\/docs": .* without keys/);
    expect(bucketUrlProblem("s3://site?endpoint=http://a\u00aeion=b")).toContain("write &amp;region=");
  });

  it("is told from a directory by its beginning", () => {
    expect(["s3://site", "s3", "./s3://site", "S3/site", undefined].map(isBucketUrl)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
