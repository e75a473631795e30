import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigError } from "../config.ts";
import { doneInTime } from "../event-loop/in-time.ts";
import { hasEmptyList, isOfType, type MicrodataItem, type MicrodataValue } from "../html/microdata.ts";
import { aPlugin } from "../options/option-types.ts";
import { shown } from "../options/schema.ts";
import type { Plugin } from "../server/plugin.ts";
import { errnoOf } from "../storage/disk/file-record.ts";
import { type BundledName, bundledNames, bundledPlugins, type Library, readLibrary } from "./bundled-plugins.ts";
import { type ConfigPage, optionName, placeOf, readOptions, tidyText } from "./read-options.ts";

export interface PlacedPlugin {
  /** `"module"` for any that does not come with the package. */
  readonly name: BundledName | "module";
  readonly line: number;
  readonly options: Readonly<Record<string, unknown>>;
  readonly nested: readonly PlacedPlugin[];
  /** `undefined` where another plugin does its work, and where it could not be made. */
  readonly plugin: Plugin | undefined;
}

/** Without this limit, a chain of `itemref` would overflow the stack. */
const maxDepth = 32;

/** How long a module may take to load, and then to make its plugin, in milliseconds. */
const longestMs = 10_000;

/** Makes the plugins of a configuration page. What is wrong is added to the problems of the page. */
export class PluginLoader {
  readonly #page: ConfigPage;
  readonly placed: Map<MicrodataItem, PlacedPlugin> = new Map();
  readonly modules: Set<string> = new Set();

  constructor(page: ConfigPage) {
    this.#page = page;
  }

  /** The `plugin` items of another item, in order. An item that several refer to is one plugin, which they share. */
  async place(parent: MicrodataItem, depth = 1): Promise<readonly PlacedPlugin[]> {
    const placed: PlacedPlugin[] = [];
    for (const { value, line } of parent.properties.get("plugin") ?? []) {
      if (typeof value === "string" || !isOfType(value, "Plugin")) {
        this.#page.problems.add(line, "plugin: expected an item of a type that ends in /Plugin");
      } else if (depth > maxDepth) {
        this.#page.problems.add(line, `plugins nest more than ${maxDepth} levels deep: expected fewer`);
      } else {
        const plugin = this.placed.get(value) ?? (await this.#placePlugin(value, depth));
        this.placed.set(value, plugin);
        placed.push(plugin);
      }
    }
    return placed;
  }

  async #placePlugin(item: MicrodataItem, depth: number): Promise<PlacedPlugin> {
    const nested = await this.place(item, depth + 1);
    const library = this.#libraryOf(item);
    if (library?.kind === "bundled") return this.#placeBundled(item, library.name, nested);
    const plugin = library && (await this.#loadModule(item, library.path, nested));
    return { name: "module", line: item.line, options: {}, nested, plugin };
  }

  #libraryOf(item: MicrodataItem): Exclude<Library, { kind: "unknown" }> | undefined {
    const { problems, directory } = this.#page;
    const [first, second] = item.properties.get("library") ?? [];
    if (second) problems.add(second.line, "the plugin has a second library: expected one");
    if (typeof first?.value !== "string") {
      problems.add(first?.line ?? item.line, "the plugin has no library: expected a file:// location");
      return undefined;
    }
    const library = readLibrary(tidyText(first.value), directory);
    if (library && library.kind !== "unknown") return library;
    const known = `the name of a plugin that comes with Filement (${bundledNames.join(", ")}) or an ES module`;
    problems.add(first.line, `library is ${shown(first.value)}: expected ${library ? known : "a file:// location"}`);
    return undefined;
  }

