import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { on, once } from "node:events";
import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, readFile, rename, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SignJWT } from "jose";
import { Upload, type UploadOptions } from "tus-js-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { agentOf } from "./helpers/agent.ts";
import { violationsIn } from "./helpers/axe.ts";
import { pageTimeout, sharedChromium } from "./helpers/chromium.ts";
import { isCampaign } from "./helpers/effort.ts";
import { type RunningNode, runNode, runNodeToEnd } from "./helpers/run-node.ts";
import { listen } from "./helpers/serve.ts";
import { projectRoot } from "./helpers/source-files.ts";
import { temporaryDirectory } from "./helpers/temporary-directory.ts";
import { unusedPort } from "./helpers/unused-port.mjs";

const examples = join(projectRoot, "examples");
const withoutNotices = { NODE_OPTIONS: "" }; // what vitest sets for itself is not for the examples

/** Runs an example on a free port, with a copy of the example site, or of another folder, for the files it serves. */
async function runExample(
  name: string,
  env: Readonly<Record<string, string>> = {},
  folder = "site",
): Promise<RunningNode & { url: string }> {
  const root = join(await temporaryDirectory(), "site");
  await cp(join(examples, folder), root, { recursive: true });
  const running = runNode([join(examples, name)], { env: { ...withoutNotices, PORT: "0", ROOT: root, ...env } });
  const [, url = ""] = await running.waitFor(/listening on (http:\S+)\n/);
  return { ...running, url: url.replace(/\/$/, "") };
}

/** A GET with a `Host` header of its own, which `fetch` does not allow. */
function getFromHost(url: string, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (response) => text(response).then(resolve, reject))
      .on("error", reject)
      .end();
  });
}

describe("examples/node-http.mjs", () => {
  it("serves the site, edits elements, prints each change, and stops at SIGTERM", async () => {
    const { url, printed, waitFor, kill, ended } = await runExample("node-http.mjs");
    const page = await fetch(`${url}/`);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(await page.text()).toContain("<h1");

    const headers = { range: "selector=h1" };
    const replaced = await fetch(`${url}/index.html`, { method: "PUT", headers, body: "<h1>New</h1>" });
    expect([replaced.status, await replaced.text()]).toEqual([206, "<h1>New</h1>"]);
    await waitFor(/^elements-replaced \/index\.html h1$/m);
    expect((await fetch(`${url}/new.txt`, { method: "PUT", body: "new" })).status).toBe(201);
    await waitFor(/^created \/new\.txt$/m);

    kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(printed.stderr).toBe("");
  });
});

describe("examples/edits.mjs", () => {
  it("moves a card in one step, and not twice", async () => {
    const { url, printed } = await runExample("edits.mjs");
    expect(printed.stdout).toContain("clock move, setAttribute\ntrue false\n");
    const page = await (await fetch(url)).text();
    expect(page).toBe(`<ul id=todo>\n</ul><ul id=done><li id=paint data-by="the clock">Paint the door</li></ul>`);
    expect((await fetch(url, { method: "PATCH", body: "[]" })).status).toBe(405);
  });
});

describe("examples/agents/agents.mjs", () => {
  it("plays the session of an agent: outline, read, two edits at once, a conflict, what it may not do, and an undo", async () => {
    const { url, printed, waitFor } = await runExample(
      "agents/agents.mjs",
      { REPOSITORY: await temporaryDirectory() },
      "agents/site",
    );
    await waitFor(/undone, of agent: true\n/);
    expect(printed.stdout).toContain("not editable: FORBIDDEN\n");
    expect(printed.stdout).toContain("#list ul 2 li");
    expect(printed.stdout).toContain("conflict: EDIT_PRECONDITION_FAILED\n");
    expect(printed.stdout).toContain('-<li class="editable" id="kite">Fly two kites</li>\n');
    const page = await (await fetch(`${url}/to-do.html`)).text();
    expect(page).toContain('id="kite">Fly two kites</li>\n<li class="editable" id="boat">Row a boat</li>');
    expect(page).toContain("Be home at six.");
  });
});

