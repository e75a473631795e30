import { ConfigError, type FileServerConfig, type HostConfig } from "../config.ts";
import { messageOf } from "../server/logger.ts";
import { bucketUrlProblem, isBucketUrl, readBucketUrl } from "../storage/s3/bucket-url.ts";
import type { Storage } from "../storage/storage.ts";

/** Opens the roots of a configuration that are buckets; their keys come from the environment. */
export async function withBuckets<Config extends FileServerConfig>(config: Config): Promise<Config> {
  const { hosts, ...server } = config;
  const opened = await Promise.all(
    Object.entries(hosts ?? {}).map(async ([name, host]) => [name, await withBucket(host)] as const),
  );
  return { ...(await withBucket(server as Config)), ...(hosts && { hosts: Object.fromEntries(opened) }) };
}

async function withBucket<Config extends HostConfig>(config: Config): Promise<Config> {
  const { root } = config;
  return isBucketUrl(root) ? { ...config, root: undefined, storage: await opened(root) } : config;
}

async function opened(url: string): Promise<Storage> {
  const place = readBucketUrl(url);
  if (!place) throw new ConfigError([`root is ${bucketUrlProblem(url)}`]);
  const { s3Storage } = await import("../storage/s3/s3-storage.ts");
  try {
    return s3Storage({ ...place, credentials: "environment" });
  } catch (error) {
    throw new ConfigError([`root is ${JSON.stringify(url)}: ${messageOf(error)}`]);
  }
}
