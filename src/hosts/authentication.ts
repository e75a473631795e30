import type { FileServerConfig, HostConfig } from "../config.ts";
import { isChange, takenMethods } from "../http/methods.ts";
import { hostConfigs } from "../options/check-config.ts";
import { isEverywhere, isWithin, type ListedPlugin, listPlugins, type Part } from "../server/pipeline.ts";
import type { Plugin } from "../server/plugin.ts";

/** Plugins of this package that never find out who a client is. One of the host program may. */
const indifferent: ReadonlySet<string> = new Set([
  ...["access-log", "authorization", "client-module", "configuration-page", "cors", "directory", "error-pages"],
  ...["event-stream", "file-handler", "health-check", "history", "mcp", "metrics", "rate-limit", "redirects"],
  ...["request-log", "security-headers", "selector-handler", "web-socket"],
]);

/** The hosts to which anonymous clients may write, by the reason. Their plugins have to be started. */
export function openHosts(config: FileServerConfig): ReadonlyMap<string, readonly string[]> {
  const open = new Map<string, string[]>();
  for (const [name, host] of hostConfigs(config)) {
    const reason = takenMethods(host).some(isChange) ? reasonOf(host) : undefined;
    if (reason) open.set(reason, [...(open.get(reason) ?? []), name]);
  }
  return open;
}

/** One sentence for each reason: who can change which files, why, and what changes that. */
export function openHostWarnings(config: FileServerConfig, clients: string, remedy: string): readonly string[] {
  return [...openHosts(config)].map(([reason, names]) => {
    const files = names.includes("*") ? "files here" : `files of ${names.join(", ")}`;
    return `${clients} can change the ${files}: ${reason} (${remedy})`;
  });
}

function reasonOf({ plugins = [], root, storage }: HostConfig): string | undefined {
  const listed = listPlugins(plugins);
  const guards = listed.filter(({ plugin }) => mayIdentify(plugin));
  if (guards.length === 0) return "there is no authentication";
  const everywhere = guards.filter(isEverywhere);
  const hasOwnFiles = root !== undefined || storage !== undefined;
  if (hasOwnFiles && everywhere.length === 0) return "the authentication covers a part of the paths only";
  const isOpen = listed.some(
    (handler, place) =>
      handler.plugin.takesChanges &&
      !listed.slice(0, place).some((each) => mayIdentify(each.plugin) && coversAll(each, handler)),
  );
  if (isOpen) return "a file handler has no authentication before it";
  const deciding = everywhere.length > 0 ? everywhere : guards;
  // Of a plugin of the host program the worst is not assumed.
  return deciding.every(({ plugin }) => plugin.anonymousMayWrite?.()) ? "a rule allows it to everyone" : undefined;
}

export function mayIdentify({ name }: Plugin): boolean {
  return !indifferent.has(name);
}

export interface OrderProblem {
  readonly plugin: Plugin;
  readonly text: string;
}

export function problemsOfOrder(listed: readonly ListedPlugin[]): readonly OrderProblem[] {
  const problems: OrderProblem[] = [];
  for (const [place, { plugin, covers, part }] of listed.entries()) {
    const before = listed.slice(0, place);
    const add = (text: string): void => void problems.push({ plugin, text: `${plugin.name} ${text}` });
    const isDead = before.some((each) => isFileHandler(each.plugin) && coversAll(each, { covers, part }));
    if (plugin.handle && isDead) {
      add("stands behind a file handler, which answers everything: expected it before");
    }
    if (plugin.needsUser && !before.some((each) => mayIdentify(each.plugin) && overlap(part, each.part))) {
      add("needs to know the user: expected an authentication before it, for the same paths");
    }
    // The rest would be open.
    const hasRules = before.some((each) => each.plugin.name === "basic-auth" && isWithin(part, each.part));
    if (plugin.name === authorization && !hasRules) {
      add("has no authfile: expected one, or basic-auth before it, for the same paths");
    }
    const own = (plugin.scope ?? plugin.confinedTo)?.directory;
    if (own !== undefined && !overlap(own, part)) add(`${own} is no part of ${part}, which it is in`);
  }
  return problems;
}

/** What stands in a page for rules that `basic-auth` has read already. */
const authorization = "authorization";

/** Whether a plugin is asked for all paths of another. */
function coversAll(one: ListedPlugin, other: Omit<ListedPlugin, "plugin">): boolean {
  return isWithin(other.part, one.part) || one.covers === other.covers;
}

function overlap(one: Part, other: Part): boolean {
  return one === undefined || other === undefined || isWithin(one, other) || isWithin(other, one);
}

export function isFileHandler({ name }: Plugin): boolean {
  return name === "file-handler";
}