describe("examples/agents/bearer.mjs", () => {
  it("takes an agent with a token that was signed for it, and tells others where to get one", async () => {
    const { url } = await runExample("agents/bearer.mjs", {}, "agents/site");
    const refused = await fetch(`${url}/mcp`, { method: "POST" });
    const [, metadata = ""] = /resource_metadata="(.+)"/.exec(refused.headers.get("www-authenticate") ?? "") ?? [];
    expect(refused.status).toBe(401);
    const resource = `${url}/mcp`;
    expect(await (await fetch(metadata)).json()).toEqual({
      resource,
      authorization_servers: ["https://login.example"],
    });

    const connected = async (audience: string) => {
      const secret = new TextEncoder().encode("a secret of at least thirty-two bytes");
      const claims = new SignJWT({ sub: "agent", iss: "https://login.example", aud: audience });
      const token = await claims.setProtectedHeader({ alg: "HS256" }).sign(secret);
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      return agentOf(new StreamableHTTPClientTransport(new URL(resource), { requestInit }));
    };
    await expect(connected("https://other.example/mcp")).rejects.toThrow();
    const { call } = await connected(resource);
    const edit = (selector: string) =>
      call("edit", { path: "/to-do.html", edits: [{ op: "setText", selector, text: "x" }] });
    expect([(await edit("#kite")).isError, (await edit("#rules")).told.code]).toEqual([false, "FORBIDDEN"]);
  });
});

describe("examples/kanban/kanban.mjs", () => {
  it("serves a board whose cards move in one step", async () => {
    const { url } = await runExample("kanban/kanban.mjs", {}, "kanban/site");
    expect((await fetch(`${url}/.well-known/filement/client.js`)).status).toBe(200);
    const edits = [{ op: "move", selector: "#card-1", to: "#done", position: "beforeend", matches: 1 }];
    const headers = { "content-type": "application/json" };
    const moved = await fetch(`${url}/index.html`, { method: "PATCH", headers, body: JSON.stringify(edits) });
    expect(moved.status).toBe(200);
    expect(await (await fetch(url)).text()).toMatch(/<ul id="done"[\s\S]*<li id="card-1"/);
  });
});

describe("examples/html.mjs", () => {
  it("changes the images of a page, and leaves all else in the file", async () => {
    const page = join(await temporaryDirectory(), "page.html");
    await writeFile(page, "<H1 >Tea\r\n<main><IMG src='a'><p>\xa0<img loading=lazy></main><img src=b>\n", "latin1");
    const { code, stdout, stderr } = await runNodeToEnd([join(examples, "html.mjs"), page], { env: withoutNotices });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe('2 images\nat 68:  loading="lazy"\nat 28:  loading="lazy"\n');
    expect(await readFile(page, "latin1")).toBe(
      '<H1 >Tea\r\n<main><IMG src=\'a\' loading="eager"><p>\xa0<img loading=eager></main><img src=b loading="lazy">\n',
    );
  });
});

describe("examples/express.mjs", () => {
  it("has the files under /docs, and lets the application answer for what is not a file", async () => {
    const { url } = await runExample("express.mjs");
    expect(url).toMatch(/\/docs$/);
    expect((await fetch(`${url}/index.html`)).status).toBe(200);
    const put = await fetch(`${url}/new.txt`, { method: "PUT", body: "new" });
    expect([put.status, put.headers.get("location")]).toEqual([201, "/docs/new.txt"]);
    expect(await (await fetch(`${url}/about`)).text()).toBe("Answered by Express: there is no such file.");
    const headers = { "content-type": "application/json" };
    const echo = await fetch(new URL("/api/echo", url), { method: "POST", headers, body: '{"a":1}' });
    expect(await echo.json()).toEqual({ a: 1 });
  });
});

const form = { "content-type": "application/x-www-form-urlencoded" };

/** Signs in, and gives the cookie that shows it. */
async function signIn(url: string, headers: Record<string, string>, body: string): Promise<{ cookie: string }> {
  const reply = await fetch(new URL("/sign-in", url), { method: "POST", headers, body, redirect: "manual" });
  return { cookie: reply.headers.get("set-cookie")?.split(";", 1)[0] ?? "" };
}

