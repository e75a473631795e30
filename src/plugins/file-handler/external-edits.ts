import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import { ConfigError } from "../../config.ts";
import { entityTag } from "../../http/entity-tag.ts";
import { isCanonicalPath, isHiddenPath } from "../../http/request-target.ts";
import type { Site } from "../../server/site.ts";
import type { Storage, Unwatch } from "../../storage/storage.ts";

/** What a host announced is heard of again from the storage within a second or so: no host makes more changes in it. */
const maxOwn = 10_000;

/** Stands for the entity tag of a file that is gone. */
const gone = "";

export interface ExternalEditsOptions {
  readonly storage: Storage;
  /** See the host's option of that name. */
  readonly dotfiles: "ignore" | "allow";
  /** Whether requests for a canonical path are answered from this storage. */
  serves(path: string): boolean;
}

/**
 * Announces what happens to the files of a storage and was not announced by the host itself: edits by other programs,
 * by other hosts with the same files, and by the program around the server. Throws a {@link ConfigError} where the
 * storage cannot be watched. The function that it gives ends it.
 */
export async function announceExternalEdits(site: Site, options: ExternalEditsOptions): Promise<Unwatch> {
  const { storage, dotfiles, serves } = options;
  if (!storage.watch) {
    throw new ConfigError([`watch is true, but the storage of host "${site.name}" cannot be watched: expected false`]);
  }
  /** By path: entity tags of own changes that the storage has not told of yet; and the last one announced. */
  const own = new LRUCache<string, string>({ maxSize: maxOwn, sizeCalculation: () => 1 });
  const unsubscribe = site.changes.subscribe(({ kind, path, etag }, origin) => {
    if (origin.site === site.name && serves(path)) own.set(path, kind === "deleted" ? gone : etag);
  });
  const unwatch = await storage.watch({
    ignores: (path) => isHiddenPath(path, dotfiles) || !isCanonicalPath(path),
    failed: (error) => site.report(error),
    changed(path, stat, wasThere) {
      if (!serves(path)) return;
      const etag = stat ? entityTag(stat.version) : gone;
      const announced = own.get(path);
      own.delete(path);
      const isKnown = announced === undefined ? wasThere : announced !== gone;
      if (etag === announced || (etag === gone && !isKnown)) return;
      const noticed = { host: site.name, path, requestId: randomUUID() };
      site.changes.publish(
        stat
          ? { ...noticed, kind: isKnown ? "replaced" : "created", method: "PUT", etag, size: stat.size }
          : { ...noticed, kind: "deleted", method: "DELETE" },
        { site: site.name, isNoticed: true },
      );
      own.delete(path); // as its own listener has just noted it
    },
  });
  return async () => {
    unsubscribe();
    await unwatch();
  };
}
