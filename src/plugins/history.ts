import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../config.ts";
import { entityTag } from "../http/entity-tag.ts";
import { compilePathPattern } from "../http/path-pattern.ts";
import { isHiddenPath } from "../http/request-target.ts";
import { filePath } from "../local-files/file-path.ts";
import { checkOptions } from "../options/check-config.ts";
import {
  aFunction,
  fileLocation,
  pathPattern,
  pluginOptions,
  positiveInteger,
  requestPath,
  sharedLocks,
} from "../options/option-types.ts";
import { listOf, type OptionsSchema, text, yesOrNo } from "../options/schema.ts";
import type { Plugin, PluginSite } from "../server/plugin.ts";
import { sharedServices } from "../server/shared-services.ts";
import { diskLocks } from "../storage/disk/disk-locks.ts";
import type { SharedLocks } from "../storage/locks.ts";
import { StorageError } from "../storage/storage.ts";
import { answerOfHistory } from "./history/answers.ts";
import { Committing } from "./history/committing.ts";
import { openRepository, Repository, tidyRepository } from "./history/git.ts";
import { Importer, type Person } from "./history/importer.ts";
import { Journal } from "./history/journal.ts";
import { Recorder } from "./history/recorder.ts";
import { Versions } from "./history/versions.ts";

/** Options of {@link history}. */
export interface HistoryOptions {
  /** Location of the git repository, which is made if it does not exist. Below the root it is hidden. */
  readonly repository: string | URL;
  /**
   * For several machines with the repository on a disk that they share: the URL of a Redis, where it has the same path
   * on all of them, or what `redisLocks` gives. @default for one machine
   */
  readonly locks?: string | SharedLocks | undefined;
  /** Below which path the versions are. @default "/history/" */
  readonly path?: string | undefined;
  /** Path patterns of the files that have a history. @default all */
  readonly paths?: readonly string[] | undefined;
  /** Path patterns of files without a history. @default none */
  readonly ignore?: readonly string[] | undefined;
  /** The branch that gets the commits. @default "main" */
  readonly branch?: string | undefined;
  /** The author of a change by a user. @default the user's name, `<name>@<host>` */
  readonly author?: ((user: string) => Person) | undefined;
  /** Larger files have no history, in bytes. @default 16777216 (16 MiB) */
  readonly maxFileBytes?: number | undefined;
  /** Forget commits that are older, in days, but for the latest. @default all are kept */
  readonly keepDays?: number | undefined;
  /** Forget all but so many of the latest commits. @default all are kept */
  readonly keepCommits?: number | undefined;
  /** Changes that may wait for git, in bytes. @default 268435456 (256 MiB) */
  readonly maxBacklog?: number | undefined;
  /** Whether changes beyond that, and those that cannot be noted, are refused with 503. @default false */
  readonly required?: boolean | undefined;
}

