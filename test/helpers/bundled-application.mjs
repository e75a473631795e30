// An application that is made into one file: serves a directory with all that is loaded when it is first asked for, sends itself
// requests, and prints the replies. Argument: the directory.
import { basicAuth, createFileServer, healthCheck, metrics, webSocket } from "filement";

const apr1 = "$apr1$KmVZnTJB$Rc9KCc3OXJHCKZYF4q3Ed1";
const bcrypt = "$2b$10$abcdefghijklmnopqrstuuMdDpTzkPiSlZ6tXHqrPTD4dr1bnyaZO";

async function main() {
  const [, , root = ""] = process.argv;
  const users = [
    { username: "ada", password: "love", encryption: /** @type {const} */ ("plaintext") },
    { username: "bob", password: apr1 },
  ];
  const plugins = [basicAuth({ users }), healthCheck(), metrics(), webSocket()];
  const files = createFileServer({ root, client: true, listing: { edit: true, zip: true }, plugins });
  await files.ready();
  /** @type {(method: string, path: string, init?: { headers?: Record<string, string>, body?: string }) => Promise<void>} */
  const send = async (method, path, { headers = {}, ...init } = {}) => {
    const authorization = `Basic ${btoa("ada:love")}`;
    const request = new Request(`http://localhost${path}`, { method, headers: { authorization, ...headers }, ...init });
    const reply = await files.fetch(request);
    const isEmpty = (await reply.arrayBuffer()).byteLength === 0;
    console.log(method, path, reply.status, reply.headers.get("content-type"), isEmpty ? "empty" : "");
  };
  await send("PUT", "/a.html", { body: "<ul><li>a</ul>" });
  await send("POST", "/a.html", { headers: { range: "selector=ul" }, body: "<li>b" });
  for (const name of ["client.js", "listing.js", "markdown.js"]) await send("GET", `/.well-known/filement/${name}`);
  for (const path of ["/", "/?zip", "/metrics", "/health"]) await send("GET", path);
  await send("GET", "/a.html", { headers: { authorization: `Basic ${btoa("bob:wrong")}` } });
  await files.close();
  try {
    const other = createFileServer({ root, plugins: [basicAuth({ users: [{ username: "ada", password: bcrypt }] })] });
    await other.ready();
    await other.close();
    console.log("bcrypt loads");
  } catch (error) {
    console.log(error instanceof Error ? error.message : error);
  }
}

void main();
