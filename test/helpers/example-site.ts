import { cp } from "node:fs/promises";
import { join } from "node:path";
import type { FileServerConfig } from "../../src/config.ts";
import { webSocket } from "../../src/plugins/web-socket.ts";
import { send } from "./send.ts";
import { type Served, serve } from "./serve.ts";
import { projectRoot } from "./source-files.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const examples = join(projectRoot, "examples");

/** The example site on a server. */
export interface ExampleSite extends Served {
  readonly root: string;
  /** What the file of a page has in it. */
  stored(page: string): Promise<string>;
}

/** The example site, as `npm start` serves it. */
export async function exampleSite(config: FileServerConfig = {}): Promise<ExampleSite> {
  const root = join(await temporaryDirectory(), "site");
  await cp(join(examples, "site"), root, { recursive: true });
  await cp(join(examples, "live-page"), join(root, "live-page"), { recursive: true });
  await cp(join(examples, "kanban/site"), join(root, "board"), { recursive: true });
  const served = await serve({ root, client: true, plugins: [webSocket()], ...config });
  const headers = { authorization: `Basic ${btoa("ada:ada")}` };
  return { ...served, root, stored: async (page) => (await send(served.url, "GET", `/${page}`, { headers })).text };
}
