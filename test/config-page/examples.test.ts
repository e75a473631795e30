import { cp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { pageTimeout, sharedChromium } from "../helpers/chromium.ts";
import { sample } from "../helpers/effort.ts";
import { type RunningNode, runNode } from "../helpers/run-node.ts";
import { type Answer, type Sending, send } from "../helpers/send.ts";
import { filesBelow, projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const examples = join(projectRoot, "examples");
const cli = join(projectRoot, "dist/cli.js");
const names = ["limits-and-authentication", "one-host", "several-hosts"];
const pages = filesBelow("examples/config", ".html").filter((page) => /^[^/]+\/[^/]+$/.test(page));

/** What the command says of hosts without authentication. */
const isOpen =
  /^(?:warning: every program on this computer can change the files of [^\n]+|filement: [^\n]+ can change (?:the )?files[^\n]*)\n/;

interface Running extends RunningNode {
  /** Where the copy of the example is. */
  readonly place: string;
  ask(host: string, method: string, path: string, more?: Sending): Promise<Answer>;
}

/** A copy of an example and of the site beside it, which a server may write to. */
async function copyOf(name: string): Promise<string> {
  const directory = await temporaryDirectory();
  await cp(join(examples, "site"), join(directory, "site"), { recursive: true });
  await cp(join(examples, "config", name), join(directory, "config", name), { recursive: true });
  return join(directory, "config", name);
}

/** `filement config.html`, on any free port. */
async function start(name: string, ...more: readonly string[]): Promise<Running> {
  const place = await copyOf(name);
  const running = runNode([cli, join(place, "config.html"), "--port", "0", ...more]);
  const [, url = ""] = await running.waitFor(/listening on (http:\S+)\n/);
  return {
    ...running,
    place,
    ask: (host, method, path, { headers, body } = {}) =>
      send(url, method, path, { headers: { host, ...headers }, body }),
  };
}

const as = (name: string): Readonly<Record<string, string>> => ({
  authorization: `Basic ${Buffer.from(`${name}:sample-${name}`).toString("base64")}`,
});

/** The lines of the access log, once the server has stopped. */
async function logOf({ kill, ended, place, printed }: Running): Promise<string[]> {
  kill("SIGTERM");
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(printed.stderr.replace(isOpen, "")).toBe("");
  return (await readFile(join(place, "access.log"), "utf8")).trimEnd().split("\n");
}

describe("examples/config/one-host", () => {
  it("serves the site to read and to write, under the names of this computer only", async () => {
    const running = await start("one-host");
    const { ask } = running;
    const page = await ask("localhost:3000", "GET", "/");
    expect([page.status, page.headers["x-ratelimit-limit"]]).toEqual([200, "200"]);
    const headers = { range: "selector=#todo" };
    expect((await ask("127.0.0.1", "POST", "/to-do.html", { headers, body: "<li>New</li>" })).text).toContain("New");
    expect((await ask("[::1]:3000", "GET", "/to-do.html")).text).toContain("<li>New</li>");
    expect((await ask("localhost", "PUT", "/to-do.html", { body: "<li>Lost</li>" })).status).toBe(409);
    expect((await ask("evil.example", "GET", "/")).status).toBe(421);
    expect(JSON.parse((await ask("localhost", "GET", "/health")).text)).toMatchObject({ status: "healthy" });
    const log = await logOf(running);
    expect(log).toHaveLength(5);
    expect(log[1]).toMatch(/^127\.0\.0\.1 - - \[.+\] "POST \/to-do\.html HTTP\/1\.1" 206 \d+ "-" "-"$/);
  });
});

describe("examples/config/several-hosts", () => {
  it("has files and options for each host, and one log for all", async () => {
    const running = await start("several-hosts");
    const { ask, place } = running;
    const site = await ask("www.localhost", "GET", "/");
    expect([site.status, site.headers["server"]]).toEqual([200, "Filement example"]);
    expect((await ask("localhost", "GET", "/")).text).toBe(site.text);
    expect((await ask("localhost", "GET", "/metrics")).text).toContain(
      'http_requests_total{method="GET",status="200"} 2',
    );

    expect((await ask("library.localhost", "GET", "/poems/")).text).toContain("evening.poem");
    const poem = await ask("library.localhost", "GET", "/poems/evening.poem");
    expect([poem.status, poem.headers["content-type"], poem.headers["x-ratelimit-limit"]]).toEqual([
      200,
      "text/plain; charset=utf-8",
      "100",
    ]);

    expect((await ask("inbox.localhost", "PUT", "/a.html", { body: "<script>1</script>" })).status).toBe(201);
    expect(await readFile(join(place, "inbox/a.html"), "utf8")).toBe("<script>1</script>");
    const sent = await ask("inbox.localhost", "GET", "/a.html");
    expect(sent.headers["content-security-policy"]).toContain("sandbox");
    expect((await ask("inbox.localhost", "GET", "/")).status).toBe(403);
    expect((await ask("inbox.localhost", "PUT", "/b", { body: Buffer.alloc(1024 * 1024 + 1) })).status).toBe(413);
    expect((await ask("inbox.localhost", "GET", "/read-me.txt")).status).toBe(200);
    expect((await ask("inbox.localhost", "GET", "/health")).status).toBe(200);
    expect((await ask("inbox.localhost", "GET", "/read-me.txt")).status).toBe(200);
    expect((await ask("inbox.localhost", "GET", "/read-me.txt")).status).toBe(429);
    expect((await ask("elsewhere.localhost", "GET", "/")).status).toBe(421);

    const entries = (await logOf(running)).map((line) => JSON.parse(line));
    // Sorted, as a refused upload is over only when the rest of it has been drained.
    expect(entries.map(({ host, status }) => `${host} ${status}`).sort()).toEqual([
      "inbox.localhost 200",
      "inbox.localhost 200",
      "inbox.localhost 200",
      "inbox.localhost 200",
      "inbox.localhost 201",
      "inbox.localhost 403",
      "inbox.localhost 413",
      "inbox.localhost 429",
      "library.localhost 200",
      "library.localhost 200",
      "localhost 200",
      "localhost 200",
      "www.localhost 200",
    ]);
  });
});

describe("examples/config/limits-and-authentication", () => {
  it("lets everybody read, those write who may, administrators see its numbers, and operators what it refuses", async () => {
    const { ask, waitFor } = await start("limits-and-authentication", "-v");
    const article = "/articles/lighthouse.html";
    const titled = { range: "selector=h1" };
    const put = (path: string, who: Readonly<Record<string, string>>): Promise<Answer> =>
      ask("localhost", "PUT", path, { headers: { ...titled, ...who }, body: "<h1>New</h1>" });
    expect((await ask("localhost", "GET", "/")).status).toBe(200);
    expect((await ask("localhost", "GET", article, { headers: titled })).text).toBe("<h1>A week in a lighthouse</h1>");
    const unknown = await put(article, {});
    expect([unknown.status, unknown.headers["www-authenticate"]]).toEqual([
      401,
      'Basic realm="Magazine", charset="UTF-8"',
    ]);
    expect((await put(article, { authorization: "Basic YWRhOm5v" })).status).toBe(401);
    expect((await put(article, as("linus"))).status).toBe(403);
    expect((await put(article, as("grace"))).status).toBe(206);
    expect((await put("/people/ada/index.html", as("grace"))).status).toBe(403);
    expect((await put("/people/ada/index.html", as("ada"))).status).toBe(206);
    expect((await ask("localhost", "PUT", "/people/linus/a.txt", { headers: as("linus"), body: "a" })).status).toBe(
      201,
    );

    // Its numbers are for administrators only.
    const statuses: number[] = [];
    for (const headers of [{}, as("linus"), as("grace"), as("ada")]) {
      statuses.push((await ask("localhost", "GET", "/metrics", { headers })).status);
    }
    expect(statuses).toEqual([401, 403, 403, 200]);

    // With -v, it says which requests it refuses, by whom and until when.
    for (let n = 0; n < 4; n += 1) await ask("localhost", "GET", "/letters/", { headers: as("linus") });
    const [refusal] = await waitFor(/^.*rate limit: refused \{"key":"user:linus".*$/m, "stderr");
    expect(refusal).toMatch(/info: rate limit: refused \{"key":"user:linus","retryAfterSeconds":\d+,/);
  });

  it("limits letters by user, everything by address, and logs what it refuses", { tags: ["campaign"] }, async () => {
    const running = await start("limits-and-authentication");
    const { ask } = running;
    const first = await ask("localhost", "GET", "/");
    expect(first.headers["x-ratelimit-limit"]).toBe("40");
    const statuses: number[] = [];
    for (const [n, name] of ["linus", "linus", "linus", "linus", "grace"].entries()) {
      const more = { headers: as(name), body: "Dear editors" };
      statuses.push((await ask("localhost", "PUT", `/letters/${name}-${n}.txt`, more)).status);
    }
    expect(statuses).toEqual([201, 201, 201, 429, 403]);
    const log = await logOf(running);
    expect(log.filter((line) => line.includes(" linus "))).toHaveLength(4);
    expect(log.filter((line) => line.includes('" 429 '))).toHaveLength(1);
  });
});

describe("the examples of configurations", () => {
  it("are all tested here", async () => {
    expect((await readdir(join(examples, "config"))).sort()).toEqual(names);
  });
});

describe("in a browser", { tags: ["chromium"] }, () => {
  let page: Page;

  beforeAll(async () => {
    page = await (await sharedChromium()).newPage();
    page.setDefaultTimeout(pageTimeout);
    return () => page.close();
  });

  const open = async (name: string): Promise<void> => {
    await page.setViewportSize({ width: 1200, height: 800 });
    await page.goto(pathToFileURL(join(examples, "config", name)).href);
  };

  it.each(sample(pages, 2))(
    "%s shows all of its headings, tables and values without a complaint, fits on a telephone, and can be dark",
    async (name) => {
      const said: string[] = [];
      page.on("console", (message) => said.push(message.text()));
      page.on("pageerror", (error) => said.push(error.message));
      page.on("requestfailed", (request) => said.push(`${request.url()} failed`));
      onTestFinished(() => void page.removeAllListeners());
      await open(name);
      expect(await page.locator("h1:visible").count()).toBe(1);
      const [headings, tables] = [page.locator("h2"), page.locator("table")];
      expect(await headings.count()).toBeGreaterThan(0);
      expect(await page.locator("h2:visible").count()).toBe(await headings.count());
      expect(await tables.count()).toBeGreaterThan(0);
      expect(await page.locator("table:visible").count()).toBe(await tables.count());
      // What configures the server is what the reader sees: no value is hidden in a `meta`.
      const values = page.locator("[itemprop]:not([itemscope])");
      expect(await page.locator("[itemprop]:not([itemscope]):visible").count()).toBe(await values.count());
      expect(said).toEqual([]);
      await expectDarkForThoseWhoLikeIt();
      await page.setViewportSize({ width: 360, height: 800 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    },
  );

  const expectDarkForThoseWhoLikeIt = async (): Promise<void> => {
    const brightness = (): Promise<number[]> =>
      page.evaluate(() => {
        const { backgroundColor, color } = getComputedStyle(document.body);
        return [backgroundColor, color].map((text) => Number(/\d+/.exec(text)?.[0]));
      });
    await page.emulateMedia({ colorScheme: "light" });
    const [lightPaper = 0, darkInk = 255] = await brightness();
    expect(lightPaper - darkInk).toBeGreaterThan(150);
    await page.emulateMedia({ colorScheme: "dark" });
    const [darkPaper = 255, lightInk = 0] = await brightness();
    expect(lightInk - darkPaper).toBeGreaterThan(150);
  };
});