describe("examples/sign-ins", () => {
  const json = { "content-type": "application/json" };
  const browser = { accept: "text/html" };

  it("express-session.mjs lets signed-in users read, editors write, and sends the others to the sign-in", async () => {
    const { url, waitFor } = await runExample("sign-ins/express-session.mjs");
    const page = `${url}/index.html`;
    const anonymous = await fetch(page, { headers: browser, redirect: "manual" });
    expect([anonymous.status, anonymous.headers.get("location")]).toEqual([302, "/sign-in"]);
    const program = await fetch(page);
    expect([program.status, program.headers.get("www-authenticate")]).toEqual([401, "Session"]);
    expect((await program.json()).code).toBe("UNAUTHORIZED");

    const bob = await signIn(url, form, "name=bob&password=tea");
    const read = await fetch(page, { headers: bob });
    expect([read.status, read.headers.get("vary")]).toEqual([200, expect.stringContaining("cookie")]);
    expect((await fetch(page, { method: "PUT", headers: bob, body: "<p>Bob</p>" })).status).toBe(403);
    await waitFor(/"user":"bob".*"method":"PUT".*"status":403|"method":"PUT".*"status":403.*"user":"bob"/);

    const ada = await signIn(url, form, "name=ada&password=love");
    const live = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers: ada });
    const [first] = await once(live, "message");
    expect(JSON.parse(String(first))).toMatchObject({ type: "hello" });
    const changed = once(live, "message");
    const edit = { method: "PUT", headers: { ...ada, range: "selector=h1" }, body: "<h1>Ada</h1>" };
    expect((await fetch(page, edit)).status).toBe(206);
    expect(JSON.parse(String((await changed)[0]))).toMatchObject({ kind: "elements-replaced", user: "ada" });
    const closed = once(live, "close");
    await fetch(`${new URL(url).origin}/sign-out`, { method: "POST", headers: ada, redirect: "manual" });
    expect((await closed)[0]).toBe(1008);
    expect((await fetch(page, { headers: ada })).status).toBe(401);

    const stranger = new WebSocket(`${url.replace("http", "ws")}/ws`);
    const [, { statusCode }] = await once(stranger, "unexpected-response");
    expect(statusCode).toBe(401);
  });

  it("passport.mjs lets everybody read, and users write where they are at home", { tags: ["campaign"] }, async () => {
    const { url } = await runExample("sign-ins/passport.mjs");
    expect((await fetch(`${url}/index.html`)).status).toBe(200);
    const put = { method: "PUT", body: "mine" };
    expect((await fetch(`${url}/users/ada/a.txt`, put)).status).toBe(401);
    const ada = await signIn(url, form, "username=ada&password=love");
    expect((await fetch(`${url}/users/ada/a.txt`, { ...put, headers: ada })).status).toBe(201);
    expect((await fetch(`${url}/users/bob/a.txt`, { ...put, headers: ada })).status).toBe(403);
    expect((await fetch(`${url}/index.html`, { ...put, headers: ada })).status).toBe(403);
  });

  it("jwt.mjs knows programs by their tokens, and limits each by its name", { tags: ["campaign"] }, async () => {
    const { url } = await runExample("sign-ins/jwt.mjs");
    const secret = new TextEncoder().encode("a secret of at least thirty-two bytes");
    const token = async (sub: string, roles: readonly string[], key = secret): Promise<Record<string, string>> => {
      const signed = await new SignJWT({ sub, roles }).setProtectedHeader({ alg: "HS256" }).sign(key);
      return { authorization: `Bearer ${signed}` };
    };
    const ask = async (path: string, headers: Record<string, string>, method = "GET") =>
      fetch(url + path, { method, headers, ...(method === "PUT" && { body: "1" }) });
    const anonymous = await ask("/index.html", {});
    expect([anonymous.status, anonymous.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="files"']);
    expect((await ask("/index.html", await token("eve", ["robot"], new Uint8Array(32)))).status).toBe(401);
    const reader = await token("reader", []);
    expect((await ask("/index.html", reader)).status).toBe(200);
    expect((await ask("/data/a.json", reader, "PUT")).status).toBe(403);
    const robot = await token("robot-1", ["robot"]);
    expect((await ask("/data/a.json", robot, "PUT")).status).toBe(201);
    // So many at once that no machine is slow enough to let one pass each second.
    const limits = await Promise.all(Array.from({ length: 40 }, () => ask("/index.html", robot)));
    expect(limits.map(({ status }) => status)).toContain(429);
    expect((await ask("/index.html", reader)).status).toBe(200);
  });

  it("fastify-session.mjs lets users do everything, and others nothing", { tags: ["campaign"] }, async () => {
    const { url } = await runExample("sign-ins/fastify-session.mjs");
    expect((await fetch(`${url}/index.html`)).status).toBe(401);
    const ada = await signIn(url, json, '{"name":"ada","password":"love"}');
    expect((await fetch(`${url}/index.html`, { headers: ada })).status).toBe(200);
    const put = await fetch(`${url}/new.txt`, { method: "PUT", headers: ada, body: "new" });
    expect([put.status, put.headers.get("location")]).toEqual([201, "/wiki/new.txt"]);
  });
});

