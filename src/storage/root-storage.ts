import { type DiskStorageOptions, diskStorage } from "./disk/disk-storage.ts";
import { isBucketUrl } from "./s3/bucket-url.ts";
import type { Storage } from "./storage.ts";

/** The storage of a root. Throws where that is not a directory. */
export function rootStorage(root: string | URL, options?: DiskStorageOptions): Storage {
  if (typeof root !== "string" || !isBucketUrl(root)) return diskStorage(root, options);
  throw new Error("root is a bucket: expected a directory; in code, a bucket is a storage: s3Storage of filement/s3");
}
