import { isOfType, type MicrodataItem, type MicrodataPage, withElementOf } from "../../html/microdata.ts";
import { oldOfHost, oldOfServer } from "./old-names.ts";
import { OldPlugins } from "./old-plugins.ts";
import { type Difference, TranslatedItem, valuesOf } from "./translated-item.ts";

/** A page in our words. */
export interface TranslatedPage {
  /** The server first, then what was not read. */
  readonly items: readonly MicrodataItem[];
  readonly differences: readonly Difference[];
  /** Plugins that are missing here. */
  readonly missing: readonly Difference[];
  readonly mistakes: MicrodataPage["mistakes"];
}

/** Hosts within hosts that are looked into. */
const maxDepth = 8;
/**
 * Reads a page in the vocabulary of rusty-beam as if it had our names and shapes. `all` are its items, nested ones included;
 * it lies in `directory`.
 */
export async function translatePage(
  page: MicrodataPage,
  all: readonly MicrodataItem[],
  directory: string,
): Promise<TranslatedPage> {
  const server = all.find((item) => isOfType(item, "ServerConfig"));
  if (!server) return { items: all, differences: [], missing: [], mistakes: page.mistakes };
  const translator = new OldPage([...all, ...page.strays], directory);
  const translated = await translator.server(server);
  const { differences, taken } = translator;
  // What belongs to nothing there has found its place here.
  const isPlaced = page.strays.every((item) => taken.has(item));
  const mistakes = isPlaced ? page.mistakes.filter((each) => !page.strayMistakes.has(each)) : page.mistakes;
  return {
    items: [translated, ...all.filter((item) => !taken.has(item))],
    differences,
    missing: translator.missing,
    mistakes,
  };
}

class OldPage {
  readonly differences: Difference[] = [];
  readonly #all: readonly MicrodataItem[];
  readonly #directory: string;
  readonly #plugins: OldPlugins;

  constructor(all: readonly MicrodataItem[], directory: string) {
    this.#all = all;
    this.#directory = directory;
    this.#plugins = new OldPlugins(all, directory, this.differences);
  }

  get missing(): readonly Difference[] {
    return this.#plugins.missing;
  }

  /** Items that were read, as themselves or as another one. */
  get taken(): Set<MicrodataItem> {
    return this.#plugins.taken;
  }

  async server(item: MicrodataItem): Promise<MicrodataItem> {
    this.taken.add(item);
    const translated = new TranslatedItem(item);
    translated.rename(oldOfServer);
    await translated.place(this.#directory);
    const linked = hostsIn(item);
    const owned = new Set(this.#all.flatMap(hostsIn));
    const alone = this.#all.filter((each) => isOfType(each, "HostConfig") && !owned.has(each));
    const hosts: MicrodataItem[] = [];
    for (const host of [...linked, ...alone]) hosts.push(...(await this.#hosts(host, translated)));
    for (const { line } of alone) {
      translated.note(
        line,
        'a host that stands alone is read as one of the server: write it in there, with itemprop="host"',
      );
    }
    if (hosts.length === 0) hosts.push(await this.#onlyHost(translated));
    translated.setItems("host", hosts);
    translated.set("listing", "false");
    translated.note(item.line, "directories without index.html are not listed, as in rusty-beam");
    return translated.finish("ServerConfig", this.differences);
  }

  /** Hosts that stand in a host are read in its place, with what it says besides. */
  async #hosts(item: MicrodataItem, server: TranslatedItem, depth: number = 1): Promise<readonly MicrodataItem[]> {
    this.taken.add(item);
    const inner = depth > maxDepth ? [] : hostsIn(item);
    if (inner.length === 0) return [await this.#host(item)];
    server.note(item.line, "the host stands in another host: both are read as one");
    const around = [...item.properties].filter(([name]) => name !== "host");
    const hosts: MicrodataItem[] = [];
    for (const each of inner) {
      this.taken.add(each);
      const both = withElementOf(each, { ...each, properties: new Map([...around, ...each.properties]) });
      hosts.push(...(await this.#hosts(both, server, depth + 1)));
    }
    return hosts;
  }

  async #host(item: MicrodataItem): Promise<MicrodataItem> {
    const translated = new TranslatedItem(item);
    const plugins = ["plugin", "plugins", "pipeline"].flatMap((property) => {
      translated.properties.delete(property);
      const values = item.properties.get(property) ?? [];
      return values.flatMap((value) => this.#plugins.listed(translated, property, value));
    });
    dropParts(translated, plugins);
    translated.rename(oldOfHost);
    await translated.place(this.#directory);
    return this.#withPlugins(translated, plugins);
  }

  /** What a page without hosts serves: the directory of the server, under any name. */
  async #onlyHost({ original, properties }: TranslatedItem): Promise<MicrodataItem> {
    const translated = new TranslatedItem(original, []);
    translated.note(original.line, "there is no host: the page is read as if it had one for all names");
    translated.set("hostname", "*");
    const root = valuesOf({ ...original, properties }, "serverRoot");
    if (root) translated.properties.set("hostRoot", root);
    const pipelines = this.#all.filter((each) => isOfType(each, "Pipeline"));
    const plugins = pipelines.flatMap((each) =>
      this.#plugins.listed(translated, "pipeline", { value: each, line: each.line }),
    );
    return this.#withPlugins(translated, plugins);
  }

  async #withPlugins(host: TranslatedItem, plugins: readonly MicrodataItem[]): Promise<MicrodataItem> {
    const translated: MicrodataItem[] = [];
    for (const plugin of plugins) translated.push(...(await this.#plugins.translated(plugin, host)));
    host.setItems("plugin", translated);
    return host.finish("HostConfig", this.differences);
  }
}

function hostsIn({ properties }: MicrodataItem): readonly MicrodataItem[] {
  const values = properties.get("host") ?? [];
  return values.flatMap(({ value }) => (typeof value !== "string" && isOfType(value, "HostConfig") ? [value] : []));
}

/** By `itemref`, what stands in a host may belong to a plugin, and not to the host. */
function dropParts(translated: TranslatedItem, plugins: readonly MicrodataItem[]): void {
  for (const [name, values] of [...translated.properties]) {
    const lines = new Set(plugins.flatMap(({ properties }) => (properties.get(name) ?? []).map(({ line }) => line)));
    const [first] = values;
    if (!first || !values.some(({ line }) => lines.has(line))) continue;
    translated.properties.delete(name);
    translated.note(first.line, `${name} belongs to the plugin that refers to it, and not to the host`);
  }
}