describe("examples/wiki/wiki.mjs", () => {
  const runWiki = async () => {
    const place = await temporaryDirectory();
    const AUDIT = join(place, "audit.log");
    const running = await runExample("wiki/wiki.mjs", { AUDIT, HISTORY: join(place, "wiki.git") }, "wiki/pages");
    return { ...running, log: AUDIT };
  };

  it("lets users edit what is editable and editors write files and undo edits, tells open pages, keeps an audit log", async () => {
    const { url, log, kill, ended, printed } = await runWiki();
    const page = `${url}/index.html`;
    const put = async (headers: Record<string, string>, selector: string, body: string): Promise<number> =>
      (await fetch(page, { method: "PUT", headers: { ...headers, range: `selector=${selector}` }, body })).status;
    const bob = await signIn(url, form, "name=bob&password=tea");
    const ada = await signIn(url, form, "name=ada&password=love");
    expect((await fetch(page)).headers.get("content-security-policy")).toContain("script-src 'self'");
    const live = new WebSocket(`${url.replace("http", "ws")}/ws`);
    await once(live, "message"); // the greeting

    const welcome = '<p id="welcome" class="editable">Hello.</p>';
    expect(await put({}, ".editable", welcome)).toBe(401);
    expect(await put(bob, "#rules", '<p id="rules">Mine.</p>')).toBe(403);
    const changed = once(live, "message");
    expect(await put(bob, "#welcome", welcome)).toBe(206);
    expect(JSON.parse(String((await changed)[0]))).toMatchObject({ user: "bob", html: welcome });
    expect((await fetch(`${url}/new.html`, { method: "PUT", headers: bob, body: "<p>New" })).status).toBe(403);
    expect((await fetch(`${url}/new.html`, { method: "PUT", headers: ada, body: "<p>New" })).status).toBe(201);

    const past = `${url}/history/index.html`;
    const edits = async (): Promise<{ commit: string; user: string }[]> => (await (await fetch(past)).json()).versions;
    await expect.poll(async () => (await edits())[0]?.user).toBe("bob");
    const undo = { method: "POST", body: "" };
    const [edit] = await edits();
    expect((await fetch(`${past}/${edit?.commit}`, { ...undo, headers: bob })).status).toBe(403);
    expect((await fetch(`${past}/${edit?.commit}`, { ...undo, headers: ada })).status).toBe(200);
    expect(await (await fetch(page)).text()).toContain("Double-click this to edit it.");

    kill("SIGTERM");
    expect(await once(live, "close")).toEqual([1001, Buffer.from("the server is closing")]);
    expect([await ended, printed.stderr]).toMatchObject([{ code: 0 }, expect.not.stringMatching(/error/i)]);
    const lines = (await readFile(log, "utf8")).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { user: "bob", kind: "elements-replaced", path: "/index.html", selector: "#welcome", html: welcome },
      { user: "ada", kind: "created", path: "/new.html" },
      { user: "ada", kind: "replaced", path: "/index.html" },
    ]);
  });

  it("has pages in which a double click edits, for all to see at once", {
    tags: ["chromium", "campaign"],
  }, async () => {
    const { url } = await runWiki();
    const browser = await sharedChromium();
    const [reader, writer] = [await browser.newPage(), await browser.newPage()];
    for (const page of [reader, writer]) {
      onTestFinished(() => page.close());
      page.setDefaultTimeout(pageTimeout);
    }
    await reader.goto(`${url}/`);
    await writer.goto(new URL("/sign-in", url).href);
    expect(await violationsIn(writer)).toEqual([]);
    await writer.fill("[name=name]", "bob");
    await writer.fill("[name=password]", "tea");
    await writer.click("button");
    await writer.waitForURL(`${url}/`); // and its scripts
    expect(await violationsIn(writer)).toEqual([]);
    writer.on("dialog", (dialog) => dialog.accept("Edited."));
    await writer.dblclick("#welcome");
    await reader.waitForFunction(() => document.querySelector("#welcome")?.textContent === "Edited.");
    const file = await (await fetch(`${url}/index.html`)).text();
    expect(file).toContain('<p id="welcome" class="editable">Edited.</p>\n');
  });
});

describe("examples/virtual-hosts.mjs", { tags: ["campaign"] }, () => {
  it("answers for each host with its own files", async () => {
    const { url } = await runExample("virtual-hosts.mjs");
    expect(await getFromHost(`${url}/`, "www.example")).toBe("<h1>Welcome</h1>");
    expect(await getFromHost(`${url}/`, "Example:8080")).toBe("<h1>Welcome</h1>");
    expect(await getFromHost(`${url}/`, "docs.example")).toContain("notes.txt");
    expect(await getFromHost(`${url}/`, "other.example")).toBe("<h1>No such host here</h1>");
  });
});

