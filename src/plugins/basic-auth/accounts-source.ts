import { ConfigError } from "../../config.ts";
import { TimeSlice } from "../../event-loop/sliced-work.ts";
import { filePath } from "../../local-files/file-path.ts";
import type { BasicAuthOptions } from "../basic-auth.ts";
import type { PermissionRule } from "../permissions/rules.ts";
import { fileSource, fixedSource, type Source } from "../permissions/source.ts";
import { type Accounts, type AccountsOptions, accountsOfFunction, accountsOfUsers } from "./accounts.ts";
import { HashQueue } from "./hash-queue.ts";
import { parseHash } from "./password.ts";
import { readUsersFile, UsersFileError } from "./users-file.ts";

/** The source that checked options name. */
export function accountsSource(options: BasicAuthOptions): Source<Accounts> {
  const { authfile, users = [], rules = [], cacheTime = 300, requireUser } = options;
  const { maxConcurrentChecks: concurrency = 2, maxQueuedChecks: maxQueued = 100 } = options;
  // Kept when the users change, so that waiting requests keep their turn.
  const accountsOptions = { cacheTime, queue: new HashQueue({ concurrency, maxQueued }), requireUser };
  const path = authfile === undefined ? undefined : filePath(String(authfile));
  if (path !== undefined) return sourceInFile(path, rules, accountsOptions);
  if (typeof users === "function") {
    return fixedSource("basicAuth", { content: accountsOfFunction(users, rules, requireUser), warnings: [] });
  }
  const warnings = users.flatMap((user) => {
    const { warning } = parseHash(user);
    return warning === undefined ? [] : [`user ${JSON.stringify(user.username)}: ${warning}`];
  });
  return fixedSource("basicAuth", { content: accountsOfUsers(users, rules, accountsOptions), warnings });
}

function sourceInFile(location: string, rules: readonly PermissionRule[], options: AccountsOptions): Source<Accounts> {
  return fileSource({
    plugin: "basicAuth",
    location,
    failure: "the users file has changed and cannot be used; the former users and rules remain in force",
    async load() {
      const found = await readUsersFile(location);
      const { oldOpenRule, warnings } = found;
      await new TimeSlice().renew(); // checking thousands of rules and sorting them each take milliseconds
      const { requireUser = oldOpenRule !== undefined } = options;
      const content = accountsOfUsers(found.users, [...rules, ...found.rules], { ...options, requireUser });
      await content.ready;
      const isClosed = oldOpenRule !== undefined && options.requireUser === undefined;
      return { content, warnings: isClosed ? [...warnings, closedWarning(oldOpenRule)] : warnings };
    },
    problemsOf: (error) => (error instanceof UsersFileError ? error.problems : undefined),
    startError: (problems) => new ConfigError(problems),
  });
}

function closedWarning(where: string): string {
  return (
    `${where}: the rule allows something to "*". In rusty-beam nobody came in without a password, and so it is here: ` +
    "anonymous clients are refused. Say requireUser (in a page: require_user): true to keep it so, false to let them in"
  );
}
