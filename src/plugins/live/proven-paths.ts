import { ConfigError } from "../../config.ts";
import { isEverywhere, listPlugins } from "../../server/pipeline.ts";
import type { Plugin, PluginSite } from "../../server/plugin.ts";

/** Whether a client that connected at one path has shown what it may read at another. */
export type IsProven = (connectedAt: string, path: string) => boolean;

/**
 * A client is known by the plugins that ran before `self` at the path where it connected. An authentication for other
 * paths did not run there: the client must not receive changes of the files that it protects.
 *
 * Throws a `ConfigError` if an authentication for all paths stands behind.
 */
export function provenPaths(site: Pick<PluginSite, "plugins">, self: Plugin, selfName: string): IsProven {
  // With their paths, which `site.plugins` does not tell.
  const nested = new Set(site.plugins.flatMap(({ scope }) => scope?.plugins ?? []));
  const listed = listPlugins(site.plugins.filter((plugin) => !nested.has(plugin)));
  const place = listed.findIndex(({ plugin }) => plugin === self);
  const deciding = listed
    .map((each, index) => ({ ...each, isEverywhere: isEverywhere(each), isBefore: index < place }))
    .filter(({ plugin }) => plugin.anonymousMayWrite !== undefined);
  if (deciding.some((each) => each.isEverywhere && !each.isBefore)) {
    throw new ConfigError([
      `${selfName} stands before the authentication: expected it behind, where its clients are known`,
    ]);
  }
  const partial = deciding.filter((each) => !each.isEverywhere);
  return (connectedAt, path) =>
    partial.every(({ covers, isBefore }) => !covers(path) || (isBefore && covers(connectedAt)));
}
