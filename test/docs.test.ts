import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";
import { apiReference } from "../.ci/api-reference.mjs";
import { createFileServer } from "../src/file-server.ts";
import { DocumentError, type DocumentErrorCode } from "../src/html/document-error.ts";
import * as html from "../src/html/page.ts";
import * as filement from "../src/index.ts";
import * as redis from "../src/redis/index.ts";
import { toHttpError } from "../src/server/error-reply.ts";
import { memoryStorage } from "../src/storage/memory/memory-storage.ts";
import { StorageError, type StorageErrorCode } from "../src/storage/storage.ts";
import { sample } from "./helpers/effort.ts";
import { relativeLinks, withoutCode } from "./helpers/markdown-links.ts";
import { rows } from "./helpers/rooms.ts";
import { run } from "./helpers/run.ts";
import { filesBelow, projectRoot } from "./helpers/source-files.ts";
import { temporaryDirectory } from "./helpers/temporary-directory.ts";

const read = (path: string): string => readFileSync(join(projectRoot, path), "utf8");

const docs = readdirSync(join(projectRoot, "docs"), { recursive: true, encoding: "utf8" });
const pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...docs.map((name) => `docs/${name}`)].filter(
  (page) => page.endsWith(".md") && existsSync(join(projectRoot, page)),
);

