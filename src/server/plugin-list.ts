import type { Plugin } from "./plugin.ts";

/** A plugin at its place in the pipeline of a host. */
export interface ListedPlugin {
  readonly plugin: Plugin;
  /** Whether the plugin has to do with a canonical path. */
  covers(path: string): boolean;
}

type Covers = ListedPlugin["covers"];

const everywhere: Covers = () => true;

/**
 * A host's plugins in the order in which requests run through them, the nested ones among them, each with the paths that it
 * is confined to.
 */
export function listPlugins(plugins: readonly Plugin[], covers: Covers = everywhere): readonly ListedPlugin[] {
  const listed: ListedPlugin[] = [];
  let following = covers;
  for (const plugin of plugins) {
    const { scope } = plugin;
    listed.push({ plugin, covers: scope ? covers : following });
    if (!scope) continue;
    const inside = both(covers, (path) => scope.covers(path));
    if (scope.plugins) listed.push(...listPlugins(scope.plugins, inside));
    following = scope.plugins ? covers : inside;
  }
  return listed;
}

/** Each plugin once, where it stands first; listed twice, it has to do with the paths of both places. */
export function distinctPlugins(listed: readonly ListedPlugin[]): readonly ListedPlugin[] {
  const places = new Map<Plugin, ListedPlugin>();
  for (const each of listed) {
    const { plugin, covers } = each;
    const before = places.get(plugin);
    places.set(plugin, before ? { plugin, covers: (path) => before.covers(path) || covers(path) } : each);
  }
  return [...places.values()];
}

function both(outer: Covers, inner: Covers): Covers {
  return outer === everywhere ? inner : (path) => outer(path) && inner(path);
}

/** Whether a plugin is asked for every path of its host. */
export function isEverywhere({ covers }: ListedPlugin): boolean {
  return covers === everywhere;
}
