import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, projectRoot } from "./helpers/source-files.ts";

/**
 * The request path from top to bottom. A module may import, to run it, only what stands in its own line or below; types
 * may come from anywhere.
 */
const layers: readonly RegExp[] = [
  /^cli$/,
  /^cli\//,
  /^index$/,
  /^config\/(load-config|load-plugins|bundled-plugins|plugin-order|read-options|problems)$/,
  /^file-server$/,
  /^(virtual-hosts|node-request|fetch-request|send-reply|fetch-reply|upgrade-response|complete-reply)$/,
  /^site$/,
  /^pipeline$/,
  /^plugins\//,
  /^files\//,
  /^elements\//,
  /^(config|check-config|error-reply|exchange|request-body|change-feed|external-edits)$/,
  /^config\//,
  /^http\//,
  /^(access|outage)$/,
  /^(http-error|reply|notify|logger|plugin|plugin-list|time-slice|version)$/,
  /^storage\//,
  /^client\//,
];

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

const layerOf = (module: string): number => layers.findIndex((layer) => layer.test(module));

describe("the architecture", () => {
  it("gives every module a place in the request path", () => {
    expect(modules.filter((module) => layerOf(module) === -1)).toEqual([]);
  });

  it("has every import point down", () => {
    const upward = modules.flatMap((module) =>
      importsOf(module)
        .filter((imported) => layerOf(imported) < layerOf(module))
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
    expect(writers.filter((module) => !module.startsWith("plugins/from-middleware"))).toEqual(["send-reply"]);
  });

  it("keeps the library silent: only the command line prints, hooks signals and reads the environment", () => {
    const loud = modules.filter((module) => {
      const source = readFileSync(join(src, `${module}.ts`), "utf8");
      return /\bconsole\.|\bprocess\.(?:env|on|once|stdout|stderr|exit)\b/.test(source);
    });
    expect(loud.filter((module) => !module.startsWith("cli/"))).toEqual(["cli"]);
  });
});
