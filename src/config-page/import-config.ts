import { stat, writeFile } from "node:fs/promises";
import { dirname, relative, sep } from "node:path";
import { ConfigError } from "../config.ts";
import {
  allItems,
  hasEmptyList,
  isOfType,
  type MicrodataItem,
  readMicrodataPage,
  typeNames,
} from "../html/microdata.ts";
import { expectedLocation, filePath } from "../local-files/file-path.ts";
import { readTextFile } from "../local-files/text-file.ts";
import { isTheirs } from "../plugins/basic-auth/microdata-users.ts";
import { messageOf } from "../server/logger.ts";
import { type BundledName, bundledNames, plainName, readLibrary } from "./bundled-plugins.ts";
import { importUsers, isOldUsersFile, PageWriter, vocabulary } from "./import-config/old-users.ts";
import { configOf, readPage } from "./load-config.ts";
import { nameInAnyCase, optionName, Problems, tidyText } from "./read-options.ts";

export interface ImportedConfig {
  readonly html: string;
  readonly problems: readonly string[];
}

/** Properties that are locations, as `optionName` spells them in lower case. */
const locations = ["serverroot", "hostroot", "authfile", "file", "root"];

/** Properties of rusty-beam, as `optionName` spells them: by their names here, and those without effect. */
interface OldProperties {
  readonly renamed?: Readonly<Record<string, string>>;
  readonly idle?: readonly string[];
}

const oldOfServer: OldProperties = { renamed: { port: "bindPort", address: "bindAddress" }, idle: ["name"] };
const oldOfHost: OldProperties = { renamed: { hostName: "hostname" } };
const oldOfPlugins: Readonly<Partial<Record<BundledName, OldProperties>>> = {
  "access-log": {
    renamed: { logFile: "file", logfile: "file" },
    idle: ["bufferSize", "rotateSizeMb", "rotateDaily"],
  },
  cors: {
    renamed: { allowedOrigins: "origins", allowedHeaders: "headers", allowCredentials: "credentials" },
    idle: ["allowedMethods"],
  },
  "health-check": {
    renamed: { healthEndpoint: "path", checkDiskSpace: "check_storage" },
    idle: ["readyEndpoint", "liveEndpoint", "detailedChecks", "minDiskSpaceMb"],
  },
  "rate-limit": { idle: ["requests", "limit", "window", "burst"] },
  websocket: { renamed: { maxConnections: "max_clients" }, idle: ["messageSizeLimit", "broadcastBufferSize"] },
};

const newPluginNames: ReadonlyMap<string, BundledName> = new Map([
  ["file-handler-v2", "file-handler"],
  ["file-authz", "authorization"],
  ["apache-access-log", "access-log"],
]);
const builtIn: ReadonlySet<string> = new Set(["config-reload", "error-handler"]);

/**
 * Writes a configuration page of rusty-beam in our words, with a comment at each difference, and its users files
 * into new ones beside them. Also takes a users file alone. Throws a `ConfigError` for other pages.
 */
export async function importConfig(location: string): Promise<ImportedConfig> {
  const path = filePath(location);
  if (path === undefined) throw new ConfigError([`${location}: expected ${expectedLocation}`]);
  const page = await readPage(path, new Problems(location));
  const items = allItems(page.items);
  const server = items.find((item) => isOfType(item, "ServerConfig"));
  const problems = page.mistakes.map(({ line, text }) => `${location}:${line}: ${text}`);
  if (!server && isOldUsersFile(items)) {
    return { html: importUsers(items, { hasAuthorization: true, isRulesOnly: false }), problems };
  }
  if (!server || !page.items.some(isTheirs)) {
    throw new ConfigError([`${location}: expected a configuration page or a users file of rusty-beam`]);
  }
  const directory = dirname(path);
  const usersFiles = await importUsersFiles(items, directory, problems);
  const { html, read } = importedPage(items, server, directory, usersFiles);
  const unread = items.filter((item) => isPlugin(item) && !read.has(item));
  for (const { line } of unread) problems.push(`${location}:${line}: the item belongs to no host, and is not read`);
  const written = allItems((await readMicrodataPage(html)).items);
  await configOf(written, { directory, problems: new Problems("the new page") }).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
  });
  return { html, problems };
}

