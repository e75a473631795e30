import type { Selection } from "../../src/client/client.ts";
import type { FileServerConfig } from "../../src/config.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Served, serve } from "../helpers/serve.ts";
import { bundled, type Window, type Windows } from "./chromium.ts";

/** The modules of the client, by their names. */
export interface Parts {
  readonly "apply-change": typeof import("../../src/client/apply-change.ts");
  readonly client: typeof import("../../src/client/client.ts");
  readonly connection: typeof import("../../src/client/connection.ts");
  readonly "parse-page": typeof import("../../src/client/parse-page.ts");
  readonly "patch-body": typeof import("../../src/client/patch-body.ts");
  readonly "selector-of": typeof import("../../src/client/selector-of.ts");
}

/** What the pages of the tests have in their window. */
declare global {
  var client: Parts["client"];
  var parts: Parts;
  var item: Selection;
  /** What a listener was told. */
  var told: unknown[];
}

/** A page with `body`, in whose window are modules of `src/client`; `client` under its own name as well. */
export async function pageWith(
  body: string,
  modules: readonly (keyof Parts)[] = ["client"],
): Promise<Record<string, string>> {
  const imports = modules.map((name) => `"${name}": await import("/.well-known/filement/${name}.js")`);
  const files = modules.map(async (name) => [`/.well-known/filement/${name}.js`, await bundled(name)] as const);
  return {
    "/page.html": `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Page</title><link rel="icon" href="data:,">
<script type="module">
globalThis.parts = { ${imports.join(", ")} };
globalThis.client = parts.client;
globalThis.told = [];
</script></head>
<body>${body}</body></html>
`,
    ...Object.fromEntries(await Promise.all(files)),
  };
}

/** Whether the modules of a page have been loaded; for `waitForFunction`. */
export const isLoaded = (): boolean => "told" in globalThis;

/** Serves a page with `body`, and opens it. */
export async function openPage(
  browser: Windows,
  body: string,
  modules?: readonly (keyof Parts)[],
  config: FileServerConfig = {},
): Promise<Served & Window> {
  const served = await serve({ storage: memoryStorage(await pageWith(body, modules)), ...config });
  const window = await browser.open(`${served.url}/page.html`);
  await window.page.waitForFunction(isLoaded);
  return { ...served, ...window };
}
