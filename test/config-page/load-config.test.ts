import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { loadConfig } from "../../src/config-page/load-config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { stepClock, turnsUntil } from "../helpers/counted-work.ts";
import { bundled, configDirectory, hostPage, loadPage, pluginItem, problemsOfPage } from "./pages.ts";

const type = "https://example.org/schema";

/** A page whose server has these lines in it, from line 2 on. */
const serverPage = (...lines: readonly string[]): string =>
  [`<main itemscope itemtype="${type}/ServerConfig">`, ...lines, "</main>"].join("\n");

/** A host on one line. */
const host = (inside: string): string => `<div itemprop="host" itemscope itemtype="${type}/HostConfig">${inside}</div>`;
const meta = (name: string, content: string): string => `<meta itemprop="${name}" content="${content}">`;
const named = (name: string, inside = meta("hostRoot", "site")): string => host(meta("hostname", name) + inside);

const hostsOf = async (page: string): Promise<FileServerConfig["hosts"]> => (await loadPage(page)).config.hosts;

describe("loadConfig", () => {
  it("gives what createFileServer takes", async () => {
    const page = serverPage(meta("bindAddress", "::1"), meta("bindPort", "8080"), named("localhost"));
    const { config, directory } = await loadPage(page);
    expect([config.bindAddress, config.bindPort]).toEqual(["::1", 8080]);
    expect(config).toEqual({
      protectedFiles: [join(directory, "config.html")],
      hosts: { localhost: { root: join(directory, "site"), aliases: [], plugins: [] } },
    });
    expect(() => createFileServer(config)).not.toThrow();
    expect(Object.keys({ ...config })).toEqual(["hosts", "protectedFiles"]);
    const withPort = { ...config, bindPort: 8080 } as FileServerConfig;
    expect(() => createFileServer(withPort)).toThrow('has no option "bindPort"');
  });

  it("takes a path, relative to the working directory, and a file:// URL, as text or as an object", async () => {
    const page = join(await configDirectory(serverPage(named("localhost"))), "config.html");
    const expected = await loadConfig(page);
    expect(await loadConfig(relative(process.cwd(), page))).toEqual(expected);
    expect(await loadConfig(pathToFileURL(page).href)).toEqual(expected);
    expect(await loadConfig(pathToFileURL(page))).toEqual(expected);
  });

  it("takes types of any vocabulary, and items within other items", async () => {
    const page = serverPage(named("localhost")).replaceAll(type, "urn:some:vocabulary");
    const hosts = await hostsOf(`<body itemscope itemtype="${type}/WebPage"><div itemprop="about">${page}</div>`);
    expect(Object.keys(hosts ?? {})).toEqual(["localhost"]);
  });

  it("has every option of a server and of a host in reach", async () => {
    const page = serverPage(
      `<p>Behind <b itemprop="trustProxy">loopback, 10.0.0.0/8</b>, <b itemprop="forwardedHeader">forwarded</b>.`,
      meta("maxConcurrentRequests", "100") + meta("maintenance", "true") + meta("maxFileSize", "1000"),
      named(
        "localhost",
        [
          meta("hostRoot", "site"),
          meta("index", "false"),
          meta("contentTypes", ".md text/markdown; charset=utf-8"),
          meta("contentTypes", ".x application/x"),
          meta("allowedOrigins", "https://a.example https://b.example"),
          `<p>The server calls itself <b itemprop="serverHeader">My
             Server</b>.`,
        ].join("\n"),
      ),
    );
    const { config, directory } = await loadPage(page);
    expect(config).toEqual({
      trustProxy: "loopback, 10.0.0.0/8",
      forwardedHeader: "forwarded",
      maxConcurrentRequests: 100,
      maintenance: true,
      maxFileSize: 1000,
      protectedFiles: [join(directory, "config.html")],
      hosts: {
        localhost: {
          root: join(directory, "site"),
          index: false,
          contentTypes: { ".md": "text/markdown; charset=utf-8", ".x": "application/x" },
          allowedOrigins: ["https://a.example", "https://b.example"],
          serverHeader: "My Server",
          aliases: [],
          plugins: [],
        },
      },
    });
  });
});

