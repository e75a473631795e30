import {
  isOfType,
  liesIn,
  MicrodataError,
  type MicrodataItem,
  type MicrodataValue,
  typeNames,
} from "../../html/microdata.ts";
import { plainName } from "../library.ts";
import { tidyText } from "../text-options.ts";
import { type OldPlugin, oldName, oldOfPlugins, oldPlugins } from "./old-names.ts";
import { type Difference, TranslatedItem, textOf, valuesOf } from "./translated-item.ts";

/** Properties in which a plugin of rusty-beam may say what it is, the first one first. */
const wordsOfLibrary = ["library", "pluginPath", "path", "name"];
const sharedLibrary = /\.(?:so|dylib|dll)$/i;
/** `RateLimitPlugin` for `rate-limit`. `PluginConfig` and `Plugin` may be any. */
const ownType = /^(.+)Plugin$/;

/** Deeper lists and plugins are left to the reader of our pages, which refuses them. */
const maxDepth = 32;
/** Lists that refer to the same two lists double with each level. */
const maxListed = 100_000;

/** Puts plugins of rusty-beam into our words. */
export class OldPlugins {
  /** Plugins that are not here. Without them the site might be open, so they stay in the page, which does not load. */
  readonly missing: Difference[] = [];
  /** Items that were read, as themselves or as another one. */
  readonly taken: Set<MicrodataItem> = new Set();
  readonly #all: readonly MicrodataItem[];
  readonly #directory: string;
  readonly #differences: Difference[];
  #listed = 0;
  readonly #done = new Map<MicrodataItem, readonly MicrodataItem[]>();

  /** `all` are the items of the page, `directory` is where it lies. */
  constructor(all: readonly MicrodataItem[], directory: string, differences: Difference[]) {
    this.#all = all;
    this.#directory = directory;
    this.#differences = differences;
  }

  /**
   * The plugins that a value stands for: itself, those in a list that is called a plugin, or names of some. Throws a
   * `MicrodataError` where they are too many.
   */
  listed(
    translated: TranslatedItem,
    property: string,
    { value, line }: MicrodataValue,
    depth: number = 1,
  ): readonly MicrodataItem[] {
    this.#listed += 1;
    if (this.#listed > maxListed) throw new MicrodataError(line, `there are more than ${maxListed} plugins`);
    if (typeof value !== "string") {
      const children = value.properties.get("plugin") ?? [];
      if (children.length === 0 || !isList(value) || depth > maxDepth) return [value];
      this.taken.add(value);
      translated.note(line, "the list has no library, and is no plugin itself: the plugins in it are read");
      return children.flatMap((child) => this.listed(translated, "plugin", child, depth + 1));
    }
    translated.note(line, `${property} is read as a list of plugins: write each in an item with itemprop="plugin"`);
    const inside = this.#all.filter(
      (each) => isPlugin(each) && property === "plugins" && liesIn(each, translated.original),
    );
    if (inside.length > 0) return inside.filter((each) => !inside.some((other) => liesIn(each, other)));
    const names = tidyText(value)
      .split(/[\s,]+/)
      .filter(Boolean);
    return names.map((name) => ({
      types: ["/Plugin"],
      line,
      properties: new Map([["library", [{ value: name, line }]]]),
    }));
  }

