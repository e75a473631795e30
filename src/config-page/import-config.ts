import { stat, writeFile } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { ConfigError } from "../config.ts";
import { allItems, isOfType, type MicrodataItem, readMicrodataPage } from "../html/microdata.ts";
import { expectedLocation, filePath } from "../local-files/file-path.ts";
import { readTextFile } from "../local-files/text-file.ts";
import { readRulesFile, readUsersFile } from "../plugins/basic-auth/users-file.ts";
import { messageOf } from "../server/logger.ts";
import { translatePage } from "./import-config/old-pages.ts";
import { type ImportedUsers, importUsers, isOldUsersFile } from "./import-config/old-users.ts";
import { PageWriter, vocabulary } from "./import-config/page-writer.ts";
import type { Difference } from "./import-config/translated-item.ts";
import { plainName, readLibrary } from "./library.ts";
import { configOf, isOldPage, readPage } from "./load-config.ts";
import { Problems } from "./problems.ts";
import { optionName, tidyText } from "./text-options.ts";

/** A page in our words. */
export interface ImportedConfig {
  readonly html: string;
  /** What keeps it from loading, in the lines of the page that was read. */
  readonly problems: readonly string[];
}

const libraryTimeMs = 10_000;

/**
 * Writes a configuration page, also one of rusty-beam, in our words, with a comment at each difference, and each users file that
 * it names and that is rusty-beam's into a new file beside the old one. Only what the server reads is kept: the prose is not.
 * Locations start where the page lies. A users file can be given in place of the page. Throws a `ConfigError` for other pages.
 */
export async function importConfig(location: string): Promise<ImportedConfig> {
  const path = filePath(location);
  if (path === undefined) throw new ConfigError([`${location}: expected ${expectedLocation}`]);
  const directory = dirname(path);
  const problems = new Problems(location);
  const page = await readPage(path, problems);
  const all = allItems(page.items);
  if (!all.some((item) => isOfType(item, "ServerConfig")) && isOldUsersFile(all)) {
    const imported = importUsers(all, { name: location, hasAuthorization: true, isRulesOnly: false });
    return { html: imported.html, problems: inLines(location, imported) };
  }
  const old = { items: all, differences: [], missing: [], mistakes: page.mistakes };
  const { items, differences, missing, mistakes } = isOldPage(page) ? await translatePage(page, all, directory) : old;
  for (const { line, text } of [...mistakes, ...missing]) problems.add(line, text);
  const server = items.find((item) => isOfType(item, "ServerConfig"));
  const found = await configOf(items, { directory, problems }, libraryTimeMs).then(
    () => [],
    (error: unknown) => {
      if (error instanceof ConfigError && server) return error.problems;
      throw error;
    },
  );
  if (!server) return { html: "", problems: found };
  const users = new UsersFiles(directory);
  await users.importAll(server);
  return { html: new Writer(differences, directory, users.made).page(server), problems: [...found, ...users.problems] };
}

function inLines(location: string, { problems }: ImportedUsers): readonly string[] {
  return problems.map(({ line, text }) => `${location}, line ${line}: ${text}`);
}

/** The users files that a page names. */
class UsersFiles {
  /** The locations of new files, by those of the old ones. */
  readonly made = new Map<string, string>();
  readonly problems: string[] = [];
  readonly #directory: string;
  /** The names of the plugins that read each file. */
  readonly #readers = new Map<string, Set<string>>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  async importAll(server: MicrodataItem): Promise<void> {
    for (const plugin of allItems([server])) {
      const path = usersFileOf(plugin, this.#directory);
      if (path === undefined) continue;
      const readers = this.#readers.get(path) ?? new Set();
      this.#readers.set(path, readers.add(libraryOf(plugin)));
    }
    for (const [path, readers] of this.#readers) {
      await this.#import(path, readers).catch((error: unknown) => this.problems.push(messageOf(error)));
    }
  }