/** Writes the users files that a page names anew. Gives the locations of the new files, by those of the old ones. */
async function importUsersFiles(
  items: readonly MicrodataItem[],
  directory: string,
  problems: string[],
): Promise<ReadonlyMap<string, string>> {
  const pathOf = (item: MicrodataItem): string => filePath(textOf(item, "authfile") ?? "") ?? "";
  const made = new Map<string, string>();
  for (const path of new Set(items.map(pathOf))) {
    if (path === "") continue;
    const readers = items.filter((item) => pathOf(item) === path).map(pluginOf);
    try {
      const location = await importUsersFile(path, readers);
      if (location !== undefined) made.set(path, locationFrom(directory, location));
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  return made;
}

/** `undefined` for a file that is not rusty-beam's. */
async function importUsersFile(path: string, readers: readonly string[]): Promise<string | undefined> {
  const text = await readTextFile(path);
  const isHtpasswd = !/^\s*</.test(text);
  const items = isHtpasswd ? [] : allItems((await readMicrodataPage(text)).items);
  if (!isOldUsersFile(items)) return undefined;
  const [hasAuthorization, isRulesOnly] = [readers.includes("authorization"), !readers.includes("basic-auth")];
  const html = importUsers(items, { hasAuthorization, isRulesOnly });
  const location = path.replace(/(?:\.html?)?$/i, ".imported.html");
  // It holds passwords like the old one, and what is there already may be in use.
  const { mode } = await stat(path);
  await writeFile(location, html, { flag: "wx", mode: mode & 0o777 });
  return location;
}

/** The page in our words, and the items that it was written from. */
function importedPage(
  items: readonly MicrodataItem[],
  server: MicrodataItem,
  directory: string,
  usersFiles: ReadonlyMap<string, string>,
): { readonly html: string; readonly read: ReadonlySet<MicrodataItem> } {
  const writer = new PageWriter("Configuration");
  const read = new Set<MicrodataItem>();
  writer.add(0, `<main itemscope itemtype="${vocabulary}/ServerConfig">`, "  <h1>Configuration</h1>");
  // The old users files hold the same passwords, and no plugin protects them any longer.
  const old = [...usersFiles.keys()].map((path) => ["protectedFiles", locationFrom(directory, path)] as const);
  // rusty-beam lists no directories.
  writeProperties(1, server, oldOfServer, [["listing", "false"], ...old]);
  for (const host of items.filter((item) => isOfType(item, "HostConfig"))) {
    writer.add(1, `<section itemprop="host" itemscope itemtype="${vocabulary}/HostConfig">`);
    writeProperties(2, host, oldOfHost);
    writePlugins(2, host);
    writer.add(1, "</section>");
  }
  writer.add(0, "</main>");
  return { html: writer.html, read };

  function writePlugins(depth: number, parent: MicrodataItem): void {
    const plugins = pluginsIn(parent);
    // A list without plugins says something else of a directory than no list.
    if (plugins.length === 0 && !hasEmptyList(parent)) return;
    writer.add(depth, "<ol>");
    for (const plugin of plugins) writePlugin(depth + 1, plugin);
    writer.add(depth, "</ol>");
  }

  /** Its plugins, and those of a list that is marked as a plugin itself. */
  function pluginsIn(parent: MicrodataItem): readonly MicrodataItem[] {
    read.add(parent);
    const values = parent.properties.get("plugin") ?? [];
    const plugins = values.flatMap(({ value }) => (typeof value === "string" ? [] : [value]));
    return plugins.flatMap((each) => (isList(each) ? pluginsIn(each) : [each]));
  }

  function writePlugin(depth: number, plugin: MicrodataItem): void {
    read.add(plugin);
    const name = pluginOf(plugin);
    if (builtIn.has(name)) {
      writer.comment(depth, `line ${plugin.line}: ${name} is built in, and left out`);
      return;
    }
    writer.add(depth, `<li itemprop="plugin" itemscope itemtype="${vocabulary}/Plugin">`);
    const hasNewUsers = usersFiles.has(filePath(textOf(plugin, "authfile") ?? "") ?? "");
    const added: [string, string][] = [];
    if (name === "basic-auth" && hasNewUsers) added.push(["require_user", "true"]);
    if (name === "access-log" && textOf(plugin, "format") === undefined) added.push(["format", "common"]);
    const known = bundledNames.find((each) => each === name);
    const { renamed, idle = [] } = (known && oldOfPlugins[known]) ?? {};
    const old = { renamed: { pluginPath: "library", ...renamed }, idle: ["name", ...idle] };
    writeProperties(depth + 1, plugin, old, added);
    writePlugins(depth + 1, plugin);
    writer.add(depth, "</li>");
  }

  function writeProperties(
    depth: number,
    item: MicrodataItem,
    { renamed = {}, idle = [] }: OldProperties,
    added: readonly (readonly [string, string])[] = [],
  ): void {
    const written: (readonly [string, string])[] = [];
    for (const [property, values] of item.properties) {
      const texts = values.flatMap(({ value }) => (typeof value === "string" ? [tidyText(value)] : []));
      if (texts.length === 0) continue;
      const old = optionName(property);
      const known = Object.hasOwn(renamed, old) ? renamed[old] : property;
      const name = idle.includes(old) ? undefined : known;
      const becomes = name === undefined ? "has no effect, and is left out" : `is called ${name} here`;
      if (name !== property) writer.comment(depth, `line ${values[0]?.line}: the property ${property} ${becomes}`);
      if (name !== undefined) written.push(...texts.map((text) => [name, valueHere(optionName(name), text)] as const));
    }
    writer.properties(depth, [...written, ...added]);
  }

  function valueHere(name: string, text: string): string {
    const path = filePath(text);
    if (name === "keyStrategy" && text === "global") return "ip"; // as rusty-beam takes it
    // There, a location whose last segment is the path in the site.
    if (name === "directory" && /^file:/i.test(text)) return `/${text.replace(/\/+$/, "").replace(/^.*\//, "")}`;
    if (name === "library") return libraryOf(text);
    if (path === undefined || !locations.includes(name.toLowerCase())) return text;
    return usersFiles.get(path) ?? locationFrom(directory, path);
  }

  function libraryOf(text: string): string {
    const library = readLibrary(text, process.cwd());
    if (library?.kind === "module") return locationFrom(directory, library.path);
    return newPluginNames.get(plainName(text)) ?? (library?.kind === "bundled" ? library.name : text);
  }
}

function locationFrom(directory: string, path: string): string {
  return relative(directory, path).split(sep).join("/") || ".";
}

function isPlugin(item: MicrodataItem): boolean {
  return item.properties.has("library") || typeNames(item).some((type) => /Plugin|Pipeline/.test(type));
}

function isList(item: MicrodataItem): boolean {
  const isNamed = ["library", "pluginPath", "directory"].some((name) => textOf(item, name) !== undefined);
  return !isNamed && item.properties.has("plugin");
}

function pluginOf(item: MicrodataItem): string {
  const name = plainName(textOf(item, "library") ?? textOf(item, "pluginPath") ?? "");
  return newPluginNames.get(name) ?? name;
}

function textOf({ properties }: MicrodataItem, name: string): string | undefined {
  const [, values] = [...properties].find(([property]) => nameInAnyCase(property) === nameInAnyCase(name)) ?? [];
  return typeof values?.[0]?.value === "string" ? tidyText(values[0].value) : undefined;
}
