import { describe, expect, it } from "vitest";
import { PluginLoader, pluginsOf, withNested } from "../../src/config-page/load-plugins.ts";
import { Problems } from "../../src/config-page/read-options.ts";
import { allItems, isOfType, type MicrodataItem, readMicrodataPage } from "../../src/html/microdata.ts";
import { asOnPosix } from "../helpers/spelling.ts";
import { bundled, configDirectory, hostPage, pluginItem } from "./pages.ts";

interface Loaded {
  readonly loader: PluginLoader;
  readonly items: readonly MicrodataItem[];
  readonly hosts: readonly MicrodataItem[];
  readonly problems: () => readonly string[];
}

/** A loader for a page that lies beside some modules. */
async function loaderFor(html: string, files: Readonly<Record<string, string>> = {}): Promise<Loaded> {
  const directory = await configDirectory(html, files);
  const problems = new Problems("page");
  const items = allItems((await readMicrodataPage(html)).items);
  return {
    loader: new PluginLoader({ directory, problems }),
    items,
    hosts: items.filter((item) => isOfType(item, "HostConfig")),
    problems: () => problems.error.problems.map((problem) => asOnPosix(problem, directory)),
  };
}

async function place(inside: string, files: Readonly<Record<string, string>> = {}) {
  const { loader, hosts, problems } = await loaderFor(hostPage(inside), files);
  const placed = await loader.place(hosts[0] as MicrodataItem);
  return { placed, problems: problems(), plugins: pluginsOf(placed) };
}

const reporter = "export default (parameters) => ({ name: 'reporter', parameters });";

describe("the plugins of a host", () => {
  it("are made in the order of their items", async () => {
    const { placed, problems } = await place(
      [bundled("metrics"), bundled("rate-limit"), bundled("health-check")].join("\n"),
    );
    expect(problems).toEqual([]);
    expect(placed.map(({ name, line, plugin }) => [name, line, plugin?.name])).toEqual([
      ["metrics", 4, "metrics"],
      ["rate-limit", 5, "rate-limit"],
      ["health-check", 6, "health-check"],
    ]);
  });

  it("are none where there are none", async () => {
    expect(await place("")).toEqual({ placed: [], problems: [], plugins: [] });
  });

  it.each(["<ol></ol>", "<ul> <!-- none yet --> <li>later</li> </ul>"])(
    "are not silently those that follow where the list in a directory is empty: %s",
    async (list) => {
      const { problems } = await place(bundled("directory", { directory: "/api" }, list) + bundled("metrics"));
      expect(problems).toEqual([
        "page:4: directory: has an empty list: expected plugins in it, or no list, for the plugins that follow",
      ]);
    },
  );

  it("nest in a directory", async () => {
    const { placed, problems, plugins } = await place(
      bundled("directory", { directory: "/api" }, bundled("rate-limit") + bundled("metrics")),
    );
    expect(problems).toEqual([]);
    expect(withNested(placed).map(({ name }) => name)).toEqual(["directory", "rate-limit", "metrics"]);
    expect(plugins[0]?.scope?.plugins?.map(({ name }) => name)).toEqual(["rate-limit", "metrics"]);
  });

  it("do not nest in others", async () => {
    expect((await place(bundled("rate-limit", {}, `\n${bundled("metrics")}`))).problems).toEqual([
      "page:5: rate-limit: has a plugin in it: only a directory plugin can",
    ]);
  });

  it("do not count where another plugin does their work", async () => {
    const { placed, plugins } = await place(bundled("selector-handler"));
    expect(placed).toMatchObject([{ name: "selector-handler", plugin: undefined }]);
    expect(plugins).toEqual([]);
  });

  it("have their place also where they cannot be made", async () => {
    const { placed } = await place(bundled("rate-limit", { key_strategy: "user", burst_capacity: 0 }));
    expect(placed).toMatchObject([{ name: "rate-limit", options: { keyStrategy: "user" }, plugin: undefined }]);
  });

  it("are one plugin where several hosts refer to one item", async () => {
    const type = "https://example.org/schema";
    const { loader, hosts, items, problems } = await loaderFor(`
      <div itemscope itemtype="${type}/HostConfig" itemref="limit"></div>
      <div itemscope itemtype="${type}/HostConfig" itemref="limit"></div>
      ${bundled("rate-limit").replace("<div", '<div id="limit"')}`);
    const [one, other] = [await loader.place(hosts[0] as MicrodataItem), await loader.place(hosts[1] as MicrodataItem)];
    expect(problems()).toEqual([]);
    expect(one[0]?.plugin).toBeDefined();
    expect(other[0]).toBe(one[0]);
    expect(items.filter((item) => loader.placed.has(item)).length).toBe(1);
  });
});

