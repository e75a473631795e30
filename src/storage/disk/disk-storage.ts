import { fileURLToPath } from "node:url";
import { requireHeld, type SharedLocks } from "../locks.ts";
import { type OpenFile, type Storage, StorageError, type StoredStat } from "../storage.ts";
import { DiskChanges } from "./changes.ts";
import { sync, within } from "./directory.ts";
import { Disk } from "./disk.ts";
import { diskLocks, lockProblem } from "./disk-locks.ts";
import { withStorageErrors } from "./file-record.ts";
import { list } from "./list.ts";
import { look, openFile, statAt } from "./look.ts";
import { move } from "./move.ts";
import { DiskPaths, namesToHide, type SymlinkRule } from "./paths.ts";
import { remove } from "./remove.ts";
import { SmallFiles } from "./small-files.ts";
import { sweep } from "./sweep.ts";
import { inPool, isRestricted } from "./system-calls.ts";
import { watch } from "./watch.ts";
import { check, update, write } from "./write.ts";

/** Options for {@link diskStorage}. */
export interface DiskStorageOptions {
  /**
   * Whether symbolic links are followed as long as they stay inside the root, or never. What a link may not lead to
   * does not exist for readers and is forbidden to writers.
   * @default "within-root"
   */
  readonly symlinks?: SymlinkRule;
  /**
   * `"fsync"`: a change that was answered survives a power failure. `"rename"`: it survives the end of the process, and
   * is several times as fast where the disk is slow.
   * @default "fsync"
   */
  readonly durability?: "fsync" | "rename";
  /** Whether nothing is changed on the disk by reading: what a dead process left behind stays. @default false */
  readonly readOnly?: boolean | undefined;
  /**
   * Locks between machines that change the files of one directory: see `redisLocks`. Keys are paths from the root, so
   * all of them have to serve the same directory. @default locks between the processes of this machine
   */
  readonly locks?: SharedLocks | undefined;
}

/**
 * Keeps files in a directory of the disk. Changes are whole or not made at all, also when the process or the power dies
 * in the middle; nothing outside `root` is ever read or written. Throws where `root` is not a directory.
 *
 * @example
 * const files = createFileServer({ storage: diskStorage("site", { symlinks: "never" }) });
 */
export function diskStorage(root: string | URL, options: DiskStorageOptions = {}): Storage {
  const { symlinks = "within-root", durability = "fsync", readOnly = false, locks } = options;
  const paths = new DiskPaths(root instanceof URL ? fileURLToPath(root) : root, symlinks);
  const disk = new Disk(paths, readOnly, durability === "fsync");
  const changes = new DiskChanges(disk);
  const smallFiles = new SmallFiles(paths);
  const unshare = locks && diskLocks.share(paths.root, locks);
  let endSweep = async (): Promise<void> => {};
  return {
    async start(report = () => {}, warn = () => {}, isWritten = true) {
      disk.report = report;
      const problem = locks ? undefined : await lockProblem();
      if (problem) warn(`no other process should write to ${paths.root}: ${problem}`);
      if (readOnly || !isWritten) return paths.requireRoot();
      if (disk.sync && isRestricted) await requireSync(paths.root);
      endSweep = await sweep(paths.root, report);
    },
    stat: (path) => smallFiles.stat(path, () => withStorageErrors(stat(disk, path))),
    open: (path) => smallFiles.open(path, () => withStorageErrors(open(disk, path))),
    list: (path) => list(disk, path),
    write: (path, content, how) => withStorageErrors(write(disk, changes, path, content, how)),
    append: (path, content, how) => withStorageErrors(write(disk, changes, path, content, { ...how, isAppend: true })),
    update: (path, edit, made) => withStorageErrors(update(changes, path, edit, made)),
    async remove(path, how) {
      await withStorageErrors(remove(disk, path, how?.check));
      smallFiles.forget(path);
    },
    makeDirectory: (path) => withStorageErrors(makeDirectory(disk, path)),
    move: (from, to, checks) => withStorageErrors(move(disk, from, to, checks)),
    check: () => withStorageErrors(check(disk)),
    listedPath: (path) => paths.listedPath(path),
    refuses: (path) => paths.refuses(path),
    async protect(location, names) {
      if (paths.protect(names ?? (await namesToHide(location)))) smallFiles.clear();
    },
    watch: (watcher) => watch(disk, watcher),
    async close() {
      await endSweep();
      disk.close();
      await changes.close();
      unshare?.();
      await locks?.close?.();
    },
  };
}

/** Throws where Node itself refuses every sync, as version 26 does with `--permission`. */
async function requireSync(root: string): Promise<void> {
  try {
    await within(root, (directory) => inPool(sync(directory)));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_ACCESS_DENIED") throw cause;
    throw new Error('durability: with --permission this Node syncs no file: set it to "rename"', { cause });
  }
}

async function stat(disk: Disk, path: string): Promise<StoredStat | undefined> {
  const found = await look(disk, path, statAt);
  if (found === undefined) await disk.paths.requireRoot();
  return found?.type === "file" && path.endsWith("/") ? undefined : found;
}

async function open(disk: Disk, path: string): Promise<OpenFile | undefined> {
  return path.endsWith("/") ? undefined : look(disk, path, openFile);
}

async function makeDirectory(disk: Disk, path: string): Promise<void> {
  await disk.locked(path, async ({ directory, missing, name, real, held }) => {
    if (real === disk.paths.root) throw new StorageError("exists");
    if (missing.length > 0) throw new StorageError("no-parent");
    requireHeld(held);
    const { isDone } = await disk.run({ kind: "make-directory", directory, name, sync: disk.sync });
    if (!isDone) throw new StorageError("exists");
  });
}
