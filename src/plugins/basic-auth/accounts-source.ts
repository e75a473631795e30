import { ConfigError } from "../../config.ts";
import { filePath } from "../../local-files/file-path.ts";
import { WatchedFile } from "../../local-files/watched-file.ts";
import type { Logger } from "../../server/logger.ts";
import type { Site } from "../../server/site.ts";
import type { BasicAuthOptions } from "../basic-auth.ts";
import { type Accounts, type AccountsOptions, accountsOfFunction, accountsOfUsers } from "./accounts.ts";
import { HashQueue } from "./hash-queue.ts";
import { parseHash } from "./password.ts";
import type { PermissionRule } from "./users.ts";
import { readUsersFile, UsersFileError } from "./users-file.ts";

/** The source of the accounts: a users file, a list, or a function. */
export interface AccountsSource {
  /** Called for each host. Throws where the accounts cannot be had. */
  start(site: Site): Promise<void> | void;
  /** The current accounts. Throws before the start, so that a plugin without accounts lets no request pass. */
  current(): Promise<Accounts>;
  /** The accounts as far as they are read, for a question that cannot wait. */
  latest(): Accounts;
  close(): Promise<void>;
}

/** The source that checked options name. */
export function accountsSource(options: BasicAuthOptions): AccountsSource {
  const { authfile, users = [], rules = [], cacheSeconds = 300 } = options;
  const { maxConcurrentChecks: concurrency = 2, maxQueuedChecks: maxQueued = 100 } = options;
  // Kept when the users change, so that waiting requests keep their turn.
  const accountsOptions = { cacheSeconds, queue: new HashQueue({ concurrency, maxQueued }) };
  const path = authfile === undefined ? undefined : filePath(String(authfile));
  if (path !== undefined) return sourceInFile(path, rules, accountsOptions);
  if (typeof users === "function") return fixedSource(accountsOfFunction(users, rules), []);
  const warnings = users.flatMap((user) => {
    const { warning } = parseHash(user);
    return warning === undefined ? [] : [`user ${JSON.stringify(user.username)}: ${warning}`];
  });
  return fixedSource(accountsOfUsers(users, rules, accountsOptions), warnings);
}

function fixedSource(accounts: Accounts, warnings: readonly string[]): AccountsSource {
  let isStarted = false;
  return {
    start({ logger }) {
      if (!isStarted) warn(logger, warnings);
      isStarted = true;
    },
    current: async () => accounts,
    latest: () => accounts,
    close: async () => {},
  };
}

function sourceInFile(location: string, rules: readonly PermissionRule[], options: AccountsOptions): AccountsSource {
  let opened: Promise<WatchedFile<Accounts>> | undefined;
  let users: WatchedFile<Accounts> | undefined;
  const sites = new Set<Site>();

  const open = (logger: Logger): Promise<WatchedFile<Accounts>> =>
    WatchedFile.open({
      location,
      async load() {
        const found = await readUsersFile(location);
        const accounts = accountsOfUsers(found.users, [...rules, ...found.rules], options);
        await accounts.ready;
        // Again: a deployment may have turned a link on the way to the file, which then lies somewhere else.
        for (const site of sites) await site.protect(location);
        warn(logger, found.warnings);
        return accounts;
      },
      onFailure: (error) => {
        const fields = error instanceof UsersFileError ? { problems: error.problems } : { err: error };
        logger.error(
          fields,
          "basicAuth: the users file has changed and cannot be used; the former users and rules remain in force",
        );
      },
    });

  return {
    async start(site) {
      // First: a file below a root must not be served while the server starts.
      await site.protect(location);
      sites.add(site);
      opened ??= open(site.logger);
      users = await opened.catch(asConfigError);
    },
    async current() {
      if (!opened) throw new Error("basicAuth: the plugin was not started");
      return (await opened).current();
    },
    latest() {
      if (!users) throw new Error("basicAuth: the plugin was not started");
      return users.latest;
    },
    async close() {
      const open = await opened?.catch(() => undefined); // the start has reported the error
      opened = undefined;
      sites.clear();
      await open?.close();
    },
  };
}

function asConfigError(error: unknown): never {
  if (!(error instanceof UsersFileError)) throw error;
  throw new ConfigError(error.problems.map((problem) => `basicAuth: ${problem}`));
}

function warn(logger: Logger, warnings: readonly string[]): void {
  for (const warning of warnings) logger.warn({}, `basicAuth: ${warning}`);
}
