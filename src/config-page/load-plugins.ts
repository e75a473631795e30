import { basename } from "node:path";
import { ConfigError } from "../config.ts";
import { hasEmptyList, isOfType, type MicrodataItem, type MicrodataValue } from "../html/microdata.ts";
import type { Plugin } from "../server/plugin.ts";
import { bundledPlugins } from "./bundled-plugins.ts";
import { type BundledName, bundledNames, type Library, readLibrary } from "./library.ts";
import { loadModule } from "./load-module.ts";
import { shown } from "./problems.ts";
import { attempt, type ConfigPage, placeOf, readOptions } from "./read-options.ts";
import { optionName, tidyText } from "./text-options.ts";

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

/** Makes the plugins of a configuration page. What is wrong is added to the problems of the page. */
export class PluginLoader {
  readonly #page: ConfigPage;
  readonly #placed = new Map<MicrodataItem, PlacedPlugin>();
  readonly #modules = new Set<string>();

  constructor(page: ConfigPage) {
    this.#page = page;
  }

  get modules(): ReadonlySet<string> {
    return this.#modules;
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
        const plugin = this.#placed.get(value) ?? (await this.#placePlugin(value, depth));
        this.#placed.set(value, plugin);
        placed.push(plugin);
      }
    }
    return placed;
  }

  knows(item: MicrodataItem): boolean {
    return this.#placed.has(item);
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
    const problems = this.#page.problems.about(name);
    if (nested.length > 0 && name !== "directory") {
      problems.add(nested[0]?.line ?? item.line, "has a plugin in it: only a directory plugin can");
    }
    if (name === "directory" && nested.length === 0 && hasEmptyList(item)) {
      // Without it, the plugins that follow would be confined to the directory, and the rest of the host open.
      problems.add(item.line, "has an empty list: expected plugins in it, or no list, for the plugins that follow");
    }
    const options = readOptions(item, kind, { ...this.#page, problems });
    const plugins = nested.length > 0 ? { plugins: pluginsOf(nested) } : {};
    const use = (): Plugin | undefined => make?.({ ...options, ...plugins } as never); // just checked, name by name
    const plugin = problems.hasOwn ? undefined : attempt({ item, kind, problems, name }, use);
    return { name, line: item.line, options, nested, plugin };
  }

  async #loadModule(item: MicrodataItem, path: string, nested: readonly PlacedPlugin[]): Promise<Plugin | undefined> {
    this.#modules.add(path);
    const parameters = this.#parametersOf(item);
    const plugins = nested.length > 0 ? { plugins: pluginsOf(nested) } : {};
    try {
      return await loadModule(path, { ...parameters, ...plugins });
    } catch (error) {
      this.#addFailure(item, path, error);
      return undefined;
    }
  }

  #addFailure(item: MicrodataItem, path: string, error: unknown): void {
    const { problems } = this.#page;
    if (error instanceof ConfigError) {
      for (const problem of error.problems) {
        const [parameter = ""] = /^\w*/.exec(problem) ?? [];
        problems.add(placeOf(item, parameter).line, `${basename(path)}: ${problem}`);
      }
      return;
    }
    // "Unexpected end of input" alone does not say that it is the source.
    const reason = error instanceof Error && !(error instanceof SyntaxError) ? error.message : String(error);
    problems.add(item.line, `library ${path} cannot be used: ${tidyText(reason)}`);
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

export function withNested(placed: readonly PlacedPlugin[]): readonly PlacedPlugin[] {
  return placed.flatMap((each) => [each, ...withNested(each.nested)]);
}