const branchName = /^(?!.*(?:\.\.|\/\/|@\{|\.lock(?:\/|$)))[A-Za-z0-9][A-Za-z0-9._/-]*(?<![./])$/;

export const historyOptions: OptionsSchema = pluginOptions({
  repository: fileLocation,
  locks: sharedLocks,
  path: requestPath,
  paths: listOf(pathPattern, ""),
  ignore: listOf(pathPattern, ""),
  branch: text("a name of a branch", (name) => branchName.test(name)),
  author: aFunction,
  maxFileBytes: positiveInteger,
  keepDays: positiveInteger,
  keepCommits: positiveInteger,
  maxBacklog: positiveInteger,
  required: yesOrNo,
});

/** Names that no repository may hold: git refuses to check them out. */
const gitsOwn = /\/(?:\.git|git~\d+)[ .]*(?:\/|$)/i;

/**
 * Makes each change of a file a commit in a git repository, and shows, compares and undoes them: below `path`, by
 * `Accept-Datetime` (RFC 7089), and by `files.history`. Throws a `ConfigError` for options that cannot work, and at the
 * start where git is missing, or for a second host.
 *
 * @example createFileServer({ root: "site", plugins: [history({ repository: "/srv/site.git" })] });
 */
export function history(options: HistoryOptions): Plugin {
  checkOptions("history", historyOptions, options);
  const { path: given = "/history/", branch = "main", maxFileBytes = 16 * 1024 * 1024, required = false } = options;
  const { maxBacklog = 256 * 1024 * 1024, author } = options;
  const base = given.endsWith("/") ? given : `${given}/`;
  const location = filePath(String(options.repository)) ?? "";
  const paths = options.paths?.map(compilePathPattern);
  const ignored = (options.ignore ?? []).map(compilePathPattern);
  const covers = (path: string): boolean =>
    (paths?.some((pattern) => pattern.matches(path)) ?? true) &&
    !ignored.some((pattern) => pattern.matches(path)) &&
    !isHiddenPath(path, site?.options.dotfiles ?? "ignore") &&
    !gitsOwn.test(path);

  const directory = join(location, "filement-spool");
  const report = (error: unknown): void => site?.report(error);
  const journal = new Journal(directory, { written: (bytes) => committing?.recorded(bytes), report });
  const repository = new Repository(location, branch);
  const versions = new Versions(repository, { base, covers });
  let site: PluginSite | undefined;
  let committing: Committing | undefined;
  let stopRecording = (): void => {};
  let releaseLocks = (): void | Promise<void> => {};
  const problem = (): unknown => (journal.unwritten > 0 ? "changes cannot be noted" : committing?.problem);
  const recorder = new Recorder({
    journal,
    maxFileBytes,
    covers,
    ...(required && { isFull: async () => journal.unwritten > 0 || (await committing?.isFull()) === true }),
    report,
  });
  const service = {
    name: "history",
    get backlogBytes() {
      return (committing?.backlog ?? 0) + journal.unwritten;
    },
    check: async (): Promise<void> => {
      if (problem() !== undefined) throw new Error("history: commits cannot be made", { cause: problem() });
    },
  };
  const importer = new Importer(repository, {
    authorOf(user) {
      const name = user ?? "anonymous";
      const host = site === undefined || site.name === "*" ? "localhost" : site.name;
      return (user !== undefined && author?.(user)) || { name, email: `${name}@${host}` };
    },
    stored: (path) =>
      recorder.stored(path, async (file) => ({ etag: entityTag(file.stat.version), content: await file.bytes() })),
  });

  return {
    name: "history",
    history: versions,
    wrapStorage(storage, root) {
      const wrapped = recorder.wrap(storage, root);
      const handlers = site?.plugins.filter(({ name }) => name === "file-handler");
      if (recorder.storages.length === handlers?.length) committing?.start(); // all files can be looked at
      return wrapped;
    },
    async start(started) {
      if (site)
        throw new ConfigError([`history: hosts "${site.name}" and "${started.name}" have one: expected one for each`]);
      site = started;
      if (options.locks) releaseLocks = await shareLocks(location, options.locks);
      journal.isShared = diskLocks.isShared(location);
      const opening = (): Promise<void> => openRepository(location, branch);
      // Several servers may start at once.
      await diskLocks.run(`${location}/made`, opening).catch((error: unknown) => {
        if (!(error instanceof StorageError)) throw error;
        return opening(); // the Redis of the locks is away
      });
      await started.protect(location);
      if (!journal.isShared) releaseLocks = await heldFor(join(directory, journal.owner));
      committing = new Committing({
        directory,
        own: journal,
        importer,
        maxBacklog,
        look: async (goesOn) => recorder.recordFiles(await versions.tree(), goesOn),
        tidy: () => tidyRepository(repository, options.keepDays, options.keepCommits),
        report: (error) => started.report(new Error("history: commits cannot be made", { cause: error })),
      });
      stopRecording = started.changes.record((change, origin) => {
        return origin.site === started.name ? recorder.record(change, origin) : undefined;
      });
      sharedServices.add(service);
    },
    handle(exchange, next) {
      if (!site) throw new Error("history was not started");
      return answerOfHistory({ site, versions, recorder, maxFileBytes }, exchange, next);
    },
    async close() {
      stopRecording();
      sharedServices.delete(service);
      await committing?.close();
      await journal.close();
      await releaseLocks();
      repository.close();
      site = undefined;
    },
  };
}

/** Has locks for several machines until the function that comes back is called. */
async function shareLocks(location: string, given: string | SharedLocks): Promise<() => Promise<void>> {
  const isUrl = typeof given === "string";
  const locks = isUrl ? (await import("../redis/locks.ts")).redisLocks(given, { name: location }) : given;
  await mkdir(location, { recursive: true });
  const unshare = diskLocks.share(location, locks);
  return async () => {
    unshare();
    await locks.close?.();
  };
}

/** Holds a lock of the machine until the function that comes back is called, or the process ends. */
function heldFor(key: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    diskLocks.run(key, () => new Promise<void>((release) => resolve(release))).catch(reject);
  });
}