  #placeBundled(item: MicrodataItem, name: BundledName, nested: readonly PlacedPlugin[]): PlacedPlugin {
    const { make, ...kind } = bundledPlugins[name];
    const { directory, problems } = this.#page;
    const countBefore = problems.count;
    const add = (line: number, text: string): void => problems.add(line, `${name}: ${text}`);
    if (nested.length > 0 && name !== "directory") {
      add(nested[0]?.line ?? item.line, "has a plugin in it: only a directory plugin can");
    }
    if (name === "directory" && nested.length === 0 && hasEmptyList(item)) {
      // Without it, the plugins that follow would be confined to the directory, and the rest of the host open.
      add(item.line, "has an empty list: expected plugins in it, or no list, for the plugins that follow");
    }
    const options = readOptions(item, kind, directory, add);
    let plugin: Plugin | undefined;
    try {
      // Just checked, name by name.
      if (problems.count === countBefore) plugin = make?.({ ...options, ...pluginsIn(nested) } as never);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#addProblems(item, name, error);
    }
    return { name, line: item.line, options, nested, plugin };
  }

  async #loadModule(item: MicrodataItem, path: string, nested: readonly PlacedPlugin[]): Promise<Plugin | undefined> {
    this.modules.add(path);
    try {
      return await loadModule(path, { ...this.#parametersOf(item), ...pluginsIn(nested) });
    } catch (error) {
      if (error instanceof ConfigError) this.#addProblems(item, basename(path), error);
      else {
        // "Unexpected end of input" alone does not say that it is the source.
        const reason = error instanceof Error && !(error instanceof SyntaxError) ? error.message : String(error);
        this.#page.problems.add(item.line, `library ${path} cannot be used: ${tidyText(reason)}`);
      }
      return undefined;
    }
  }

  /** Adds what a plugin finds wrong; where that begins with an option, at its line and as the page spells it. */
  #addProblems(item: MicrodataItem, name: string, { problems }: ConfigError): void {
    const beginning = new RegExp(`^${optionName(name)}(?:: | |\\.)`); // "accessLog: file is ..."
    for (const problem of problems) {
      const text = problem.replace(beginning, "");
      const [option = ""] = /^\w*/.exec(text) ?? [];
      const { line, property } = placeOf(item, option);
      this.#page.problems.add(line, `${name}: ${property}${text.slice(option.length)}`);
    }
  }

  /** The parameters of a module, as texts or lists of texts: the types that it expects are unknown. */
  #parametersOf(item: MicrodataItem): Record<string, unknown> {
    const { problems } = this.#page;
    const parameters = new Map<string, unknown>();
    for (const [property, values] of item.properties) {
      if (property === "library" || property === "plugin") continue;
      const name = optionName(property);
      const [{ line }] = values as readonly [MicrodataValue];
      const texts = values.flatMap(({ value }) => (typeof value === "string" ? [tidyText(value)] : []));
      if (texts.length < values.length) problems.add(line, `${property} is an item: expected a value`);
      if (parameters.has(name))
        problems.add(line, `${property} occurs a second time, under another spelling: expected it once`);
      parameters.set(name, texts.length === 1 ? texts[0] : texts);
    }
    return Object.fromEntries(parameters);
  }
}

export function pluginsOf(placed: readonly PlacedPlugin[]): readonly Plugin[] {
  return placed.flatMap(({ plugin }) => plugin ?? []);
}

function pluginsIn(nested: readonly PlacedPlugin[]): { readonly plugins?: readonly Plugin[] } {
  return nested.length > 0 ? { plugins: pluginsOf(nested) } : {};
}

export function withNested(placed: readonly PlacedPlugin[]): readonly PlacedPlugin[] {
  return placed.flatMap((each) => [each, ...withNested(each.nested)]);
}

/** Loads an ES module and has it make a plugin, each within `timeMs`. Rejects with a sentence for people. */
export async function loadModule(
  path: string,
  parameters: Readonly<Record<string, unknown>>,
  timeMs: number = longestMs,
): Promise<Plugin> {
  const tooSlow = (doing: string): string => `it took more than ${timeMs / 1000} s to ${doing}`;
  const loading = import(/* webpackIgnore: true */ /* turbopackIgnore: true */ await urlOf(path));
  const { default: factory }: { default?: unknown } = await doneInTime(loading, timeMs, tooSlow("load"));
  if (typeof factory !== "function") throw new Error("expected a default export that is a function");
  const made = (async () => factory(parameters))();
  const plugin: unknown = await doneInTime(made, timeMs, tooSlow("make its plugin"));
  const [problem] = aPlugin.problemsOf(plugin);
  if (problem) throw new Error(`expected its function to return ${problem.expected}`);
  return plugin as Plugin;
}

/** Node loads a URL once, and remembers failures as well: a file that has changed needs another one. */
async function urlOf(path: string): Promise<string> {
  const { mtimeMs, size } = await stat(path).catch((cause) => {
    const isAbsent = errnoOf(cause) === "ENOENT";
    throw new Error(isAbsent ? "the file does not exist" : `it cannot be read (${cause.message})`, { cause });
  });
  return `${pathToFileURL(path).href}?${mtimeMs}-${size}`;
}