  async #import(path: string, readers: ReadonlySet<string>): Promise<void> {
    const text = await readTextFile(path);
    if (!/^\s*</.test(text)) return; // htpasswd
    const items = allItems((await readMicrodataPage(text)).items);
    if (!isOldUsersFile(items)) return;
    const hasAuthorization = readers.has("authorization");
    const name = relative(this.#directory, path);
    const imported = importUsers(items, { name, hasAuthorization, isRulesOnly: !readers.has("basic-auth") });
    this.problems.push(...inLines(path, imported));
    const location = path.replace(/(?:\.html?)?$/i, ".imported.html");
    // It holds passwords like the old one, and what is there already may be in use.
    const { mode } = await stat(path);
    await writeFile(location, imported.html, { flag: "wx", mode: mode & 0o777 });
    this.made.set(path, relative(this.#directory, location));
    const reading = readers.has("basic-auth") ? readUsersFile(location) : readRulesFile(location);
    await reading.catch((error: unknown) => this.#addProblems(error));
  }

  #addProblems(error: unknown): void {
    if (!(error instanceof ConfigError)) throw error;
    this.problems.push(...error.problems);
  }
}

function libraryOf({ properties }: MicrodataItem): string {
  const [library] = properties.get("library") ?? [];
  return typeof library?.value === "string" ? plainName(tidyText(library.value)) : "";
}

function usersFileOf({ properties }: MicrodataItem, directory: string): string | undefined {
  const [, [first] = []] = [...properties].find(([name]) => isAuthfile(name)) ?? [];
  return typeof first?.value === "string" ? filePath(tidyText(first.value), directory) : undefined;
}

function isAuthfile(name: string): boolean {
  return optionName(name).toLowerCase() === "authfile";
}

class Writer {
  readonly #page = new PageWriter("Configuration");
  readonly #directory: string;
  readonly #newUsersFiles: ReadonlyMap<string, string>;
  readonly #comments = new Map<MicrodataItem, Difference[]>();
  readonly #written = new Set<MicrodataItem>();

  constructor(differences: readonly Difference[], directory: string, newUsersFiles: ReadonlyMap<string, string>) {
    this.#directory = directory;
    this.#newUsersFiles = newUsersFiles;
    for (const each of [...differences].sort((a, b) => a.line - b.line)) {
      this.#comments.set(each.item, [...(this.#comments.get(each.item) ?? []), each]);
    }
  }

  page(server: MicrodataItem): string {
    this.#page.add(0, `<main itemscope itemtype="${vocabulary}/ServerConfig">`, "  <h1>Configuration</h1>");
    // The old users files hold the same passwords, and no plugin protects them any longer.
    const old = [...this.#newUsersFiles.keys()].map((path) => relative(this.#directory, path));
    this.#properties(
      1,
      server,
      old.map((path) => ["protectedFiles", path] as const),
    );
    for (const host of itemsOf(server, "host")) this.#host(host);
    this.#page.add(0, "</main>");
    return this.#page.html;
  }

  #host(host: MicrodataItem): void {
    this.#page.add(1, `<section itemprop="host" itemscope itemtype="${vocabulary}/HostConfig">`);
    this.#properties(2, host);
    this.#plugins(2, host);
    this.#page.add(1, "</section>");
  }

  #plugins(depth: number, parent: MicrodataItem): void {
    const plugins = itemsOf(parent, "plugin");
    if (plugins.length === 0) return;
    this.#page.add(depth, "<ol>");
    for (const plugin of plugins) {
      this.#page.add(depth + 1, `<li itemprop="plugin" itemscope itemtype="${vocabulary}/Plugin">`);
      if (this.#written.has(plugin)) this.#page.comment(depth + 2, "this was one plugin for several hosts");
      this.#written.add(plugin);
      const usersFile = usersFileOf(plugin, this.#directory) ?? "";
      const isClosed = [...plugin.properties].some(([name]) => optionName(name) === "requireUser");
      const closes = !isClosed && libraryOf(plugin) === "basic-auth" && this.#newUsersFiles.has(usersFile);
      this.#properties(depth + 2, plugin, closes ? [["require_user", "true"]] : []);
      this.#plugins(depth + 2, plugin);
      this.#page.add(depth + 1, "</li>");
    }
    this.#page.add(depth, "</ol>");
  }

  #properties(depth: number, item: MicrodataItem, added: readonly (readonly [string, string])[] = []): void {
    for (const { line, text } of this.#comments.get(item) ?? []) this.#page.comment(depth, `line ${line}: ${text}`);
    const values = [...item.properties].flatMap(([name, each]) =>
      each.flatMap(({ value }) =>
        typeof value === "string" ? [[name, this.#value(name, tidyText(value))] as const] : [],
      ),
    );
    this.#page.properties(depth, [...values, ...added]);
  }

  #value(name: string, text: string): string {
    if (isAuthfile(name)) return this.#newUsersFiles.get(filePath(text, this.#directory) ?? "") ?? text;
    const library = name === "library" ? readLibrary(text, this.#directory) : undefined;
    return library?.kind === "bundled" ? library.name : text;
  }
}

function itemsOf({ properties }: MicrodataItem, name: string): readonly MicrodataItem[] {
  return (properties.get(name) ?? []).flatMap(({ value }) => (typeof value === "string" ? [] : [value]));
}