describe("the error page", () => {
  it("lists just the codes of the type ErrorCode, in the same order", () => {
    const source = read("src/http/http-error.ts") + read("src/html/document-error.ts");
    const unions = [...source.matchAll(/export type \w*ErrorCode =([^;]+);/g)].join("\n");
    const codes = new Set([...unions.matchAll(/"(\w+)"/g)].map(([, code]) => code));
    expect(codes.size).toBeGreaterThan(30);
    expect(firstColumn(table("docs/errors.md", "Codes"))).toEqual([...codes].sort());
  });

  it("has every code that the source throws, with the statuses it is thrown with", () => {
    const documented = new Map(table("docs/errors.md", "Codes").map(([code = "", status]) => [code, status]));
    const ofTools = read("docs/plugins/mcp.md"); // told to language models only
    const undocumented = filesBelow("src", ".ts").flatMap((file) =>
      [...read(`src/${file}`).matchAll(/HttpError\(\s*(\d{3}),\s*"(\w+)"/g)]
        .filter(([, status, code = ""]) => documented.get(code) !== status)
        .filter(([, , code = ""]) => !(file.startsWith("plugins/mcp/") && ofTools.includes(`\`${code}\``)))
        .map(([, status, code]) => `${file}: ${status} ${code}`),
    );
    expect(undocumented).toEqual([]);
  });

  it("lists the codes of documents with the status that each becomes", () => {
    const documented = new Map(table("docs/errors.md", "Codes").map(([code, status]) => [code, status]));
    const [, union = ""] = /export type DocumentErrorCode =([^;]+);/.exec(read("src/html/document-error.ts")) ?? [];
    for (const [, code = ""] of union.matchAll(/"(\w+)"/g)) {
      const { status } = toHttpError(new DocumentError(code as DocumentErrorCode, ""), "");
      expect([code, `${status}`]).toEqual([code, documented.get(code)]);
    }
  });

  it("tells what the client is told for each error of a storage", () => {
    const rows = table("docs/errors.md", "Storage");
    const [, union = ""] = /export type StorageErrorCode =([^;]+);/.exec(read("src/storage/storage.ts")) ?? [];
    expect(firstColumn(rows)).toEqual([...union.matchAll(/"([\w-]+)"/g)].map(([, code]) => code));
    for (const [code = "", , status, reply] of rows) {
      const error = toHttpError(new StorageError(code as StorageErrorCode), "");
      expect([code, `${error.status}`, error.code]).toEqual([code, status, reply]);
    }
  });
});

describe("the documentation", () => {
  it("names no code that the error page does not have", () => {
    const known = new Set([...firstColumn(table("docs/errors.md", "Codes")), "INVALID_CONFIG"]);
    const unknown = pages.flatMap((page) =>
      [...read(page).matchAll(/(?<![\w.])[2345]\d\d `([A-Z]+(?:_[A-Z]+)+)`/g)]
        .map(([, code = ""]) => code)
        .filter((code) => !known.has(code))
        .map((code) => `${page}: ${code}`),
    );
    expect(unknown).toEqual([]);
  });

  it("has no relative link that leads nowhere", () => {
    expect(pages.flatMap(brokenLinks)).toEqual([]);
  });

  it("names every column of its tables, for those to whom a table is read out", () => {
    const unnamed = pages.flatMap((page) =>
      [...withoutCode(read(page)).matchAll(/^(\|.*)\n\|[-:| ]+\|$/gm)]
        .filter(([, head = ""]) => /\| *\|/.test(head))
        .map(([, head]) => `${page}: ${head}`),
    );
    expect(unnamed).toEqual([]);
  });

  it("names only files and folders that exist", () => {
    const missing = pages.flatMap((page) =>
      [...withoutCode(read(page)).matchAll(/`((?:src|test|examples|docs)\/[\w./-]*)`/g)]
        .filter(([, path = ""]) => !existsSync(join(projectRoot, path)))
        .map(([, path]) => `${page}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it("lists the rooms in the order that the architecture test enforces", () => {
    const [, listed = ""] = /```text\n(cli\n[^`]+)```/.exec(read("docs/internals/architecture.md")) ?? [];
    expect(listed.trim().split("\n")).toEqual(rows.map((row) => row.join(" ")));
  });
});

describe("the table of options", () => {
  const rows = table("docs/options.md", "Options");
  const declared = ["HostConfig", "FileHandling", "FileServerConfig"] as const;
  const defaults = new Map(declared.flatMap((name) => [...optionDefaults(name)]));

  it("has every option of createFileServer and of a host, and no other", () => {
    expect(firstColumn(rows)).toEqual([...defaults.keys()]);
  });

  it("tells their defaults as the source does", () => {
    expect(rows.map(([name = "", , , value = ""]) => [name, value])).toEqual([...defaults]);
  });
});

describe("the pages of the plugins", () => {
  const documentedElsewhere = new Set(["from-middleware", "client-module"]); // writing-a-plugin.md, live-pages.md
  const isFeed = (plugin: string): boolean => plugin === "web-socket" || plugin === "event-stream";
  const camelCase = (name: string): string => name.replace(/-(.)/g, (_all, letter: string) => letter.toUpperCase());
  const plugins = readdirSync(join(projectRoot, "src/plugins"))
    .filter((name) => name.endsWith(".ts"))
    .map((name) => name.replace(/\.ts$/, ""))
    .filter((name) => !documentedElsewhere.has(name));

  it.each(plugins)("have every option of %s, in order, with its default", (plugin) => {
    const options = [...pluginOptions(plugin)];
    expect(options.length).toBeGreaterThan(0);
    const rows = isFeed(plugin)
      ? table("docs/plugins/feeds.md", `Options of ${camelCase(plugin)}`)
      : table(`docs/plugins/${plugin}.md`, "Options");
    expect(firstColumn(rows)).toEqual(options.map(([name]) => name));
    const plain = (text = ""): string => text.replace(/[`"]/g, "");
    for (const [index, [name, value]] of options.entries()) {
      if (/^[\w"/{[.]+$/.test(value)) expect([name, plain(rows[index]?.[2])]).toEqual([name, plain(value)]);
    }
  });

  it.each(plugins)("are linked from the README: %s", (plugin) => {
    expect(read("README.md")).toContain(`](docs/plugins/${isFeed(plugin) ? "feeds" : plugin}.md)`);
  });
});

describe("the table of methods and targets", () => {
  const rows = tableRows("docs/protocol.md", "Methods and targets");

  it.each(rows.map((cells) => ({ target: cells[0] ?? "", cells })))("holds for $target", async ({ target, cells }) => {
    const [, path = ""] = /`([^`]+)`/.exec(target) ?? [];
    const [, getHead = "", ...others] = cells;
    const expected = [getHead, getHead, ...others].map((cell) => cell.replaceAll("`", ""));
    const methods = ["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"];
    const answers: string[] = [];
    const selector = target.includes("no match") ? "h6" : "p";
    const ofElements = target.startsWith("elements") ? selector : undefined;
    for (const method of methods) answers.push(await answerTo(method, path, ofElements));
    expected[1] = expected[1]?.split(" ", 1)[0] ?? ""; // HEAD has no body to hold a code
    expect(answers).toEqual(expected);
  });
});

describe("the README", () => {
  it("has a tour in which every request is answered as it says", async () => {
    const [, tour = ""] = /^## A tour with curl$[\s\S]*?^```sh\n([\s\S]*?)^```$/m.exec(read("README.md")) ?? [];
    const directory = await temporaryDirectory();
    await cp(join(projectRoot, "examples/site"), directory, { recursive: true });
    const files = createFileServer({ root: directory });
    const replies: string[] = [];
    for (const [command = "", path = ""] of tour.matchAll(/^curl .*\$site(\S+)$/gm)) {
      const { status, headers } = await files.fetch(new Request(`http://localhost${path}`, curlRequest(command)));
      replies.push(`${path} ${status} ${headers.get("x-selector-matches") ?? ""}`.trim());
    }
    expect(replies).toEqual([
      "/to-do.html 206 2",
      "/to-do.html 206 1",
      "/to-do.html 206 1",
      "/to-do.html 200",
      "/to-do.html 204 3",
      "/diary.txt 201",
      "/diary.txt 200",
      "/diary.txt 206",
      "/diary.txt 204",
      "/notes/ 200",
    ]);
    await files.close();
  });
});

describe("the pages about live pages and performance", () => {
  it("tell the size of the browser module, plain and compressed", () => {
    const module = readFileSync(join(projectRoot, "dist/client/client.js"));
    const [plain, compressed] = [module, gzipSync(module)].map(({ length }) => Math.round(length / 1000));
    expect(read("docs/live-pages.md").replace(/\s+/g, " ")).toContain(
      `The module is ${plain} KB, or ${compressed} KB where replies are compressed.`,
    );
  });

  it("have the size of each module for browsers, each within its bound", () => {
    const rows = tableRows("docs/internals/performance.md", "Modules for browsers");
    const sizes = rows.map(([name = ""]) => {
      const module = readFileSync(join(projectRoot, "dist/client", name.replaceAll("`", "")));
      return [name, ...[module, gzipSync(module)].map(({ length }) => `${Math.round(length / 1000)} KB`)];
    });
    expect(rows.map(([name, plain, compressed]) => [name, plain, compressed])).toEqual(sizes);
    for (const [name, , compressed = "", bound = ""] of rows) {
      expect([name, Number.parseInt(compressed, 10) <= Number.parseInt(bound, 10)]).toEqual([name, true]);
    }
  });
});

describe("the quick start", () => {
  it("shows the help of the command as it is", () => {
    const [, help = ""] = /const help = `([^`]+)`/.exec(read("src/cli/command-line.ts")) ?? [];
    expect(help).toContain("Usage:");
    expect(read("docs/quick-start.md")).toContain(help);
  });
});

describe("the API reference", () => {
  it("has everything that programs can import", () => {
    const listed = apiReference().get("api/index.md") ?? "";
    const names = [...Object.keys(filement), ...Object.keys(redis)];
    expect(names.filter((name) => !listed.includes(`[\`${name}\`](`))).toEqual([]);
  });
});

describe("the page about scaling", () => {
  it("shows the program of the example as it is", () => {
    expect(read("docs/scaling.md")).toContain(`\`\`\`js\n${read("examples/scale-out/server.mjs")}\`\`\``);
  });
});

describe("the snippets", () => {
  const modules: Readonly<Record<string, object>> = { filement, "filement/html": html, "filement/redis": redis };
  const snippets = pages.flatMap(snippetsOf);
  const runnable = snippets.filter(({ isRunnable }) => isRunnable);

  it("are many", () => {
    expect(runnable.length).toBeGreaterThan(10);
  });

  it.each(snippets)("import only what there is, at $place", ({ code }) => {
    const imports = [...code.matchAll(/^import\s+([^;]+?)\s+from\s+"([^"]+)";/gm)];
    const missing = imports.flatMap(([, names = "", module = ""]) => {
      if (!isInstalled(module)) return [module];
      const exported = modules[module];
      if (!exported) return [];
      const imported = names.replace(/[{}]/g, "").split(",");
      return imported.map((name) => name.trim()).filter((name) => name !== "" && !(name in exported));
    });
    expect(missing).toEqual([]);
  });

  it.each(snippets)("parse, at $place", ({ code }) => {
    expect(parseAst(code, { lang: "js" }).type).toBe("Program");
  });

  it.each(sample(runnable, 12))("run and print what they say, at $place", async (snippet) => {
    const directory = await consumerProject(snippet.code);
    const program = ["--import", "./preload.mjs", "snippet.mjs"];
    const { code, stdout, stderr } = await run(process.execPath, program, directory);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    if (snippet.output !== undefined) expect(trimmedLines(stdout)).toBe(trimmedLines(snippet.output));
  });
});

describe("the examples of doc comments", () => {
  it("have the types that the library wants", async () => {
    const examples = filesBelow("src", ".ts").flatMap((file) => {
      const comments = read(`src/${file}`).matchAll(/^ \* @example((?:(?! \*\/).*\n)+) \*\//gm);
      return [...comments].map(([, code = ""]) => `{ // ${file}\n${code.replace(/^ \* ?/gm, "")}}\n`);
    });
    expect(examples.length).toBeGreaterThan(25);
    const directory = await consumerProject(knownToExamples);
    await symlink(join(projectRoot, "node_modules/@types"), join(directory, "node_modules/@types"), "dir");
    await writeFile(join(directory, "program.mts"), knownToExamples + examples.join(""));
    const options = "--noEmit --strict --skipLibCheck --module nodenext --target es2023 --lib es2023,dom --types node";
    const compiler = join(projectRoot, "node_modules/.bin/tsc");
    const { code, stdout } = await run(compiler, [...options.split(" "), "program.mts"], directory);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  });
});

const knownToExamples = `
import http from "node:http";
import compression from "compression";
import helmet from "helmet";
import { ${Object.keys(filement)}, type Exchange } from "filement";
import { connect } from "filement/client";
import { parsePage } from "filement/html";
import { mcp } from "filement/mcp";
import { ${Object.keys(redis)} } from "filement/redis";
import { s3Storage } from "filement/s3";
declare namespace express { type Request = http.IncomingMessage & { session: { user: { name: string } } } }
declare const databaseUrl: string;
`;

function curlRequest(command: string): RequestInit {
  const [, method = "GET"] = /-X (\w+)/.exec(command) ?? [];
  const fields = command.matchAll(/-H (["'])([\w-]+): (.+?)\1/g);
  const headers = Object.fromEntries([...fields].map(([, , name, value]) => [name, value]));
  const [, data] = /-d '([^']+)'/.exec(command) ?? [];
  return { method, headers, ...(data && { body: data }) };
}

interface Snippet {
  /** Page and line. */
  readonly place: string;
  readonly code: string;
  readonly isRunnable: boolean;
  /** What the page says it prints: a `text` block right after it. */
  readonly output: string | undefined;
}

/** JavaScript on a page. Those that begin with ` ```js run ` are whole programs. */
function snippetsOf(page: string): Snippet[] {
  const text = read(page);
  const blocks = text.matchAll(/^```m?js( run)?\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```$)?/gm);
  return [...blocks].map(({ 1: mark, 2: code = "", 3: output, index }) => {
    const line = text.slice(0, index).split("\n").length;
    return { place: `${page}:${line}`, code, isRunnable: mark !== undefined, output: mark ? output : undefined };
  });
}

/** Has a program that listens take any free port, answer one request, and end. */
const preload = `
import { Server } from "node:net";
const listen = Server.prototype.listen;
Server.prototype.listen = function (port, ...others) {
  if (typeof port !== "number") return listen.call(this, port, ...others); // a lock among processes, say
  this.once("listening", async () => {
    const response = await fetch("http://127.0.0.1:" + this.address().port + "/", { headers: { host: "www.example" } });
    if (!response.ok) throw new Error("GET / was answered " + response.status);
    await response.arrayBuffer();
    process.exit();
  });
  return listen.call(this, 0, "127.0.0.1", ...others.filter((each) => typeof each === "function"));
};
`;

/** A project of somebody who has installed Filement, with the program and a small site. */
async function consumerProject(code: string): Promise<string> {
  const directory = await temporaryDirectory({ "preload.mjs": preload, "snippet.mjs": code });
  await mkdir(join(directory, "node_modules"));
  for (const [, name = ""] of code.matchAll(/from "([^".:]+)"/g)) {
    const isFilement = /^filement(?:\/|$)/.test(name);
    const source = isFilement ? projectRoot : join(projectRoot, "node_modules", name);
    const link = join(directory, "node_modules", isFilement ? "filement" : name);
    if (existsSync(source) && !existsSync(link)) await symlink(source, link, "dir");
  }
  await cp(join(projectRoot, "examples/site"), join(directory, "site"), { recursive: true });
  return directory;
}

function isInstalled(module: string): boolean {
  if (/^filement(?:\/|$)/.test(module) || module.startsWith("node:") || builtinModules.includes(module)) return true;
  const [name = "", scoped = ""] = module.split("/");
  return existsSync(join(projectRoot, "node_modules", name.startsWith("@") ? `${name}/${scoped}` : name));
}

async function answerTo(method: string, path: string, selector: string | undefined): Promise<string> {
  const page = "<!doctype html><title>T</title><p>hello</p>";
  const storage = memoryStorage({ "/a.txt": "a", "/page.html": page, "/full/b.txt": "b", "/empty/": "" });
  const files = createFileServer({ storage });
  const headers = { "x-filename": "new.txt", ...(selector && { range: `selector=${selector}` }) };
  const body = method === "PUT" || method === "POST" ? "<b>x</b>" : null;
  const response = await files.fetch(new Request(`http://localhost${path}`, { method, headers, body }));
  const text = await response.text();
  const { code } = response.ok || text === "" ? { code: undefined } : JSON.parse(text);
  return code === undefined ? `${response.status}` : `${response.status} ${code}`;
}

/** Options of an interface in `src/config.ts` and their defaults, in order. */
function optionDefaults(name: "HostConfig" | "FileHandling" | "FileServerConfig"): Map<string, string> {
  const source = read("src/config.ts") + read("src/server/site.ts");
  const [, members = ""] = new RegExp(`export interface ${name} [^{]*\\{([^]*?)\\n\\}`).exec(source) ?? [];
  return membersOf(members);
}

/** The members of an interface and their defaults. */
function membersOf(members: string): Map<string, string> {
  const options = members.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s+readonly (\w+)\??:/g);
  return new Map(
    [...options].map(([, comment = "", option = ""]) => {
      const [, value = ""] = /@default (.+?)\s*$/m.exec(comment) ?? [];
      return [option, value.replaceAll("`", "").trim()];
    }),
  );
}

/** Options of a plugin and their defaults, in order. */
function pluginOptions(plugin: string): Map<string, string> {
  const [, members = ""] =
    /export interface \w+Options [^{]*\{([\s\S]*?)\n\}/.exec(read(`src/plugins/${plugin}.ts`)) ?? [];
  return membersOf(members);
}

/** The table below a heading, without its head; cells without backticks. */
function table(page: string, heading: string): string[][] {
  return tableRows(page, heading).map((cells) => cells.map((cell) => cell.replaceAll("`", "")));
}

function tableRows(page: string, heading: string): string[][] {
  const [, below = ""] = read(page).split(new RegExp(`^#+ ${heading}$`, "m"));
  const [rows = ""] = /(?:^\|.*\n)+/m.exec(below) ?? [];
  const lines = rows.trim().split("\n").slice(2);
  return lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function firstColumn(rows: readonly string[][]): string[] {
  return rows.map(([first = ""]) => first);
}

function brokenLinks(page: string): string[] {
  return relativeLinks(page, read(page))
    .filter(({ target, anchor }) => {
      if (!existsSync(join(projectRoot, target))) return true;
      return anchor !== undefined && !anchorsOf(read(target)).has(anchor);
    })
    .map(({ link }) => `${page}: ${link}`);
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(text: string): Set<string> {
  const headings = [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function trimmedLines(text: string): string {
  return text.trim().replace(/[ \t]+$/gm, "");
}