describe("the names of a host", () => {
  it("are one or several, in any spelling of the property", async () => {
    const names = ["hostname", "hostName", "host_name", "host-name"].map((property, n) =>
      meta(property, `${n}.example`),
    );
    const hosts = await hostsOf(serverPage(host(names.join("") + meta("hostRoot", "site")), named("*")));
    expect(Object.entries(hosts ?? {}).map(([name, { aliases }]) => [name, aliases])).toEqual([
      ["0.example", ["1.example", "2.example", "3.example"]],
      ["*", []],
    ]);
  });

  it("have no white space around them, and may be those of prototypes", async () => {
    const hosts = await hostsOf(serverPage(named(" localhost\n "), named("__proto__"), named("constructor")));
    expect(Object.keys(hosts ?? {})).toEqual(["localhost", "__proto__", "constructor"]);
    const files = createFileServer({ hosts: hosts ?? {} });
    const statuses: number[] = [];
    for (const name of ["__proto__", "constructor", "valueof"]) {
      statuses.push((await files.fetch(new Request(`http://${name}/`))).status);
    }
    expect(statuses).toEqual([200, 200, 421]);
    await files.close();
  });

  it.each([
    ["localhost:8080"],
    ["my host"],
    [""],
    ["*.example.org"],
    ["münchen.example"],
    ["http://localhost"],
    ["[::1"],
  ])("are not %j", async (name) => {
    expect(await problemsOfPage(serverPage(named(name)))).toEqual([
      `config.html:2: hostname is ${JSON.stringify(name)}: expected a host name without port, in ASCII`,
    ]);
  });

  it("are not an item", async () => {
    const inside = `<b itemprop="hostname" itemscope></b>${meta("hostRoot", "site")}`;
    expect(await problemsOfPage(serverPage(host(inside)))).toEqual([
      'config.html:2: hostname is "": expected a host name without port, in ASCII',
    ]);
  });

  it("are given once, however they are written", async () => {
    const pages = [
      serverPage(named("localhost"), named("LocalHost.")),
      serverPage(named("[::1]"), named("[0:0::1]")),
      serverPage(named("*"), named("*")),
      serverPage(named("a"), host(meta("hostname", "b") + meta("hostname", "a") + meta("hostRoot", "site"))),
    ];
    for (const page of pages) {
      expect(await problemsOfPage(page)).toEqual([
        expect.stringMatching(/^config\.html:3: hostname is ".+": expected one that is not taken$/),
      ]);
    }
  });

  it("are not missing", async () => {
    expect(await problemsOfPage(serverPage(host(meta("hostRoot", "site"))))).toEqual([
      "config.html:2: the host has no hostname: expected at least one",
    ]);
  });
});

