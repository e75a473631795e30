import { ConfigError } from "../../config.ts";
import { itemsInSlices } from "../../event-loop/sliced-work.ts";
import { WatchedFile } from "../../local-files/watched-file.ts";
import type { Logger } from "../../server/logger.ts";
import type { Site } from "../../server/site.ts";
import type { PermissionRule } from "./rules.ts";

/** Where users and rules come from. */
export interface Source<Content> {
  /** Called for each host. Throws where the content cannot be had. */
  start(site: Site): Promise<void> | void;
  /** What counts now. Throws before the start, so that a plugin without users or rules lets no request pass. */
  current(): Promise<Content>;
  /** What counts as far as it is read, for a question that cannot wait. */
  latest(): Content;
  close(): Promise<void>;
}

/** A file that is read again whenever it changes. */
export interface FileSourceOptions<Content> {
  /** Says in logs and errors who reads it. */
  readonly plugin: string;
  readonly location: string;
  /** What is reported of a change that cannot be used. */
  readonly failure: string;
  /** Throws a `ConfigError` for a file that cannot be used. */
  load(): Promise<Loaded<Content>>;
}

interface Loaded<Content> {
  readonly content: Content;
  /** Those in the file. A change that lets anonymous clients do more is logged. */
  readonly rules: readonly PermissionRule[];
  /** For the log. */
  readonly warnings: readonly string[];
}

/** What never changes. */
export function fixedSource<Content>(
  plugin: string,
  content: Content,
  warnings: readonly string[] = [],
): Source<Content> {
  let isStarted = false;
  return {
    start({ logger }) {
      if (!isStarted) warn(logger, plugin, warnings);
      isStarted = true;
    },
    current: async () => content,
    latest: () => content,
    close: async () => {},
  };
}

/** What a file says. No client sees the file, wherever it lies. */
export function fileSource<Content>(options: FileSourceOptions<Content>): Source<Content> {
  const { plugin, location, failure } = options;
  let opening: Promise<WatchedFile<Content>> | undefined;
  let file: WatchedFile<Content> | undefined;
  let before: readonly PermissionRule[] | undefined;
  const sites = new Set<Site>();

  const open = (logger: Logger): Promise<WatchedFile<Content>> =>
    WatchedFile.open({
      location,
      async load() {
        const { content, rules, warnings } = await options.load();
        // Again: a deployment may have turned a link on the way to the file, which then lies somewhere else.
        for (const site of sites) await site.protect(location);
        const isOpened = before !== undefined && (await opensMore(before, rules));
        before = rules;
        warn(logger, plugin, isOpened ? [...warnings, `${location} now lets anonymous clients do more`] : warnings);
        return content;
      },
      onFailure: (error) => {
        const fields = error instanceof ConfigError ? { problems: error.problems } : { err: error };
        logger.error(fields, `${plugin}: ${failure}`);
      },
    });

  return {
    async start(site) {
      // First: a file below a root must not be served while the server starts.
      await site.protect(location);
      sites.add(site);
      opening ??= open(site.logger);
      file = await opening.catch((error: unknown) => {
        if (!(error instanceof ConfigError)) throw error;
        throw new ConfigError(error.problems.map((problem) => `${plugin}: ${problem}`));
      });
    },
    async current() {
      if (!opening) throw new Error(`${plugin}: the plugin was not started`);
      return (await opening).current();
    },
    latest() {
      if (!file) throw new Error(`${plugin}: the plugin was not started`);
      return file.latest;
    },
    async close() {
      const opened = await opening?.catch(() => undefined); // the start has reported the error
      opening = undefined;
      sites.clear();
      await opened?.close();
    },
  };
}

/** Whether rules may let anonymous clients do more than those before: another one allows, or one less denies. */
async function opensMore(before: readonly PermissionRule[], now: readonly PermissionRule[]): Promise<boolean> {
  const lacks = async (rules: readonly PermissionRule[], permission: "allow" | "deny", wanted: Set<string>) => {
    const there = await forAnyone(rules, permission);
    return [...wanted].some((rule) => !there.has(rule));
  };
  const allowed = await forAnyone(now, "allow");
  if (await lacks(before, "allow", allowed)) return true;
  return allowed.size > 0 && lacks(now, "deny", await forAnyone(before, "deny"));
}

async function forAnyone(rules: readonly PermissionRule[], permission: "allow" | "deny"): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const rule of itemsInSlices(rules)) {
    if (rule.username === "*" && rule.permission === permission) found.add(JSON.stringify(rule));
  }
  return found;
}

function warn(logger: Logger, plugin: string, warnings: readonly string[]): void {
  for (const warning of warnings) logger.warn({}, `${plugin}: ${warning}`);
}