describe("examples/custom-plugin.mjs", { tags: ["campaign"] }, () => {
  it("counts requests, and changes replies on their way back", async () => {
    const { url } = await runExample("custom-plugin.mjs");
    expect((await fetch(`${url}/`)).headers.get("cache-control")).toBe("no-cache");
    expect((await fetch(`${url}/dot.svg`)).headers.get("cache-control")).toBe("max-age=86400");
    expect(await (await fetch(`${url}/hits`)).json()).toEqual({ "/": 1, "/dot.svg": 1 });
  });
});

describe("examples/in-process-test.mjs", { tags: ["campaign"] }, () => {
  it("passes under node --test", async () => {
    const { code, stdout } = await runNodeToEnd(
      ["--test", "--test-reporter=tap", join(examples, "in-process-test.mjs")],
      { env: withoutNotices },
    );
    expect(stdout).toMatch(/^# pass 2$/m);
    expect(code).toBe(0);
  });
});

describe("examples/site/start.mjs, which npm start runs", () => {
  const start = (port: string): RunningNode => runNode([join(examples, "site/start.mjs")], { env: { PORT: port } });

  it("prints four curl lines, which work as they are, and at the end where it listens", {
    tags: ["curl"],
  }, async () => {
    const before = readFileSync(join(examples, "site/index.html"), "utf8");
    const { printed, waitFor, kill, ended } = start("0");
    const [, url = ""] = await waitFor(/(http:\/\/localhost:\d+)\/[\s\S]*to-do\.html\n[\s\S]*to-do\.html\n/);
    await waitFor(new RegExp(`\n${url}/\n$`));
    const commands = printed.stdout.split("\n").filter((line) => line.startsWith("curl "));
    expect(commands).toHaveLength(4);
    const answers: string[] = [];
    for (const command of commands) answers.push((await promisify(execFile)("sh", ["-c", `${command} -s`])).stdout);

    const [read = "", replaced, appended, deleted] = answers;
    expect(read).toMatch(/^(?:<li>[\s\S]*?<\/li>)+$/);
    expect(replaced).toBe("<h1 id=headline>Hello, element.</h1>");
    expect(appended).toContain("<li>Water the plants</li></ul>");
    expect(deleted).toMatch(/^HTTP\/1\.1 204 No Content\r\n[\s\S]*X-Selector-Matches: [1-9]/i);
    const list = await (await fetch(`${url}/to-do.html`)).text();
    expect(list).toContain("Water the plants");
    expect(readFileSync(join(examples, "site/index.html"), "utf8")).toBe(before);

    const [copy = ""] = /\/\S*filement-site-\w+/.exec(printed.stdout) ?? [];
    expect(existsSync(copy)).toBe(true);
    kill("SIGINT");
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(existsSync(copy)).toBe(false);
  });

  it("listens on the port in PORT", { tags: ["campaign"] }, async () => {
    const port = await unusedPort();
    const { waitFor, kill, ended } = start(String(port));
    await waitFor(new RegExp(`http://localhost:${port}/`));
    kill("SIGTERM");
    expect((await ended).code).toBe(0);
  });

  it("says in one line that the port is in use, and exits with 1", { tags: ["campaign"] }, async () => {
    const port = await listen(createServer());
    const { printed, ended } = start(String(port));
    expect((await ended).code).toBe(1);
    expect(printed).toEqual({
      stdout: "",
      stderr: `Port ${port} is in use. Choose another: PORT=3001 npm start\n`,
    });
  });
});

describe("the examples", () => {
  const files = readdirSync(examples).filter((name) => name.endsWith(".mjs"));
  const thisTest = readFileSync(import.meta.filename, "utf8");

  it.each(files)("have a test for %s", (name) => {
    expect(thisTest).toContain(`describe("examples/${name}"`);
  });
});

describe("examples/metrics-and-health.mjs", () => {
  it("tells that it is well, counts what it was asked for, and stops at SIGTERM", async () => {
    const { url, printed, kill, ended } = await runExample("metrics-and-health.mjs");
    expect((await fetch(`${url}/`)).status).toBe(200);
    const health = await fetch(`${url}/health`);
    expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ status: "healthy" })]);
    const numbers = await (await fetch(`${url}/metrics`)).text();
    expect(numbers).toMatch(/^http_requests_total\{method="GET",status="200"\} 2$/m);
    expect(numbers).toMatch(/^process_resident_memory_bytes \d+$/m);

    kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(printed.stderr).toBe("");
  });
});

