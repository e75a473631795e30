import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigError, type HostConfig, type PageConfig } from "../config.ts";
import { problemsOfOrder } from "../hosts/authentication.ts";
import {
  allItems,
  isOfType,
  MicrodataError,
  type MicrodataItem,
  type MicrodataPage,
  readMicrodataPage,
} from "../html/microdata.ts";
import { expectedLocation, filePath } from "../local-files/file-path.ts";
import { readTextFile, TextFileError } from "../local-files/text-file.ts";
import { hostKey, hostOptions, isHostName, pageOptions } from "../options/check-config.ts";
import { shown } from "../options/schema.ts";
import { isTheirs } from "../plugins/basic-auth/microdata-users.ts";
import { listPlugins } from "../server/pipeline.ts";
import { bucketUrlProblem, isBucketUrl, readBucketUrl } from "../storage/s3/bucket-url.ts";
import { type PlacedPlugin, PluginLoader, pluginsOf, withNested } from "./load-plugins.ts";
import { moduleFiles } from "./module-files.ts";
import {
  type ConfigPage,
  type ItemKind,
  nameInAnyCase,
  Problems,
  placeOf,
  readOptions,
  tidyText,
} from "./read-options.ts";

export const serverItem: ItemKind = {
  schema: pageOptions,
  spelling: "hostRoot",
  renamed: { root: "serverRoot" },
  locations: ["root", "protectedFiles"],
  buckets: ["root"],
  codeOnly: ["storage", "plugins", "hosts", "logger", "onError", "beforeWrite", "headers"],
  others: ["host"],
};

export const hostItem: ItemKind = {
  schema: hostOptions,
  spelling: "hostRoot",
  renamed: { root: "hostRoot" },
  locations: ["root"],
  buckets: ["root"],
  codeOnly: ["storage", "plugins", "aliases", "beforeWrite", "headers"],
  others: ["hostname", "hostName", "plugin"],
};

export async function loadConfig(location: string | URL): Promise<PageConfig> {
  const name = String(location);
  const path = filePath(name, process.cwd());
  if (path === undefined) throw new ConfigError([`${name}: expected ${expectedLocation}`]);
  const problems = new Problems(name);
  const page = await readPage(path, problems);
  for (const { line, text } of page.mistakes) problems.add(line, text);
  const loading = configOf(allItems(page.items), { directory: dirname(path), problems });
  const read = await loading.catch((error: unknown) => {
    if (!(error instanceof ConfigError) || !page.items.some(isTheirs)) throw error;
    const remedy = `filement import-config ${name} > new.html writes it anew in the words used here`;
    throw new ConfigError([`${name}: the page is written for rusty-beam: ${remedy}`, ...error.problems]);
  });
  const { protectedFiles = [], bindAddress, bindPort, ...config } = read;
  const made: PageConfig = { ...config, protectedFiles: [path, ...protectedFiles] };
  return Object.defineProperties(made, { bindAddress: { value: bindAddress }, bindPort: { value: bindPort } });
}

