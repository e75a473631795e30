import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { ConfigError, type PageConfig } from "../../src/config.ts";
import { loadConfig } from "../../src/config-page/load-config.ts";
import { asOnPosix } from "../helpers/spelling.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

export type Files = Readonly<Record<string, string>>;

/** A directory with a configuration page `config.html`, an empty directory `site`, and other files. */
export async function configDirectory(page: string, files: Files = {}): Promise<string> {
  const directory = await temporaryDirectory({ ...files, "config.html": page });
  await mkdir(join(directory, "site"), { recursive: true });
  return directory;
}

/** Reads a configuration page, which lies in a directory of its own. */
export async function loadPage(
  page: string,
  { files = {} }: { files?: Files } = {},
): Promise<{ config: PageConfig; directory: string }> {
  const directory = await configDirectory(page, files);
  return { config: await loadConfig(join(directory, "config.html")), directory };
}

/** What is wrong with a page; the name of its directory is `DIR`. */
export async function problemsOfPage(page: string, { files = {} }: { files?: Files } = {}): Promise<string[]> {
  const directory = await configDirectory(page, files);
  const error = await loadConfig(join(directory, "config.html")).then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).problems.map((problem) =>
    asOnPosix(problem, directory).replace("DIR/config.html", "config.html"),
  );
}

/** A page with one host, `localhost`, that serves `site`; `inside` stands in the host, in line 4 and below. */
export function hostPage(inside: string, inServer = ""): string {
  return `<!doctype html><title>Configuration</title>
<main itemscope itemtype="https://example.org/schema/ServerConfig">${inServer}
<section itemprop="host" itemscope itemtype="https://example.org/schema/HostConfig"><meta itemprop="hostname" content="localhost"><meta itemprop="hostRoot" content="site">
${inside}
</section></main>`;
}

/** A plugin item on one line. */
export function pluginItem(
  library: string,
  parameters: Readonly<Record<string, string | number | boolean>> = {},
  nested = "",
): string {
  const metas = Object.entries(parameters).map(([name, value]) => `<meta itemprop="${name}" content='${value}'>`);
  const location = `<meta itemprop="library" content="${library}">`;
  return `<div itemprop="plugin" itemscope itemtype="https://example.org/schema/Plugin">${location}${metas.join("")}${nested}</div>`;
}

/** A plugin that comes with the package. */
export function bundled(
  name: string,
  parameters: Readonly<Record<string, string | number | boolean>> = {},
  nested = "",
): string {
  return pluginItem(`file://./plugins/${name}.so`, parameters, nested);
}
