import type { S3StorageOptions } from "./s3-storage.ts";

export type BucketPlace = Pick<S3StorageOptions, "bucket" | "prefix" | "endpoint" | "region" | "pathStyle">;

/** What is wrong with the URL of a bucket, for messages. Keys in it are not repeated. */
export function bucketUrlProblem(location: string): string {
  const shown = JSON.stringify(location.replace(/^(s3:\/\/)[^/]*@/, "$1***@"));
  const expected = "expected a bucket, such as s3://site/docs?endpoint=https://s3.example&region=eu-west-1";
  if (location.includes("\u00ae")) return `${shown}: ${expected}; in HTML, write &amp;region=, as &reg is a sign`;
  return `${shown}: ${expected}${shown.includes("***@") ? ", without keys: those come from the environment" : ""}`;
}

const parameters: readonly string[] = ["endpoint", "region", "pathStyle"];

export function isBucketUrl(root: unknown): root is string {
  return typeof root === "string" && root.startsWith("s3://");
}

/** Reads `s3://bucket/prefix?endpoint=...&region=...&pathStyle=...`; `undefined` where it makes no sense. */
export function readBucketUrl(location: string): BucketPlace | undefined {
  if (!isBucketUrl(location) || !URL.canParse(location)) return undefined;
  const { hostname, pathname, searchParams, username, password, port, hash } = new URL(location);
  if (hostname === "" || username + password + port + hash !== "") return undefined; // keys do not belong into a URL
  const names = [...searchParams.keys()];
  if (new Set(names).size < names.length || names.some((name) => !parameters.includes(name))) return undefined;
  const pathStyle = searchParams.get("pathStyle") ?? undefined;
  if (pathStyle !== undefined && pathStyle !== "true" && pathStyle !== "false") return undefined;
  try {
    return {
      bucket: hostname,
      prefix: decodeURIComponent(pathname.slice(1)),
      endpoint: searchParams.get("endpoint") ?? undefined,
      region: searchParams.get("region") ?? undefined,
      pathStyle: pathStyle === undefined ? undefined : pathStyle === "true",
    };
  } catch {
    return undefined; // a malformed escape
  }
}