describe("examples/access-log.mjs", () => {
  it("writes a line for each reply, into a new file after a rotation and SIGHUP, and the last ones at SIGTERM", async () => {
    const log = join(await temporaryDirectory(), "access.log");
    const { url, waitFor, kill, ended, printed } = await runExample("access-log.mjs", { LOG: log });
    expect((await fetch(`${url}/none`)).status).toBe(404);
    await rename(log, `${log}.1`);
    kill("SIGHUP");
    await waitFor(/opened anew, 0 lines lost so far/);
    expect((await fetch(`${url}/`)).status).toBe(200);
    kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(printed.stderr).toBe("");
    expect(await readFile(`${log}.1`, "utf8")).toMatch(
      /^127\.0\.0\.1 - - \[.*\] "GET \/none HTTP\/1\.1" 404 \d+ "-" ".*"\n$/,
    );
    expect(await readFile(log, "utf8")).toMatch(/^127\.0\.0\.1 - - \[.*\] "GET \/ HTTP\/1\.1" 200 \d+ "-" ".*"\n$/);
  });
});

describe("examples/protect-directory.mjs", { tags: ["campaign"] }, () => {
  it("lets everybody read, one user write, and nobody else see the drafts", async () => {
    const { url } = await runExample("protect-directory.mjs");
    const authorization = `Basic ${btoa("ada:engine")}`;
    const wrong = { authorization: `Basic ${btoa("ada:wrong")}` };
    const put = { method: "PUT", body: "draft" };
    expect((await fetch(`${url}/`)).status).toBe(200);
    expect((await fetch(`${url}/`, { headers: wrong })).status).toBe(401);
    expect((await fetch(`${url}/new.txt`, put)).status).toBe(401);
    expect((await fetch(`${url}/drafts/a.txt`, { ...put, headers: { authorization } })).status).toBe(201);
    const draft = await fetch(`${url}/drafts/a.txt`);
    expect([draft.status, draft.headers.get("www-authenticate")]).toEqual([
      401,
      'Basic realm="Example", charset="UTF-8"',
    ]);
    expect((await fetch(`${url}/drafts/none.txt`)).status).toBe(401);
    expect(await (await fetch(`${url}/drafts/a.txt`, { headers: { authorization } })).text()).toBe("draft");
  });
});

describe("examples/guard.mjs", { tags: ["campaign"] }, () => {
  it("keeps a directory for those who know the token, also in the listing and the archive", async () => {
    const { url } = await runExample("guard.mjs");
    const headers = { "x-token": "s3cret" };
    const put = { method: "PUT", body: "a" };
    expect((await fetch(`${url}/members/a.txt`, put)).status).toBe(403);
    expect((await fetch(`${url}/members/a.txt`, { ...put, headers })).status).toBe(201);
    const listing = async (sent: Record<string, string>): Promise<string> =>
      (await fetch(`${url}/members/`, { headers: { accept: "application/json", ...sent } })).text();
    expect(await listing(headers)).toContain("a.txt");
    expect(await listing({})).not.toContain("a.txt");
    expect((await fetch(`${url}/members/?zip`)).status).toBe(403);
  });
});

describe("examples/quota.mjs", { tags: ["campaign"] }, () => {
  it("lets no client send more, in chunks neither, nor in several requests at once", async () => {
    const { url } = await runExample("quota.mjs");
    const chunked = async (path: string, bytes: number): Promise<number> => {
      const body = new Blob([Buffer.alloc(bytes)]).stream();
      return (await fetch(`${url}${path}`, { method: "PUT", body, duplex: "half" } as RequestInit)).status;
    };
    expect(await chunked("/too-large", 400_001)).toBe(413);
    const statuses = await Promise.all([1, 2, 3, 4].map((name) => chunked(`/${name}`, 400_000)));
    expect(statuses.sort()).toEqual([201, 201, 413, 413]);
    expect(await chunked("/small", 10)).toBe(413); // it could become 400,000
    expect((await fetch(`${url}/small`, { method: "PUT", body: "x".repeat(200_000) })).status).toBe(201);
    const reply = await fetch(`${url}/more`, { method: "PUT", body: "x" });
    expect([reply.status, (await reply.json()).code]).toEqual([413, "QUOTA_EXCEEDED"]);
  });
});