/** Makes a configuration of items in our words. Throws one `ConfigError` with all problems of the page. */
export async function configOf(items: readonly MicrodataItem[], page: ConfigPage): Promise<PageConfig> {
  const { problems } = page;
  const plugins = new PluginLoader(page);
  const knownHosts = new Set<MicrodataItem>();
  const names = new Set<string>();
  const [server, ...others] = items.filter((item) => isOfType(item, "ServerConfig"));
  if (!server) throw problems.with(1, "there is no item of a type that ends in /ServerConfig: expected one");
  for (const { line } of others) problems.add(line, "a second item of a type that ends in /ServerConfig: expected one");
  const config = await readServer(server);
  if (problems.count === 0) findStrays(); // what is in a wrong place is reported already
  if (problems.count > 0) throw problems.error;
  const code = await Promise.all([...plugins.modules].map(moduleFiles));
  return { ...config, protectedFiles: [...(config.protectedFiles ?? []), ...new Set(code.flat())] };

  async function readServer(item: MicrodataItem): Promise<PageConfig> {
    const { root, ...options } = await readItem(item, serverItem, page);
    const hosts: [string, HostConfig][] = [];
    for (const { value, line } of item.properties.get("host") ?? []) {
      if (typeof value !== "string" && isOfType(value, "HostConfig")) hosts.push(await readHost(value, root));
      else problems.add(line, "host: expected an item of a type that ends in /HostConfig");
    }
    if (!item.properties.has("host")) problems.add(item.line, "there is no host: expected at least one");
    return { ...options, hosts: Object.fromEntries(hosts) };
  }

  /** Reports hosts and plugins outside of a server and a host: without a message they would be ignored. */
  function findStrays(): void {
    for (const item of items) {
      const { line } = item;
      if (isOfType(item, "HostConfig") && !knownHosts.has(item)) {
        problems.add(line, 'the host belongs to no server: expected itemprop="host" in it');
      }
      const isPlugin = isOfType(item, "Plugin") || item.properties.has("library");
      if (isPlugin && !plugins.placed.has(item)) {
        problems.add(line, 'the plugin belongs to no host: expected itemprop="plugin" in it');
      }
    }
  }

  async function readHost(item: MicrodataItem, serverRoot: HostConfig["root"]): Promise<[string, HostConfig]> {
    knownHosts.add(item);
    const [name = "", ...aliases] = readNames(item);
    const { root = serverRoot, ...options } = await readItem(item, hostItem, page);
    const placed = await plugins.place(item);
    const lines = new Map(withNested(placed).map(({ plugin, line }) => [plugin, line]));
    // One that could not be made counts all the same, so that one mistake is not reported as two.
    const listed = listPlugins(placed.map(({ plugin, name }) => plugin ?? { name }));
    for (const { plugin, text } of problemsOfOrder(listed)) problems.add(lines.get(plugin) ?? item.line, text);
    if (root === undefined && !item.properties.has("hostRoot") && needsRoot(placed)) {
      problems.add(item.line, "the host has no hostRoot: expected a directory to serve");
    }
    return [name, { ...options, ...(root !== undefined && { root }), aliases, plugins: pluginsOf(placed) }];
  }

  function readNames({ properties, line: itemLine }: MicrodataItem): string[] {
    const values = [...properties].flatMap(([name, each]) => (nameInAnyCase(name) === "hostname" ? each : []));
    if (values.length === 0) problems.add(itemLine, "the host has no hostname: expected at least one");
    return values.flatMap(({ value, line }) => {
      const name = typeof value === "string" ? tidyText(value) : "";
      const key = isHostName(name) ? hostKey(name) : undefined;
      const expected = "expected a host name without port, in ASCII";
      if (key === undefined) problems.add(line, `hostname is ${shown(name)}: ${expected}`);
      else if (names.has(key)) problems.add(line, `hostname is ${shown(name)}: expected one that is not taken`);
      else names.add(key);
      return [name];
    });
  }
}

export async function readPage(path: string, problems: Problems): Promise<MicrodataPage> {
  try {
    return await readMicrodataPage(await readTextFile(path));
  } catch (error) {
    if (error instanceof TextFileError) throw problems.with(0, error.message);
    if (error instanceof MicrodataError) throw problems.with(error.line, error.message);
    throw error;
  }
}

async function readItem(
  item: MicrodataItem,
  kind: ItemKind,
  { directory, problems }: ConfigPage,
): Promise<HostConfig & PageConfig> {
  const options: PageConfig = readOptions(item, kind, directory, (line, text) => problems.add(line, text));
  const { root } = options;
  if (typeof root !== "string") return options;
  if (isBucketUrl(root) ? readBucketUrl(root) : await isDirectory(root)) return options;
  const { line, property } = placeOf(item, kind.renamed?.["root"] ?? "root");
  const problem = isBucketUrl(root) ? bucketUrlProblem(root) : `${shown(root)}: expected a directory`;
  problems.add(line, `${property} is ${problem}`);
  return options;
}

function needsRoot(placed: readonly PlacedPlugin[]): boolean {
  const handlers = withNested(placed).filter(({ name }) => name === "file-handler");
  return handlers.length === 0 || handlers.some(({ options }) => options["root"] === undefined);
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined); // the reason does not help the reader
  return found?.isDirectory() ?? false;
}
