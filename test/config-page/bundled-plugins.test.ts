import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { type BundledName, bundledNames, bundledPlugins, readLibrary } from "../../src/config-page/bundled-plugins.ts";
import { optionProperties, Problems, readOptions } from "../../src/config-page/read-options.ts";
import { itemOf } from "../helpers/microdata.ts";
import { bundled, hostPage, problemsOfPage } from "./pages.ts";

/** A text for each parameter, and the value that it stands for in code. Locations are relative to `/etc`. */
const samples: Readonly<Record<BundledName, Readonly<Record<string, readonly [text: string, value: unknown]>>>> = {
  "access-log": {
    format: ["combined", "combined"],
    file: ["file://./access.log", resolve("/etc/access.log")],
  },
  authorization: { authfile: ["users.html", resolve("/etc/users.html")] },
  "basic-auth": {
    authfile: ["file://./users.html", resolve("/etc/users.html")],
    require_user: ["true", true],
    realm: ["The archive", "The archive"],
  },
  cors: {
    origins: ["https://a.example, https://b.example", ["https://a.example", "https://b.example"]],
    headers: ["Range, If-Match", ["Range", "If-Match"]],
    credentials: ["true", true],
  },
  directory: { directory: ["/api", "/api"] },
  "error-pages": { pages: ["404 /errors/404.html", { 404: "/errors/404.html" }] },
  "event-stream": { path: ["/changes", "/changes"], max_clients: ["10", 10], heartbeat_interval: ["5", 5] },
  "file-handler": {
    root: ["../archive", resolve("/archive")],
    at: ["/archive", "/archive"],
    methods: ["GET, PUT", ["GET", "PUT"]],
    read_only: ["true", true],
    index: ["false", false],
    cache_control: ["/assets/* max-age=60", { "/assets/*": "max-age=60" }],
    download: ["/uploads/*", ["/uploads/*"]],
    extensions: [".html, .htm", [".html", ".htm"]],
    single: ["/app.html", "/app.html"],
    ignores: ["/api/*", ["/api/*"]],
    listing: ["false", false],
    dotfiles: ["allow", "allow"],
    content_types: [".md text/markdown; charset=utf-8", { ".md": "text/markdown; charset=utf-8" }],
    create_parents: ["false", false],
    untrusted_content: ["true", true],
    precompressed: ["true", true],
    compress: ["true", true],
    max_document_size: ["1000", 1000],
    max_document_depth: ["100", 100],
    max_matches: ["10", 10],
    max_edits: ["5", 5],
    max_selector_length: ["100", 100],
    max_selector_compounds: ["8", 8],
    title: ["Our files", "Our files"],
    element_body_memory: ["1000000", 1_000_000],
    max_parse_steps: ["1000000", 1_000_000],
    max_selection_steps: ["100", 100],
    document_cache_size: ["1000000", 1_000_000],
    refuse_fragments: ["true", true],
    dav: ["1, 2", "1, 2"],
    dialect: ["draft-00", "draft-00"],
  },
  "health-check": {
    path: ["/up", "/up"],
    check_storage: ["false", false],
    timeout: ["0.1", 0.1],
    cache_time: ["0", 0],
    version: ["1.10", "1.10"],
  },
  history: {
    repository: ["/srv/site.git", resolve("/srv/site.git")],
    path: ["/versions/", "/versions/"],
    paths: ["/docs/*", ["/docs/*"]],
    ignore: ["/logs/*", ["/logs/*"]],
    branch: ["trunk", "trunk"],
    max_file_bytes: ["1000", 1000],
    locks: ["redis://localhost:6379", "redis://localhost:6379"],
    max_backlog: ["2000", 2000],
    keep_days: ["30", 30],
    keep_commits: ["1000", 1000],
    required: ["true", true],
  },
  mcp: { path: ["/agents", "/agents"] },
  metrics: { path: ["/stats", "/stats"] },
  "rate-limit": {
    requests_per_second: ["2.5", 2.5],
    burst_capacity: ["20", 20],
    key_strategy: ["host", "host"],
    cleanup_interval: ["60", 60],
    max_clients: ["1000", 1000],
    standard_headers: ["true", true],
    store: ["redis://localhost:6379", "redis://localhost:6379"],
  },
  redirects: { rules: ["/old.html /new.html", { "/old.html": "/new.html" }], status: ["301", 301] },
  "security-headers": {
    headers: ["x-frame-options DENY", { "x-frame-options": "DENY" }],
  },
  "selector-handler": {},
  websocket: { path: ["/live", "/live"], max_clients: ["10", 10], ping_interval: ["5", 5] },
};