  /** A plugin in our words, or several that do together what it did. What becomes of none is noted with the host. */
  async translated(item: MicrodataItem, host: TranslatedItem, depth: number = 1): Promise<readonly MicrodataItem[]> {
    const known = depth > maxDepth ? [item] : this.#done.get(item);
    if (known) return known;
    this.taken.add(item);
    const translated = new TranslatedItem(item);
    const name = putLibrary(translated);
    const old = oldPlugin(name);
    if (old && "builtIn" in old) {
      host.note(item.line, `the plugin ${name} is left out: ${old.builtIn}`);
      this.#done.set(item, []);
      return [];
    }
    if (old && "missing" in old)
      this.missing.push({ line: item.line, text: `there is no plugin ${name} here: ${old.missing}`, item });
    const nested: MicrodataItem[] = [];
    for (const value of item.properties.get("plugin") ?? []) {
      for (const each of this.listed(translated, "plugin", value)) {
        nested.push(...(await this.translated(each, translated, depth + 1)));
      }
    }
    const bundled = old && "now" in old ? old.now : name;
    translated.rename({
      ...(bundled !== "rate-limit" && { name: oldName }),
      ...(Object.hasOwn(oldOfPlugins, bundled) && oldOfPlugins[bundled as keyof typeof oldOfPlugins]),
    });
    adjust(translated, bundled, host);
    await translated.place(this.#directory);
    translated.setItems("plugin", nested);
    const made = [translated.finish("Plugin", this.#differences), ...this.#furtherEndpoints(item, bundled)];
    this.#done.set(item, made);
    return made;
  }

  /** Where rusty-beam answered at three paths, there are three health checks here. */
  #furtherEndpoints(item: MicrodataItem, name: string): readonly MicrodataItem[] {
    if (name !== "health-check") return [];
    return ["readyEndpoint", "liveEndpoint"].flatMap((endpoint) => {
      const path = textOf(item, endpoint);
      if (!path) return [];
      const translated = new TranslatedItem(item, []);
      translated.note(path.line, "a health check has one path here: this is another one");
      translated.set("library", "health-check", path.line);
      translated.set("path", path.text, path.line);
      if (endpoint === "liveEndpoint") translated.set("check_storage", "false", path.line);
      return [translated.finish("Plugin", this.#differences)];
    });
  }
}

/** Whether an item is only what its plugins stand in. */
function isList(item: MicrodataItem): boolean {
  if (isOfType(item, "Pipeline")) return true;
  const saysWhat = [...wordsOfLibrary, "directory"].some((name) => valuesOf(item, name));
  return isOfType(item, "Plugin") && !saysWhat;
}

function isPlugin(item: MicrodataItem): boolean {
  return typeNames(item).some((type) => type === "Plugin" || type === "PluginConfig" || ownType.test(type));
}

function oldPlugin(name: string): OldPlugin | undefined {
  return Object.hasOwn(oldPlugins, name) ? oldPlugins[name] : undefined;
}

/** Finds out which plugin it is, puts that into the property `library`, and gives its plain name. */
function putLibrary(translated: TranslatedItem): string {
  const { original } = translated;
  const [type = ""] = typeNames(original);
  const [, ofType] = ownType.exec(type) ?? [];
  if (type !== "Plugin" && type !== "") translated.note(original.line, `the type ${type} is called Plugin here`);
  const word = wordsOfLibrary.find((each) => {
    const found = textOf(original, each);
    return found !== undefined && (each !== "path" || sharedLibrary.test(found.text));
  });
  const { text, line } = (word === undefined ? undefined : textOf(original, word)) ?? {
    text: ofType === undefined ? "" : withHyphens(ofType),
    line: original.line,
  };
  if (word === undefined && ofType !== undefined)
    translated.note(line, "there is no library: it is taken from the type");
  if (word !== undefined && word !== "library") {
    translated.note(line, `the library is in the property ${word}: it is called library here`);
    translated.delete(word);
  }
  const name = plainName(text);
  const old = oldPlugin(name);
  const isRenamed = old !== undefined && "now" in old;
  if (isRenamed) translated.note(line, `the plugin ${name} is called ${old.now} here`);
  if (text !== "") translated.set("library", isRenamed ? old.now : text, line);
  return name;
}

function withHyphens(name: string): string {
  return plainName(name.replace(/(?<=[a-z0-9])[A-Z]/g, "-$&"));
}

/** What has the same name, and another meaning. */
function adjust(translated: TranslatedItem, name: string, host: TranslatedItem): void {
  const { original, properties } = translated;
  if (name === "access-log" && !properties.has("format")) {
    translated.set("format", "common");
    translated.note(
      original.line,
      "format is common, as it was in rusty-beam where nothing was said; here it would be combined",
    );
  }
  if (name === "cors" && valuesOf(original, "allowedOrigins") === undefined && !properties.has("origins")) {
    translated.note(
      original.line,
      "cors without origins is for those in allowedOrigins of the host; in rusty-beam it is for all",
    );
  }
  if (name === "health-check") {
    translated.delete("readyEndpoint");
    translated.delete("liveEndpoint");
  }
  const root = textOf(original, "rootDir");
  if (root && (name === "file-handler" || name === "selector-handler")) {
    translated.delete("rootDir");
    const isUsed = name === "file-handler" && valuesOf(host.original, "hostRoot") === undefined;
    if (isUsed) translated.set("root", root.text, root.line);
    const noEffect = "root_dir is left out: the host says hostRoot, which came first in rusty-beam";
    translated.note(root.line, isUsed ? "the property root_dir is called root here" : noEffect);
  }
  const directory = textOf(original, "directory");
  if (name === "directory" && directory && /^file:/i.test(directory.text)) {
    const path = `/${directory.text.replace(/\/+$/, "").replace(/^.*\//, "")}`;
    translated.set("directory", path, directory.line);
    translated.note(directory.line, `the directory is a path of the site here: ${path}`);
  }
  const strategy = textOf(original, "keyStrategy");
  if (name === "rate-limit" && strategy?.text === "global") {
    translated.delete("keyStrategy");
    translated.note(strategy.line, "key_strategy is ip, which rusty-beam took for global as well");
  }
}