describe("the root of a host", () => {
  it("is relative to the page, not to serverRoot", async () => {
    const page = serverPage(
      meta("serverRoot", "file://./site"),
      named("a", meta("hostRoot", "file://./other")),
      named("b", ""),
    );
    const { config, directory } = await loadPage(page, { files: { "other/a.txt": "" } });
    expect(config.root).toBeUndefined(); // a name that no host has is refused
    expect(config.hosts?.["a"]?.root).toBe(join(directory, "other"));
    expect(config.hosts?.["b"]?.root).toBe(join(directory, "site"));
  });

  it("may have blanks in its name", async () => {
    const page = serverPage(named("a", meta("hostRoot", "what is built")));
    const { config, directory } = await loadPage(page, { files: { "what is built/a.txt": "" } });
    expect(config.hosts?.["a"]?.root).toBe(join(directory, "what is built"));
  });

  it.each([
    ["hostRoot", "missing", "config.html:3"],
    ["hostRoot", "config.html", "config.html:3"],
    ["serverRoot", "missing", "config.html:2"],
  ])("is a directory: %s is not %s", async (property, root, place) => {
    const isHost = property === "hostRoot";
    const page = serverPage(isHost ? "" : meta(property, root), named("a", isHost ? meta(property, root) : ""));
    expect(await problemsOfPage(page)).toEqual([`${place}: ${property} is "DIR/${root}": expected a directory`]);
  });

  it("may be a bucket, which is left to whoever has its keys", async () => {
    const root = "s3://site/docs?endpoint=https://s3.example";
    const { config } = await loadPage(serverPage(meta("serverRoot", root), named("a", "")));
    expect(config.hosts?.["a"]?.root).toBe(root);
    const wrong = serverPage(named("a", meta("hostRoot", "s3://key:secret@site")));
    expect(await problemsOfPage(wrong)).toEqual([
      expect.stringMatching(/^config.html:2: hostRoot is .* expected a bucket/),
    ]);
  });

  it("is one", async () => {
    const page = serverPage(named("a", meta("hostRoot", "site") + meta("hostRoot", "site")));
    expect(await problemsOfPage(page)).toEqual([expect.stringContaining("hostRoot occurs 2 times: expected it once")]);
  });

  it("is not missing", async () => {
    const expected = "the host has no hostRoot: expected a directory to serve";
    expect(await problemsOfPage(serverPage(named("a", "")))).toEqual([`config.html:2: ${expected}`]);
    const handler = bundled("file-handler", { listing: false });
    expect(await problemsOfPage(serverPage(named("a", handler)))).toEqual([`config.html:2: ${expected}`]);
  });

  it("may be missing where each file handler has its own", async () => {
    const nested = bundled("file-handler", { root: "site", at: "/docs" });
    const page = serverPage(named("a", bundled("directory", { directory: "/docs" }, nested)));
    const { config } = await loadPage(page);
    expect(config.hosts?.["a"]?.root).toBeUndefined();
    const files = createFileServer(config);
    await files.ready();
    await files.close();
  });
});