describe("what is wrong with a plugin", () => {
  it.each([
    [
      "a text in place of an item",
      '<meta itemprop="plugin" content="x">',
      "plugin: expected an item of a type that ends in /Plugin",
    ],
    ["none", pluginItem("x").replace(/<meta[^>]*>/, ""), "the plugin has no library: expected a file:// location"],
    ["an empty library", pluginItem(" "), 'library is " ": expected a file:// location'],
    [
      "a library of the web",
      pluginItem("https://example.org/x.mjs"),
      'library is "https://example.org/x.mjs": expected a file:// location',
    ],
    ["a package", pluginItem("node:fs"), 'library is "node:fs": expected a file:// location'],
    [
      "an unknown parameter",
      bundled("rate-limit", { requestsPerSec: 1 }),
      /rate-limit: there is no "requestsPerSec": expected one of library, plugin, requests_per_second, burst_capacity, /,
    ],
    [
      "a parameter out of range",
      bundled("rate-limit", { burstCapacity: "0.5" }),
      /^page:4: rate-limit: burstCapacity is "0.5": expected a number from 1 to/,
    ],
    ["a file as root", bundled("file-handler", { root: "config.html" }), /^page:4: file-handler: .*DIR\/config.html/],
    ["a missing file", pluginItem("./missing.mjs"), "library DIR/missing.mjs cannot be used: the file does not exist"],
  ])("is said of %s", async (_what, inside, problem) => {
    const { problems, plugins } = await place(inside);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
    expect(problems[0]).toMatch(/^page:4: /);
    expect(plugins).toEqual([]);
  });

  it("is said of a shared library that nobody knows, with those that there are", async () => {
    const { problems } = await place(pluginItem("file://./plugins/libfortune.so"));
    expect(problems).toEqual([
      'page:4: library is "file://./plugins/libfortune.so": expected the name of a plugin that comes with Filement ' +
        "(access-log, authorization, basic-auth, cors, directory, error-pages, event-stream, file-handler, health-check, " +
        "history, mcp, metrics, rate-limit, redirects, security-headers, selector-handler, websocket) or an ES module",
    ]);
  });

  it("is said of a second library, at its line", async () => {
    const second = '\n<meta itemprop="library" content="file://./metrics.so">';
    expect((await place(bundled("metrics", {}, second))).problems).toEqual([
      "page:5: the plugin has a second library: expected one",
    ]);
  });

  it("is said at the line of the parameter", async () => {
    const inside = bundled(
      "rate-limit",
      {},
      '\n<meta itemprop="key_strategy" content="x">\n<b itemprop="max_clients">0</b>',
    );
    expect((await place(inside)).problems).toEqual([
      'page:5: rate-limit: key_strategy is "x": expected "ip", "user", "host" or a function',
      'page:6: rate-limit: max_clients is "0": expected a whole number from 1 to 1000000000',
    ]);
  });

  it("is said of a nesting that has no end in sight", async () => {
    const deep = (depth: number): string =>
      depth === 0 ? "" : bundled("directory", { directory: "/a" }, deep(depth - 1));
    expect((await place(deep(32))).problems).toEqual([]);
    expect((await place(deep(33))).problems).toEqual(["page:4: plugins nest more than 32 levels deep: expected fewer"]);
  });

  it("is said of a chain of references as long as the page", async () => {
    const type = "https://example.org/schema";
    const links = Array.from({ length: 5000 }, (_, index) =>
      bundled("directory", { directory: "/a" }).replace("<div", `<div id="p${index}" itemref="p${index + 1}"`),
    );
    const page = `<div itemscope itemtype="${type}/HostConfig" itemref="p0"></div>\n${links.join("\n")}`;
    const { loader, hosts, problems } = await loaderFor(page);
    await loader.place(hosts[0] as MicrodataItem);
    expect(problems()).toEqual(["page:34: plugins nest more than 32 levels deep: expected fewer"]);
  });
});

describe("a module", () => {
  it("gets the parameters by the names that they have in code, as texts and lists of texts", async () => {
    const inside = pluginItem(
      "file://./reporter.mjs",
      { max_size: 10, "report-to": " a\n b " },
      '<b itemprop="tag">x</b><b itemprop="tag">y</b><b itemprop="constructor">c</b>',
    );
    const { plugins, problems } = await place(inside, { "reporter.mjs": reporter });
    expect(problems).toEqual([]);
    expect(plugins).toMatchObject([
      { parameters: { maxSize: "10", reportTo: "a b", tag: ["x", "y"], constructor: "c" } },
    ]);
  });

  it("gets the plugins that are in it", async () => {
    const inside = pluginItem("reporter.mjs", {}, bundled("metrics"));
    const { plugins } = await place(inside, { "reporter.mjs": reporter });
    expect(plugins).toMatchObject([{ parameters: { plugins: [{ name: "metrics" }] } }]);
  });

  it("gets no parameter twice, and none that is an item", async () => {
    const more = '\n<meta itemprop="maxSize" content="1">\n<b itemprop="more" itemscope></b>';
    const inside = pluginItem("reporter.mjs", { max_size: 10 }, more);
    expect((await place(inside, { "reporter.mjs": reporter })).problems).toEqual([
      "page:5: maxSize occurs a second time, under another spelling: expected it once",
      "page:6: more is an item: expected a value",
    ]);
  });

  it("that cannot be used is a problem in one line", async () => {
    const source = "throw new Error('cannot connect:\\n  refused');";
    expect((await place(pluginItem("broken.mjs"), { "broken.mjs": source })).problems).toEqual([
      "page:4: library DIR/broken.mjs cannot be used: cannot connect: refused",
    ]);
  });
});

describe("PluginLoader.knows", () => {
  it("is true of what belongs to a host, and of nothing else", async () => {
    const stray = bundled("rate-limit").replace('itemprop="plugin"', "");
    const { loader, hosts, items } = await loaderFor(`${hostPage(bundled("metrics"))}${stray}`);
    await loader.place(hosts[0] as MicrodataItem);
    const libraries = items.filter((item) => item.properties.has("library"));
    expect(libraries.map((item) => loader.placed.has(item))).toEqual([true, false]);
  });
});