describe("examples/uploads/resumable.mjs", () => {
  /** Sends a file as the clients of tus do; cut off behind `cutAt` bytes, and resumed. Gives the number of later pieces. */
  function upload(url: string, file: string, headers: Record<string, string>, cutAt = 0): Promise<number> {
    let resumed = 0;
    return new Promise((resolve, reject) => {
      const options: UploadOptions = {
        endpoint: `${url}/uploads`,
        headers,
        chunkSize: 4 * 1024 * 1024,
        metadata: { filename: "big file.bin" },
        retryDelays: null,
        onError: reject,
        onSuccess: () => resolve(resumed),
      };
      const onChunkComplete = (): void => {
        resumed += 1;
      };
      const cutOff = async (sent: number): Promise<void> => {
        if (cutAt === 0 || sent < cutAt) return;
        await first.abort();
        new Upload(createReadStream(file), { ...options, uploadUrl: first.url, onChunkComplete }).start();
      };
      const first = new Upload(createReadStream(file), {
        ...options,
        onChunkComplete: (_size, sent) => void cutOff(sent).catch(reject),
      });
      first.start();
    });
  }

  /** Numbers that show where they are from. */
  function* content(size: number): Generator<Buffer> {
    const block = Buffer.alloc(65_536);
    for (let at = 0; at < size; at += block.length) {
      for (let i = 0; i < block.length; i += 1024) block.writeUInt32LE((at + i) % 2 ** 32, i);
      yield Buffer.from(block);
    }
  }

  const digest = async (pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<string> => {
    const hash = createHash("sha256");
    for await (const piece of pieces) hash.update(piece);
    return hash.digest("hex");
  };

  const size = isCampaign ? 1024 ** 3 : 12 * 1024 ** 2;

  it("moves an upload that was cut and resumed into the files, by their rules", { timeout: 280_000 }, async () => {
    const directory = await temporaryDirectory();
    const [file, small] = [join(directory, "file"), join(directory, "small")];
    await writeFile(file, content(size));
    await writeFile(small, "small");
    const { url, pid } = await runExample("uploads/resumable.mjs", { PARTS: join(directory, "parts") });
    await expect(upload(url, small, {})).rejects.toThrow("response code: 403");
    const headers = { authorization: "Bearer s3cret" };
    expect(await upload(url, file, headers, 5_000_000)).toBeGreaterThan(0);
    const reply = await fetch(`${url}/inbox/big%20file.bin`);
    expect(await digest(reply.body ?? [])).toBe(await digest(content(size)));
    await expect(upload(url, small, headers)).rejects.toThrow("response code: 412"); // it is there
    const [, peak] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
    expect(Number(peak)).toBeLessThan(400 * 1024);
  });
});

describe("examples/uploads/form.mjs", () => {
  it("stores the files of a form under names that lead nowhere else", async () => {
    const { url } = await runExample("uploads/form.mjs");
    const form = new FormData();
    form.append("file", new Blob(["one"]), "one.txt");
    form.append("file", new Blob(["x".repeat(300_000)]), "../../.x/två.txt");
    const reply = await fetch(`${url}/upload`, { method: "POST", body: form });
    expect([reply.status, (await reply.json()).map(({ path }: { path: string }) => path)]).toEqual([
      201,
      ["/uploads/one.txt", "/uploads/tv_.txt"],
    ]);
    expect(await (await fetch(`${url}/uploads/one.txt`)).text()).toBe("one");
    expect((await fetch(`${url}/uploads/x`, { method: "PUT", body: "x" })).status).toBe(405);
    expect((await fetch(`${url}/upload`, { method: "POST", body: "no form" })).status).toBe(400);
  });

  it("shows in a browser how much is sent, and then what was stored", { tags: ["chromium"] }, async () => {
    const { url } = await runExample("uploads/form.mjs");
    const page = await (await sharedChromium()).newPage();
    onTestFinished(() => page.close());
    page.setDefaultTimeout(pageTimeout);
    await page.goto(url);
    const network = await page.context().newCDPSession(page);
    await network.send("Network.enable");
    const limits = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 400_000 };
    await network.send("Network.emulateNetworkConditions", limits);
    await page.evaluate(() => {
      const shown: number[] = [];
      const progress = document.querySelector("progress") as HTMLProgressElement;
      new MutationObserver(() => shown.push(progress.value)).observe(progress, { attributes: true });
      Object.assign(globalThis, { shown });
    });
    await page.setInputFiles("input", { name: "big.bin", mimeType: "", buffer: Buffer.alloc(900_000) });
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText('"path":"/uploads/big.bin"').waitFor();
    const shown = (await page.evaluate("shown")) as number[];
    expect(shown).toEqual(shown.toSorted((a, b) => a - b));
    expect(shown.at(-1)).toBe(1);
    expect(shown.filter((part) => part > 0 && part < 1)).not.toEqual([]);
  });
});

