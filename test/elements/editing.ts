import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { storageWith } from "../helpers/test-site.ts";

/** What a request to a page was answered, and what the page is afterwards. */
export interface Edited {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly page: string;
  readonly changes: readonly string[];
}

export type Edit = readonly [
  method: string,
  selector: string,
  body?: string | Uint8Array,
  headers?: Record<string, string>,
];

/** Serves one page and sends it one request in selector mode. */
export async function edit(page: string | Uint8Array, ...request: Edit): Promise<Edited> {
  const files = serveOne(page);
  const changes: string[] = [];
  files.changes.subscribe(({ kind, selector, matches, html }) =>
    changes.push(`${kind} ${selector} ${matches} ${html}`),
  );
  const response = await send(files, ...request);
  const body = await response.text();
  const after = await wholePage(files);
  await files.close();
  return { status: response.status, headers: response.headers, body, page: after.toString(), changes };
}

/** A file server with `/page.html`. */
export function serveOne(page: string | Uint8Array, config: FileServerConfig = {}): FileServer {
  return createFileServer({ ...config, storage: storageWith({ "/page.html": page }) });
}

export function send(files: FileServer, ...[method, selector, body, headers = {}]: Edit): Promise<Response> {
  const range = Buffer.from(`selector=${selector}`).toString("latin1");
  const init = { method, headers: { ...headers, range }, ...(body !== undefined && { body: body as string }) };
  return files.fetch(new Request("http://localhost/page.html", init));
}

export async function wholePage(files: FileServer): Promise<Buffer> {
  const response = await files.fetch(new Request("http://localhost/page.html"));
  return Buffer.from(await response.arrayBuffer());
}
