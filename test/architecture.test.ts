import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { rowOf } from "./helpers/rooms.ts";
import { filesBelow, projectRoot } from "./helpers/source-files.ts";

const src = join(projectRoot, "src");
const modules = filesBelow("src", ".ts").map((file) => file.replace(/\.ts$/, ""));

function modulesWith(pattern: RegExp): string[] {
  return modules.filter((module) => pattern.test(readFileSync(join(src, `${module}.ts`), "utf8")));
}

/** The modules that a module imports, those among them from which it takes nothing but types. */
function importsOf(module: string): string[] {
  const source = readFileSync(join(src, `${module}.ts`), "utf8");
  const paths = source.matchAll(/^(?:import|export)\s(?:[^;"]*?\sfrom\s)?"(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gm);
  return [...paths].map(([, path = "", loadedLater = path]) =>
    relative(src, join(src, dirname(module), loadedLater))
      .replaceAll("\\", "/")
      .replace(/\.ts$/, ""),
  );
}

/** The modules that are loaded with a module, at once: not what it takes only types from, nor what it loads later. */
function loadedWith(start: string, loaded: Set<string> = new Set()): ReadonlySet<string> {
  loaded.add(start);
  const source = readFileSync(join(src, `${start}.ts`), "utf8");
  for (const [, path = ""] of source.matchAll(/^(?:import|export)\s(?!type\s)(?:[^;"]*?\sfrom\s)?"(\.[^"]+)"/gm)) {
    const module = relative(src, join(src, dirname(start), path))
      .replaceAll("\\", "/")
      .replace(/\.ts$/, "");
    if (!loaded.has(module)) loadedWith(module, loaded);
  }
  return loaded;
}

/** All that a module imports, and what that imports in turn. */
function reachableFrom(start: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const visit = (module: string): void => {
    for (const imported of importsOf(module)) {
      if (reached.has(imported)) continue;
      reached.add(imported);
      visit(imported);
    }
  };
  visit(start);
  return reached;
}

describe("the architecture", () => {
  it("has every module in a room", () => {
    expect(modules.filter((module) => rowOf(module) === -1)).toEqual([]);
  });

  it("has nothing but folders beside the four files that a newcomer opens first", () => {
    expect(modules.filter((module) => !module.includes("/")).sort()).toEqual(["cli", "config", "file-server", "index"]);
  });

  it("has every import point down, also that of a type", () => {
    const upward = modules.flatMap((module) =>
      importsOf(module)
        .filter((imported) => rowOf(imported) < rowOf(module))
        .map((imported) => `${module} -> ${imported}`),
    );
    expect(upward).toEqual([]);
  });

  it("keeps html/ a library of its own: it imports itself, event-loop/ and packages", () => {
    const foreign = modules
      .filter((module) => module.startsWith("html/"))
      .flatMap((module) => importsOf(module).map((imported) => [module, imported]))
      .filter(([, imported = ""]) => !/^(?:html|event-loop)\//.test(imported));
    expect(foreign).toEqual([]);
  });

  it("imports html/ by its engine and its microdata, and directly only what a start needs without a parser", () => {
    const imported = modules
      .filter((module) => !/^(?:html|client)\//.test(module))
      .flatMap(importsOf)
      .filter((module) => module.startsWith("html/"));
    const withoutParser = ["html/document-error", "html/edit/edits", "html/selector/selector-parser"];
    expect(new Set(imported)).toEqual(new Set(["html/engine", "html/microdata", ...withoutParser]));
  });

  it("keeps client/ small: of the rest it imports what edits are, and what one does to a class", () => {
    const foreign = modules
      .filter((module) => module.startsWith("client/"))
      .flatMap(importsOf)
      .filter((imported) => !imported.startsWith("client/"));
    expect(new Set(foreign)).toEqual(new Set(["html/edit/edits", "html/edit/class-tokens"]));
  });

  it("has no circle of imports, also not of types", () => {
    const circles = modules.filter((module) => reachableFrom(module).has(module));
    expect(circles).toEqual([]);
  });

  it.each([
    ["index", /^html\/(?:tokenizer\/tokenizer$|tree-construction)/],
    ["cli", /^html\/(?:tokenizer|tree-construction|selector\/)|^plugins\/(?:basic-auth|metrics|web-socket)/],
  ])("starts without what only some requests and some configurations need: %s", (start, needless) => {
    const loaded = loadedWith(start);
    expect(loaded).toContain("file-server");
    expect([...loaded].filter((module) => needless.test(module))).toEqual([]);
  });

  it("writes to a response in one module only", () => {
    const writers = modulesWith(/\b(?:res|response)\b[^;\n]*\.(?:writeHead|end|write)\(/);
    expect(writers.filter((module) => !module.startsWith("plugins/from-middleware"))).toEqual(["runtime/send-reply"]);
  });

  it("takes promises and bytes of Node for such in tests by Jest or with jsdom, where their classes are others", () => {
    expect(modulesWith(/ instanceof (?:Promise|Uint8Array)\b/)).toEqual([]);
  });

  it("keeps the library silent: only the command line prints, hooks signals and reads the environment", () => {
    const loud = modulesWith(/\bconsole\.|\bprocess\.(?:env|on|once|stdout|stderr|exit)\b/);
    expect(loud.filter((module) => !module.startsWith("cli/"))).toEqual(["cli"]);
  });
});