describe("examples/per-user-pages.mjs", { tags: ["campaign"] }, () => {
  it("lets each user change their own notes and files, and nobody else's", async () => {
    const { url } = await runExample("per-user-pages.mjs");
    const edit = async (name: string, password: string, owner: string): Promise<number> => {
      const headers = {
        authorization: `Basic ${btoa(`${name}:${password}`)}`,
        range: `selector=[data-owner=${owner}]`,
      };
      const body = `<li data-owner="${owner}">changed by ${name}</li>`;
      return (await fetch(`${url}/board.html`, { method: "PUT", headers, body })).status;
    };
    expect(await edit("ada", "engine", "ada")).toBe(206);
    expect(await edit("ada", "engine", "bob")).toBe(403);
    expect(await edit("bob", "engine", "bob")).toBe(401);
    const page = await (await fetch(`${url}/board.html`)).text();
    expect(page).toContain("changed by ada");
    expect(page).toContain("Bob's note");

    const file = async (owner: string): Promise<number> => {
      const headers = { authorization: `Basic ${btoa("bob:bees")}` };
      return (await fetch(`${url}/users/${owner}/a.txt`, { method: "PUT", headers, body: "a" })).status;
    };
    expect([await file("bob"), await file("ada")]).toEqual([201, 403]);
  });
});

describe("examples/rate-limit.mjs", { tags: ["campaign"] }, () => {
  it("limits changes more strictly than reads, and prints whom it refused", async () => {
    const { url, printed, waitFor } = await runExample("rate-limit.mjs");
    const put = () => fetch(`${url}/new.txt`, { method: "PUT", body: "new" });
    // So many at once that no machine is slow enough to let one pass each five seconds.
    const answers = await Promise.all(Array.from({ length: 20 }, put));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ ok }) => ok).length).toBeGreaterThanOrEqual(3);
    const [first] = refused;
    const seconds = (await first?.json())?.retry_after_seconds;
    expect(first?.headers.get("retry-after")).toBe(String(seconds));
    const [, line = ""] = await waitFor(
      new RegExp(`^rate limit: refused (\\{.*"retryAfterSeconds":${seconds}\\b.*\\})$`, "m"),
    );
    expect(JSON.parse(line)).toMatchObject({ key: "127.0.0.1", retryAfterSeconds: seconds });

    const read = await fetch(`${url}/new.txt`);
    expect([read.status, read.headers.get("x-ratelimit-limit")]).toEqual([200, "50"]);
    expect(read.headers.get("ratelimit-policy")).toBe('"50-in-10s";q=50;w=10');
    expect(printed.stderr).toMatch(/^every client that can reach this server can change the files here: .*\n$/);
  });
});

describe("examples/scale-out", { tags: ["nginx", "redis-server", "versitygw", "campaign"] }, () => {
  it("starts two servers behind nginx, of which each tells the changes of the other, and ends all of it", async () => {
    const { waitFor, kill, ended } = runNode([join(examples, "scale-out/start.mjs")], {
      env: { ...withoutNotices, PORT: "0" },
    });
    onTestFinished(async () => {
      kill("SIGTERM"); // so that it ends its parts, also where something below fails
      await ended;
    });
    const [, url = "", one, other] = await waitFor(/listening on (\S+)\/, by servers at (\d+) and (\d+)/);
    const clients = [one, other].map((port) => new WebSocket(`ws://127.0.0.1:${port}/ws`));
    const inboxes = clients.map((client) => on(client, "message"));
    await Promise.all(inboxes.map((inbox) => inbox.next())); // hello
    const servers = new Set<string | null>();
    for (let index = 0; index < 4; index += 1) {
      const headers = { range: "selector=#notes" };
      const reply = await fetch(`${url}/index.html`, { method: "POST", headers, body: `<li>${index}</li>` });
      expect(reply.status).toBe(206);
      servers.add(reply.headers.get("server"));
      for (const inbox of inboxes) {
        const { value } = await inbox.next();
        expect(JSON.parse(String(value[0]))).toMatchObject({ id: index + 1, html: `<li>${index}</li>` });
      }
    }
    expect([...servers].sort()).toEqual([`filement-${one}`, `filement-${other}`].sort());
    const list = await fetch(`${url}/index.html`, { headers: { range: "selector=#notes li" } });
    expect(await list.text()).toMatch(/bucket\.<\/li><li>0<\/li><li>1<\/li><li>2<\/li><li>3<\/li>$/);
    for (const client of clients) client.terminate();
    kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, signal: null });
  });
});
