/**
 * Serves a directory with `files.fetch` in Bun, Deno or Node, sends itself requests, and prints the replies: one line each.
 * Arguments: the module of Filement, a directory to serve.
 *
 * @typedef {(request: Request) => Promise<Response>} Handler
 * @typedef {(path: string, init: RequestInit) => Promise<Response>} Send
 * @typedef {{ serve(options: { port: number, hostname: string, fetch: Handler }): { port: number, stop(now: boolean): unknown } }} Bun
 * @typedef {{ args: string[], serve(options: { port: number, hostname: string, onListen(): void }, handler: Handler): { addr: { port: number }, shutdown(): unknown } }} Deno
 */
const { Bun, Deno } = /** @type {{ Bun?: Bun, Deno?: Deno }} */ (globalThis);
const [modulePath = "", root = ""] = (Deno?.args ?? process.argv.slice(2)).slice(-2);
const { basicAuth, createFileServer, directory } = /** @type {typeof import("../../src/index.ts")} */ (
  await import(modulePath)
);

const plugins = [basicAuth({ users: [{ username: "ada", password: "love", encryption: "plaintext" }] })];
const files = createFileServer({ root, plugins: [directory({ directory: "/private", plugins })] });
/** @type {string[]} */
const changes = [];
files.changes.subscribe(({ kind, path }) => changes.push(`${kind} ${path}`));

/** @type {Handler} */
const answer = (request) => files.fetch(request, { mount: "/wiki" });

/**
 * The runtime's own server, and how to stop it. Node has none for Requests: there they go straight to the handler.
 *
 * @returns {{ send: Send, stop(): unknown }}
 */
function serve() {
  if (Bun) {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
    return {
      send: (path, init) => fetch(`http://127.0.0.1:${server.port}${path}`, init),
      stop: () => server.stop(true),
    };
  }
  if (Deno) {
    const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, answer);
    const { port } = server.addr;
    return { send: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init), stop: () => server.shutdown() };
  }
  return { send: (path, init) => answer(new Request(`http://127.0.0.1${path}`, init)), stop: () => {} };
}

const { send, stop } = serve();
const shown = ["allow", "content-range", "content-type", "location", "www-authenticate", "x-selector-matches"];

/** @type {(method: string, path: string, headers?: Record<string, string>, body?: string) => Promise<Response>} */
async function ask(method, path, headers = {}, body = undefined) {
  const response = await send(path, { method, headers, redirect: "manual", ...(body !== undefined && { body }) });
  const text = await response.text();
  const fields = shown.flatMap((name) =>
    response.headers.has(name) ? [`${name}: ${response.headers.get(name)}`] : [],
  );
  console.log([`${method} ${path}`, response.status, ...fields, text.length > 200 ? text.length : text].join(" | "));
  return response;
}

await ask("GET", "/wiki/page.html");
await ask("HEAD", "/wiki/page.html");
await ask("GET", "/wiki/folder");
await ask("GET", "/wiki/none.html");
await ask("GET", "/wiki/%2e%2e/%2e%2e/etc/passwd");
await ask("GET", "/elsewhere");
await ask("OPTIONS", "/wiki/page.html");
await ask("PUT", "/wiki/new/a.txt", {}, "content");
await ask("PUT", "/wiki/new/a.txt", {}, "other content");
await ask("POST", "/wiki/new/a.txt", {}, "+");
await ask("GET", "/wiki/new/a.txt", { range: "bytes=6-12" });
await ask("GET", "/wiki/new/a.txt", { range: "bytes=900-" });
await ask("POST", "/wiki/new/", { "x-filename": "b.txt" }, "b");
await ask("DELETE", "/wiki/new/");
await ask("DELETE", "/wiki/new/b.txt");
await ask("GET", "/wiki/page.html", { range: "selector=li" });
await ask("PUT", "/wiki/page.html", { range: "selector=li:first-child" }, "<li>1</li>");
await ask("POST", "/wiki/page.html", { range: "selector=ul" }, "<li>3</li>");
await ask("DELETE", "/wiki/page.html", { range: "selector=li + li" });
await ask("GET", "/wiki/page.html", { range: "selector=:contains(1)" });
await ask("PUT", "/wiki/page.html", { range: "selector=ul" }, "<ul><li></div></ul>");
const { headers } = await ask("GET", "/wiki/page.html");
await ask("GET", "/wiki/page.html", { "if-none-match": headers.get("etag") ?? "" });
await ask("PUT", "/wiki/page.html", { "if-match": '"another"' }, "<p>x</p>");
await ask("PUT", "/wiki/page.html", { "sec-fetch-site": "cross-site" }, "<p>x</p>");
await ask("GET", "/wiki/private/a.txt");
await ask("GET", "/wiki/private/a.txt", { authorization: `Basic ${btoa("ada:love")}` });
await ask("PUT", "/wiki/large.txt", {}, "0123456789".repeat(300_000));
await ask("GET", "/wiki/large.txt");
await ask("GET", "/wiki/", { accept: "text/html" });
console.log(changes.join(", "));
await files.close();
await stop();