const parametersOf = (name: BundledName): string[] => [...optionProperties(bundledPlugins[name]).keys()];
const each = bundledNames.flatMap((name) => parametersOf(name).map((parameter) => ({ name, parameter })));
const everyCodeOnly = bundledNames.flatMap((name) =>
  (bundledPlugins[name].codeOnly ?? []).map((option) => ({ name, option })),
);

describe("bundledPlugins", () => {
  it.each(bundledNames)("has in its lists only options that %s has", (name) => {
    const { schema, codeOnly = [], locations = [], required = [] } = bundledPlugins[name];
    const options = Object.keys(schema.options);
    expect(options).toEqual(expect.arrayContaining([...codeOnly, ...locations, ...required]));
  });

  it.each(bundledNames)("has a sample here for every parameter of %s", (name) => {
    expect(Object.keys(samples[name]).sort()).toEqual(parametersOf(name).sort());
  });

  it.each(each)("can say $parameter of $name, in either spelling", async ({ name, parameter }) => {
    const [text = "", value] = samples[name][parameter] ?? [];
    const { required: _required, ...kind } = bundledPlugins[name];
    const option = optionProperties(kind).get(parameter) ?? "";
    for (const spelling of [parameter, option]) {
      const problems = new Problems("page");
      const item = await itemOf(`<div itemscope><meta itemprop="${spelling}" content="${text}"></div>`);
      const options = readOptions(item, kind, "/etc", (line, problem) => problems.add(line, problem));
      expect({ options, problems: problems.count }).toEqual({ options: { [option]: value }, problems: 0 });
    }
  });

  it.each(everyCodeOnly)("cannot say $option of $name", async ({ name, option }) => {
    const samplesOfRequired = (bundledPlugins[name].required ?? []).map((each) => [
      each,
      samples[name][each]?.[0] ?? "",
    ]);
    const page = hostPage(bundled(name, { ...Object.fromEntries(samplesOfRequired), [option]: "x" }));
    expect(await problemsOfPage(page)).toEqual([
      expect.stringContaining(`config.html:4: ${name}: there is no "${option}": expected one of library, plugin`),
    ]);
  });

  it.each([
    ["basic-auth", "authfile"],
    ["directory", "directory"],
  ])("does not let %s go without %s", async (name, parameter) => {
    const [problem] = await problemsOfPage(hostPage(bundled(name)));
    expect(problem).toMatch(`config.html:4: ${name}: there is no ${parameter}: expected a path`);
  });
});

const library = (location: string): ReturnType<typeof readLibrary> => readLibrary(location, "/etc/filement");

describe("readLibrary", () => {
  it.each([
    "/usr/lib/libfilement_rate_limit.dylib",
    "/usr/lib/libfilement-rate-limit.so.1.2",
    "file://librate_limit.so",
    "FILE://./PLUGINS/RATE-LIMIT.DLL",
    "file://./rate-limit",
    "rate-limit",
  ])("takes %s for the bundled rate-limit", (location) => {
    expect(library(location)).toEqual({ kind: "bundled", name: "rate-limit" });
  });

  it.each(bundledNames)("knows %s in every spelling", (name) => {
    const snake = name.replaceAll("-", "_");
    for (const file of [name, snake, `lib${snake}`, `libfilement_${snake}`, `rusty-beam-${name}`]) {
      for (const ending of ["so", "dylib", "dll"]) {
        expect(library(`file://./plugins/${file}.${ending}`)).toEqual({ kind: "bundled", name });
      }
    }
  });

  it.each([
    ["file://./plugins/hello.mjs", "/etc/filement/plugins/hello.mjs"],
    ["/srv/hello.js", "/srv/hello.js"],
    ["./hello.js", "/etc/filement/hello.js"],
    // Not the bundled plugin: somebody has written one of that name.
    ["file://./plugins/rate-limit.mjs", "/etc/filement/plugins/rate-limit.mjs"],
    ["file://./hello", "/etc/filement/hello"],
  ])("takes %s for an ES module", (location, path) => {
    expect(library(location)).toEqual({ kind: "module", path: resolve(path) });
  });

  it.each([
    "file://./plugins/compression.so",
    "file://./plugins/libfilement_.so",
    "file://./plugins/constructor.so",
    "file://./plugins/__proto__.so",
    "file://./plugins/toString.dll",
    "file://./plugins/hasOwnProperty.dylib",
    "file://./.so",
  ])("does not know the shared library %s", (location) => {
    expect(library(location)).toEqual({ kind: "unknown" });
  });

  it.each(["http://example.org/rate-limit.so", "https://example.org/x.mjs", "data:text/javascript,0", "node:fs", ""])(
    "gives nothing for %j, which is no file",
    (location) => {
      expect(library(location)).toBeUndefined();
    },
  );
});