describe("a page that is no configuration", () => {
  const none = "config.html:1: there is no item of a type that ends in /ServerConfig: expected one";

  it.each([
    ["is empty", "", none],
    ["has another item", `<div itemscope itemtype="${type}/HostConfig"></div>`, none],
    ["has the item in a comment", `<!-- ${serverPage(named("a"))} -->`, none],
    ["has the item in a template", `<template>${serverPage(named("a"))}</template>`, none],
    ["has no hosts", serverPage(), "config.html:1: there is no host: expected at least one"],
    [
      "has a host of no type",
      serverPage(named("a", bundled("metrics")).replace(/ itemtype="[^"]*HostConfig"/, "")),
      "config.html:2: host: expected an item of a type that ends in /HostConfig",
    ],
    [
      "has two servers",
      `${serverPage(named("a"))}\n${serverPage(named("a"))}`,
      "config.html:4: a second item of a type that ends in /ServerConfig: expected one",
    ],
    [
      "has an unknown property",
      serverPage(meta("bindport", "1"), named("a")),
      /^config.html:2: there is no "bindport": expected one of host, serverRoot, .*bindPort/,
    ],
    [
      "has a port that is none",
      serverPage(meta("bindPort", "70000"), named("a")),
      'config.html:2: bindPort is "70000": expected a port, 0 to 65535',
    ],
    [
      "trusts nonsense",
      serverPage(meta("trustProxy", "yes"), named("a")),
      /^config.html:2: trustProxy is "yes": expected true, false, a number of hops/,
    ],
    [
      "has a content type that is none",
      serverPage(named("a", `${meta("hostRoot", "site")}\n${meta("content_types", ".md markdown")}`)),
      /^config.html:3: content_types/,
    ],
    [
      "has a host outside of the server",
      `${serverPage(named("a"))}\n${named("b").replace('itemprop="host"', "")}`,
      'config.html:4: the host belongs to no server: expected itemprop="host" in it',
    ],
    [
      "has a plugin outside of the hosts",
      serverPage(named("a"), bundled("basic-auth").replace('itemprop="plugin"', "")),
      'config.html:3: the plugin belongs to no host: expected itemprop="plugin" in it',
    ],
    [
      "has a plugin in the server",
      serverPage(named("a"), bundled("metrics")),
      /^config.html:3: there is no "plugin": expected one of host, serverRoot/,
    ],
    [
      "has a property of no item",
      `${serverPage(named("a"))}\n${meta("bindPort", "1")}`,
      'config.html:4: itemprop="bindPort" belongs to no item',
    ],
    [
      "refers in a circle",
      serverPage(
        named("a").replace("<div", '<div id="a" itemref="b"'),
        '<div id="b" itemprop="plugin" itemscope itemref="a"></div>',
      ),
      /^config.html:\d: /,
    ],
    [
      "refers to what is not there",
      serverPage(named("a").replace("<div", '<div itemref="none"')),
      'config.html:2: itemref names "none", which is the id of no element',
    ],
    ["nests without end", "<div>".repeat(600), "config.html:1: the page nests elements more than 512 levels deep"],
  ])("because it %s is refused", async (_what, page, problem) => {
    const problems = await problemsOfPage(page);
    expect(problems[0]).toMatch(problem);
  });

  it.each(["", "http://example.org/config.html", "data:text/html,x"])(
    "because of its location %j is refused",
    async (location) => {
      await expect(loadConfig(location)).rejects.toMatchObject({
        problems: [`${location}: expected a path or a file:// location`],
      });
    },
  );
});

describe("several mistakes", () => {
  it("are reported together, by line", async () => {
    const page = hostPage(
      [
        bundled("rate-limit", { requests_per_second: "x", burst: 1 }),
        bundled("metrics", { path: "stats" }),
        pluginItem("file://./missing.mjs"),
        bundled("file-handler"),
        bundled("basic-auth"),
        meta("listing", "maybe"),
      ].join("\n"),
      meta("bindPort", "-1"),
    );
    const problems = await problemsOfPage(page);
    expect(problems.map((problem) => problem.replace(/(.{60}).*/, "$1"))).toEqual([
      'config.html:2: bindPort is "-1": expected a port, 0 to 65535'.slice(0, 60),
      'config.html:4: rate-limit: requests_per_second is "x": expected a positive number'.slice(0, 60),
      'config.html:4: rate-limit: there is no "burst": expected one of library'.slice(0, 60),
      'config.html:5: metrics: path is "stats": expected a path as requests'.slice(0, 60),
      "config.html:6: library DIR/missing.mjs cannot be used: the file does not".slice(0, 60),
      "config.html:8: basic-auth: there is no authfile: expected a path or a".slice(0, 60),
      'config.html:9: listing is "maybe": expected true, false, or { edit: true, zip: true }'.slice(0, 60),
    ]);
  });

  it("in a plugin that several hosts share are reported once", async () => {
    const shared = bundled("metrics", { path: "stats" }).replace("<div", '<div id="metrics"');
    const refers = (name: string): string => named(name).replace("<div", '<div itemref="metrics"');
    const page = serverPage(refers("a"), refers("b")).concat(`\n${shared}`);
    expect(await problemsOfPage(page)).toEqual([
      'config.html:5: metrics: path is "stats": expected a path as requests have it, decoded and from the root, or false',
    ]);
  });
});

describe("a library", () => {
  it("beside the page is found from wherever the server is started", async () => {
    const files = { "plugins/hello.mjs": "export default ({ name }) => ({ name });" };
    const { config } = await loadPage(hostPage(pluginItem("file://./plugins/hello.mjs", { name: "hi" })), { files });
    expect(config.hosts?.["localhost"]?.plugins).toEqual([{ name: "hi" }]);
  });
});

describe("a page of 5 MiB", () => {
  it("is read, and others have their turn meanwhile", async () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => `<tr><td>${"row".repeat(60)}${n}`).join("\n");
    const page = `${hostPage(bundled("metrics"))}<table>${rows}</table>`;
    const whole = page.padEnd(5 * 1024 * 1024);
    stepClock();
    const hosts = hostsOf(whole);
    expect(await turnsUntil(hosts)).toBeGreaterThan(20);
    expect(Object.keys((await hosts) ?? {})).toEqual(["localhost"]);
  });
});
