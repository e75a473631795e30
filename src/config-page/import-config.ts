import { dirname } from "node:path";
import { ConfigError } from "../config.ts";
import { isOfType, type MicrodataItem } from "../html/microdata.ts";
import { escapeHtml } from "../http/escape-html.ts";
import { expectedLocation, filePath } from "../local-files/file-path.ts";
import { readLibrary } from "./library.ts";
import { configOf, readItems } from "./load-config.ts";
import type { Difference } from "./old-draft.ts";
import { Problems } from "./problems.ts";
import { tidyText } from "./text-options.ts";

/** A page in our words. */
export interface ImportedConfig {
  readonly html: string;
  /** What keeps it from loading, in the lines of the page that was read. */
  readonly problems: readonly string[];
}

const vocabulary = "https://example.org/schema";
const libraryTimeMs = 10_000;

/**
 * Writes a configuration page, also one of rusty-beam, in our words, with a comment at each difference. Only what the server
 * reads is kept: the prose is not. Its locations start where the page lies. Throws a `ConfigError` for a page without server.
 */
export async function importConfig(location: string): Promise<ImportedConfig> {
  const path = filePath(location);
  if (path === undefined) throw new ConfigError([`${location}: expected ${expectedLocation}`]);
  const directory = dirname(path);
  const problems = new Problems(location);
  const { items, differences } = await readItems(path, problems);
  const server = items.find((item) => isOfType(item, "ServerConfig"));
  const found = await configOf(items, { directory, problems }, libraryTimeMs).then(
    () => [],
    (error: unknown) => {
      if (error instanceof ConfigError && server) return error.problems;
      throw error;
    },
  );
  return { html: server ? new Writer(differences, directory).page(server) : "", problems: found };
}

class Writer {
  readonly #lines: string[] = [];
  readonly #directory: string;
  readonly #comments = new Map<MicrodataItem, Difference[]>();
  readonly #written = new Set<MicrodataItem>();

  constructor(differences: readonly Difference[], directory: string) {
    this.#directory = directory;
    for (const each of [...differences].sort((a, b) => a.line - b.line)) {
      this.#comments.set(each.item, [...(this.#comments.get(each.item) ?? []), each]);
    }
  }

  page(server: MicrodataItem): string {
    this.#add(0, "<!doctype html>", '<meta charset="utf-8">', "<title>Configuration</title>");
    this.#add(0, `<main itemscope itemtype="${vocabulary}/ServerConfig">`, "  <h1>Configuration</h1>");
    this.#comment(1, server);
    this.#properties(1, server);
    for (const host of itemsOf(server, "host")) this.#host(host);
    this.#add(0, "</main>");
    return `${this.#lines.join("\n")}\n`;
  }

  #host(host: MicrodataItem): void {
    this.#add(1, `<section itemprop="host" itemscope itemtype="${vocabulary}/HostConfig">`);
    this.#comment(2, host);
    this.#properties(2, host);
    this.#plugins(2, host);
    this.#add(1, "</section>");
  }

  #plugins(depth: number, parent: MicrodataItem): void {
    const plugins = itemsOf(parent, "plugin");
    if (plugins.length === 0) return;
    this.#add(depth, "<ol>");
    for (const plugin of plugins) {
      this.#add(depth + 1, `<li itemprop="plugin" itemscope itemtype="${vocabulary}/Plugin">`);
      if (this.#written.has(plugin)) this.#add(depth + 2, comment("this was one plugin for several hosts"));
      this.#written.add(plugin);
      this.#comment(depth + 2, plugin);
      this.#properties(depth + 2, plugin);
      this.#plugins(depth + 2, plugin);
      this.#add(depth + 1, "</li>");
    }
    this.#add(depth, "</ol>");
  }

  #properties(depth: number, { properties }: MicrodataItem): void {
    const lines = [...properties].flatMap(([name, values]) =>
      values.flatMap(({ value }) => (typeof value === "string" ? [this.#property(name, tidyText(value))] : [])),
    );
    if (lines.length > 0) this.#add(depth, "<dl>", ...lines.map((line) => `  ${line}`), "</dl>");
  }

  #property(name: string, text: string): string {
    const library = name === "library" ? readLibrary(text, this.#directory) : undefined;
    const value = library?.kind === "bundled" ? library.name : text;
    return `<dt>${escapeHtml(name)}</dt> <dd itemprop="${escapeHtml(name)}">${escapeHtml(value)}</dd>`;
  }

  #comment(depth: number, item: MicrodataItem): void {
    for (const { line, text } of this.#comments.get(item) ?? []) this.#add(depth, comment(`line ${line}: ${text}`));
  }

  #add(depth: number, ...lines: readonly string[]): void {
    for (const line of lines) this.#lines.push("  ".repeat(depth) + line);
  }
}

/** Two hyphens could end the comment. */
function comment(text: string): string {
  return `<!-- ${text.replace(/-(?=-)/g, "- ").replaceAll(">", "›")} -->`;
}

function itemsOf({ properties }: MicrodataItem, name: string): readonly MicrodataItem[] {
  return (properties.get(name) ?? []).flatMap(({ value }) => (typeof value === "string" ? [] : [value]));
}
