import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { rowOf } from "./helpers/rooms.ts";
import { filesBelow, projectRoot } from "./helpers/source-files.ts";

const src = join(projectRoot, "src");
const modules = filesBelow("src", ".ts").map((file) => file.replace(/\.ts$/, ""));

function importsOf(module: string): string[] {
  const source = readFileSync(join(src, `${module}.ts`), "utf8");
  const statements = source.matchAll(/^(?:import|export)\s(?!type\s)([^;]*?)\sfrom\s"(\.[^"]+)"/gm);
  return [...statements]
    .filter(([, names = ""]) => !/^\{(?:\s*type\s[^,}]+,?)+\s*\}$/.test(names)) // only types inside the braces
    .map(([, , path = ""]) =>
      relative(src, join(src, dirname(module), path))
        .replaceAll("\\", "/")
        .replace(/\.ts$/, ""),
    );
}

describe("the architecture", () => {
  it("has every module in a room", () => {
    expect(modules.filter((module) => rowOf(module) === -1)).toEqual([]);
  });

  it("has every import point down", () => {
    const upward = modules.flatMap((module) =>
      importsOf(module)
        .filter((imported) => rowOf(imported) < rowOf(module))
        .map((imported) => `${module} -> ${imported}`),
    );
    expect(upward).toEqual([]);
  });

  it("has no import cycles", () => {
    const cycles: string[] = [];
    const done = new Set<string>();
    const visit = (module: string, trail: readonly string[]): void => {
      if (trail.includes(module)) cycles.push([...trail.slice(trail.indexOf(module)), module].join(" -> "));
      if (done.has(module) || trail.includes(module)) return;
      for (const imported of importsOf(module)) visit(imported, [...trail, module]);
      done.add(module);
    };
    for (const module of modules) visit(module, []);
    expect(cycles).toEqual([]);
  });

  it("writes to a response in one module only", () => {
    const writers = modules.filter((module) => {
      const source = readFileSync(join(src, `${module}.ts`), "utf8");
      return /\b(?:res|response)\b[^;\n]*\.(?:writeHead|end|write)\(/.test(source);
    });
    expect(writers.filter((module) => !module.startsWith("plugins/from-middleware"))).toEqual(["runtime/send-reply"]);
  });

  it("keeps the library silent: only the command line prints, hooks signals and reads the environment", () => {
    const loud = modules.filter((module) => {
      const source = readFileSync(join(src, `${module}.ts`), "utf8");
      return /\bconsole\.|\bprocess\.(?:env|on|once|stdout|stderr|exit)\b/.test(source);
    });
    expect(loud.filter((module) => !module.startsWith("cli/"))).toEqual(["cli"]);
  });
});
