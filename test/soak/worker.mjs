import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WebSocket } from "ws";
import { answerTo, Client } from "./client.mjs";
import { Random } from "./random.mjs";

/**
 * @typedef {import("./client.mjs").Answer} Answer
 * @typedef {import("./client.mjs").Sending} Sending
 * @typedef {{ body: Buffer, etag?: string | undefined }} KnownFile
 */

/** What all workers read, by path; `prepare` in `run.mjs` puts it on the disk. */
export const bigFile = Buffer.alloc(4 * 1024 ** 2, "a line of the big file\n");
export const secretsPage = '<!doctype html><p class="open">open</p><p class="secret">secret</p>';

/** More than the steps that `server.mjs` allows. */
const costlyPage = "<b><i><u><s><em><code><p>".repeat(4_000);

/** @param {readonly { user: string, shared: number }[]} workers */
export const sharedPage = (workers) =>
  `<!doctype html>${workers.map(({ user, shared }) => `<p id="${user}">${shared}</p>`).join("")}`;

/** Milliseconds after which an event counts as lost. */
const eventPatience = 60_000;

/**
 * A user who works in a directory of its own, and in its own element of the shared page. It makes one request after the
 * other and knows what each answer must be.
 */
export class Worker {
  /** What was wrong, one line each. @type {string[]} */
  wrong = [];
  /** The files of the directory. @type {Map<string, KnownFile>} */
  files = new Map();
  /** The items of `page.html`. @type {{ id: number, text: string }[]} */
  items = [];
  /** What stands in the element of the shared page. */
  shared = 0;
  #steps = 0;

  /** @param {{ port: number, root: string, user: string, password: string, seed: number }} options */
  constructor({ port, root, user, password, seed }) {
    this.client = new Client(port, user, password);
    this.random = new Random(seed);
    this.user = user;
    this.directory = join(root, user);
  }

  page() {
    return `<!doctype html>\n<title>${this.user}</title>\n${this.list()}\n`;
  }

  list() {
    return `<ul>${this.items.map(item).join("")}</ul>`;
  }

  /** Makes so many steps, each of one request or a few. @param {number} count */
  async work(count) {
    for (let step = 0; step < count; step += 1) {
      this.#steps += 1;
      const name = this.random.oneOf(stepNames);
      try {
        await steps[name]?.(this, this.random);
      } catch (error) {
        this.note(name, error instanceof Error ? `${error.name}: ${error.message}` : String(error));
      }
    }
    this.client.rest();
  }

  /** @param {string} what @param {string} found */
  note(what, found) {
    this.wrong.push(`${this.user}, step ${this.#steps}, ${what}: ${found}`);
  }

  /** Compares what came with what had to come. @param {string} what @param {unknown} found @param {unknown} expected */
  expect(what, found, expected) {
    const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
    if (one !== other) this.note(what, `${one?.slice(0, 200)} instead of ${other?.slice(0, 200)}`);
  }

  /**
   * Sends, and judges status and, where given, the content.
   *
   * @param {string} method
   * @param {string} path
   * @param {Sending} sending
   * @param {number} status
   * @param {Buffer | string} [content]
   */
  async ask(method, path, sending, status, content) {
    const answer = await this.client.send(method, path, sending);
    const what = `${method} ${path} ${JSON.stringify(sending.headers ?? {})}`;
    this.expect(what, answer.status, status);
    if (content !== undefined && !answer.body.equals(Buffer.from(content))) {
      this.note(
        what,
        `${answer.body.length} other bytes instead of ${content.length}: ${answer.body.subarray(0, 100)}`,
      );
    }
    return answer;
  }

  /** A name, its path, and what is known about the file. */
  anyFile() {
    const name = `f${this.random.below(12)}.txt`;
    return { name, path: `/${this.user}/${name}`, known: this.files.get(name) };
  }

  /** Some content: mostly small, sometimes beyond what is kept in memory. */
  content() {
    const size = this.random.below(this.random.oneOf([200, 2000, 2000, 30_000, 300_000]));
    return Buffer.alloc(size, `${this.user} ${this.#steps} `);
  }

  /** A change with an id of its own, by which its event is known. @param {string} id */
  async announced(id) {
    const { name, path, known } = this.anyFile();
    const body = Buffer.from(id);
    const { headers } = await this.ask("PUT", path, { body, headers: { "x-request-id": id } }, known ? 200 : 201);
    this.files.set(name, { body, etag: headers.etag });
    return { path, kind: known ? "replaced" : "created" };
  }

  requestId() {
    return `${this.user}-${this.#steps}`;
  }
}

/** @param {{ id: number, text: string }} item */
const item = ({ id, text }) => `<li id="i${id}">${text}</li>`;
/** @param {string} selector */
const elements = (selector) => ({ range: `selector=${selector}` });
/** @param {Answer} answer */
const codeOf = ({ body }) => JSON.parse(body.toString()).code;

/** @type {Readonly<Record<string, (worker: Worker, random: Random) => Promise<void>>>} */
const steps = {
  async put(worker) {
    const { name, path, known } = worker.anyFile();
    const body = worker.content();
    const answer = await worker.ask("PUT", path, { body }, known ? 200 : 201);
    const { size, etag } = JSON.parse(answer.body.toString());
    worker.expect(`size of PUT ${path}`, size, body.length);
    worker.expect(`tag of PUT ${path}`, etag, answer.headers.etag);
    worker.files.set(name, { body, etag });
  },
  async get(worker) {
    const { path, known } = worker.anyFile();
    const { headers } = await worker.ask("GET", path, {}, known ? 200 : 404, known?.body);
    if (!known) return;
    worker.expect(`tag of GET ${path}`, headers.etag, known.etag ?? headers.etag);
    known.etag = headers.etag;
  },
  async head(worker) {
    const { path, known } = worker.anyFile();
    const { headers } = await worker.ask("HEAD", path, {}, known ? 200 : 404, "");
    if (known) worker.expect(`length of HEAD ${path}`, headers["content-length"], String(known.body.length));
  },
  async revalidate(worker) {
    const { path, known } = worker.anyFile();
    if (!known?.etag) return;
    await worker.ask("GET", path, { headers: { "if-none-match": known.etag } }, 304, "");
    await worker.ask("GET", path, { headers: { "if-none-match": '"other"' } }, 200, known.body);
  },
  async range(worker, random) {
    const { path, known } = worker.anyFile();
    if (!known || known.body.length === 0) return;
    const { body } = known;
    const start = random.below(body.length);
    const end = start + random.below(body.length - start);
    const headers = { range: `bytes=${start}-${end}` };
    await worker.ask("GET", path, { headers }, 206, body.subarray(start, end + 1));
    await worker.ask("GET", path, { headers: { range: `bytes=${body.length}-` } }, 416);
  },
  async append(worker) {
    const { name, path, known } = worker.anyFile();
    const more = Buffer.from(`more ${worker.requestId()}\n`);
    const { headers } = await worker.ask("POST", path, { body: more }, known ? 200 : 404);
    if (known) worker.files.set(name, { body: Buffer.concat([known.body, more]), etag: headers.etag });
  },
  async delete(worker) {
    const { name, path, known } = worker.anyFile();
    await worker.ask("DELETE", path, {}, known ? 204 : 404);
    worker.files.delete(name);
  },
  async conditions(worker) {
    const { path, known } = worker.anyFile();
    await worker.ask("PUT", path, { headers: { "if-match": '"other"' }, body: "x" }, 412);
    if (known) await worker.ask("PUT", path, { headers: { "if-none-match": "*" }, body: "x" }, 412);
  },
  async options(worker) {
    const { headers } = await worker.ask("OPTIONS", `/${worker.user}/page.html`, {}, 200, "");
    worker.expect("OPTIONS of a page", headers["accept-ranges"], "selector, bytes");
    const other = await worker.ask("OPTIONS", "/big.txt", {}, 200, "");
    worker.expect("OPTIONS of what one may only read", other.headers.allow, "GET, HEAD, COPY, OPTIONS");
  },
  async list(worker, random) {
    /** @type {string[]} */
    const names = [];
    const limit = 1 + random.below(8);
    for (let path = `/${worker.user}/?limit=${limit}`; path !== ""; ) {
      const { body } = await worker.ask("GET", path, { headers: { accept: "application/json" } }, 200);
      const { entries, next } = JSON.parse(body.toString());
      for (const { name } of entries) names.push(name);
      path = next ? `/${worker.user}/${next}` : "";
    }
    worker.expect("listing", names.sort(), [...worker.files.keys(), "page.html"].sort());
  },
  async createInDirectory(worker) {
    const { name, known } = worker.anyFile();
    const body = worker.content();
    const sending = { headers: { "x-filename": name }, body };
    const { headers } = await worker.ask("POST", `/${worker.user}/`, sending, known ? 409 : 201);
    if (!known) worker.files.set(name, { body, etag: headers.etag });
  },
  async directories(worker) {
    const path = `/${worker.user}/new/deep/`;
    await worker.ask("PUT", `${path}a.txt`, { body: "a" }, 201);
    await worker.ask("DELETE", path, {}, 409);
    await worker.ask("DELETE", `${path}a.txt`, {}, 204);
    await worker.ask("DELETE", path, {}, 204);
    await worker.ask("DELETE", `/${worker.user}/new/`, {}, 204);
  },
  async page(worker) {
    const { headers } = await worker.ask("GET", `/${worker.user}/page.html`, {}, 200, worker.page());
    worker.expect("sandbox of a page", headers["content-security-policy"]?.includes("sandbox"), true);
  },
  async getElement(worker, random) {
    const place = random.below(20);
    const found = worker.items[place];
    const headers = elements(`li:nth-child(${place + 1})`);
    await worker.ask("GET", `/${worker.user}/page.html`, { headers }, found ? 206 : 204, found ? item(found) : "");
  },
  async appendElement(worker) {
    if (worker.items.length > 15) return;
    const added = { id: worker.client.requests, text: worker.requestId() };
    worker.items.push(added);
    const sending = { headers: elements("ul"), body: item(added) };
    await worker.ask("POST", `/${worker.user}/page.html`, sending, 206, worker.list());
  },
  async replaceElement(worker, random) {
    const found = worker.items[random.below(20)];
    if (!found) return;
    found.text = `replaced by ${worker.requestId()}`;
    const sending = { headers: elements(`#i${found.id}`), body: item(found) };
    await worker.ask("PUT", `/${worker.user}/page.html`, sending, 206, item(found));
  },
  async deleteElement(worker, random) {
    const [removed] = worker.items.splice(random.below(20), 1);
    const headers = elements(`#i${removed?.id ?? "-none"}`);
    const answer = await worker.ask("DELETE", `/${worker.user}/page.html`, { headers }, 204, "");
    worker.expect("matches of DELETE", answer.headers["x-selector-matches"], removed ? "1" : "0");
  },
  async sharedElement(worker) {
    const headers = elements(`#${worker.user}`);
    await worker.ask("GET", "/shared.html", { headers }, 206, `<p id="${worker.user}">${worker.shared}</p>`);
    worker.shared += 1;
    const body = `<p id="${worker.user}">${worker.shared}</p>`;
    await worker.ask("PUT", "/shared.html", { headers, body }, 206, body);
  },
  async badRequests(worker, random) {
    const selector = random.oneOf(["li:contains(a)", "li[", "ul >", ":nope"]);
    const answer = await worker.ask("GET", `/${worker.user}/page.html`, { headers: elements(selector) }, 400);
    worker.expect(`code of ${selector}`, codeOf(answer), "INVALID_SELECTOR");
    const fragment = { headers: elements("ul"), body: "<b>" };
    worker.expect(
      "code of <b>",
      codeOf(await worker.ask("PUT", `/${worker.user}/page.html`, fragment, 400)),
      "INVALID_HTML",
    );
    await worker.ask("GET", "/a%2Fb", {}, 400);
    await worker.ask("PATCH", `/${worker.user}/page.html`, {}, 415);
  },
  async strangers(worker) {
    const wrongPassword = { authorization: `Basic ${btoa(`${worker.user}:wrong`)}` };
    await worker.ask("GET", "/big.txt", { headers: wrongPassword }, 401);
    await worker.ask("PUT", "/nobody/a.txt", { body: "x" }, 403);
    await worker.ask("GET", "/secrets.html", { headers: elements(".open") }, 206, '<p class="open">open</p>');
    await worker.ask("GET", "/secrets.html", { headers: elements(".secret") }, 403);
  },
  async refusedPage(worker) {
    const path = `/${worker.user}/costly-${worker.requestId()}.html`; // a new one each time: refusals are remembered by path
    await worker.ask("PUT", path, { body: costlyPage }, 201);
    for (let time = 0; time < 2; time += 1) {
      const answer = await worker.ask("GET", path, { headers: elements("p") }, 422);
      worker.expect("code of a costly page", codeOf(answer), "DOCUMENT_TOO_COSTLY");
    }
    await worker.ask("DELETE", path, {}, 204);
  },
  async deepPath(worker) {
    const path = `/${worker.user}${"/d".repeat(1900)}`;
    await worker.ask("GET", path, {}, 404);
    await worker.ask("OPTIONS", path, {}, 200, "");
    await worker.ask("PUT", path, { body: "x" }, 400);
  },
  async largeBody(worker) {
    const path = `/${worker.user}/large.html`;
    await worker.ask("PUT", path, { body: "<p>a</p>" }, 201);
    const body = `<p>${`<b>${worker.requestId()}</b>`.repeat(10_000)}</p>`;
    await worker.ask("PUT", path, { headers: elements("p"), body }, 206, body);
    await worker.ask("DELETE", path, {}, 204);
  },
  async services(worker) {
    const health = await worker.ask("GET", "/health", {}, 200);
    worker.expect("health", JSON.parse(health.body.toString()).status, "healthy");
    const { body } = await worker.ask("GET", "/metrics", {}, 200);
    worker.expect("metrics", body.includes('http_requests_total{method="GET",status="200"}'), true);
    await worker.ask("GET", "/.well-known/filement/client.js", {}, 200);
  },
  async otherProgram(worker) {
    const { name, path } = worker.anyFile();
    const body = worker.content();
    await writeFile(join(worker.directory, name), body);
    const { headers } = await worker.ask("GET", path, {}, 200, body);
    worker.files.set(name, { body, etag: headers.etag });
  },
  async abortedRead(worker) {
    const sent = worker.client.begin("GET", "/big.txt");
    sent.end();
    const [response] = await once(sent, "response");
    await once(response, "data");
    response.destroy();
  },
  async slowRead(worker) {
    const sent = worker.client.begin("GET", "/big.txt");
    sent.once("response", (response) => {
      response.on("data", () => {
        response.pause();
        setTimeout(() => response.resume(), 2);
      });
    });
    sent.end();
    const { body } = await answerTo(sent);
    worker.expect("big file, read slowly", body.equals(bigFile), true);
  },
  async cutUpload(worker, random) {
    const { path } = worker.anyFile();
    const sent = worker.client.begin(random.oneOf(["PUT", "POST"]), path, { "content-length": "5000" });
    sent.on("error", () => {}); // the connection that is cut here
    await new Promise((written) => sent.write("cut off", written));
    sent.destroy();
    await steps["get"]?.(worker, random);
  },
  async tooLarge(worker) {
    const { path } = worker.anyFile();
    const sent = worker.client.begin("PUT", path, { "content-length": String(1024 ** 2) });
    sent.flushHeaders();
    const { status } = await answerTo(sent);
    worker.expect("too large a PUT", status, 413);
    sent.on("error", () => {}); // the rest that is not sent
    sent.destroy();
  },
  async webSocket(worker, random) {
    const { port, authorization } = worker.client;
    const id = worker.requestId();
    worker.client.requests += 1;
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws?path=/${worker.user}/`, { headers: { authorization } });
    await once(socket, "open");
    const heard = new Promise((resolve, reject) => {
      const lost = setTimeout(() => reject(new Error("no message about the change")), eventPatience);
      socket.on("message", (data) => {
        const { requestId, path, kind } = JSON.parse(data.toString());
        if (requestId !== id) return;
        clearTimeout(lost);
        resolve({ path, kind });
      });
    });
    const [found, change] = await Promise.all([heard, worker.announced(id)]);
    worker.expect("message", found, change);
    if (random.below(2) === 0) socket.terminate();
    else socket.close();
    await once(socket, "close");
  },
  async eventStream(worker) {
    const id = worker.requestId();
    const sent = worker.client.begin("GET", `/events?path=/${worker.user}/`);
    sent.end();
    const [response] = await once(sent, "response");
    const heard = new Promise((resolve, reject) => {
      const lost = setTimeout(() => reject(new Error("no event about the change")), eventPatience);
      let text = "";
      response.setEncoding("utf8").on("data", (/** @type {string} */ more) => {
        text += more;
        if (!text.includes(`"requestId":"${id}"`)) return;
        clearTimeout(lost);
        resolve(true);
      });
    });
    await Promise.all([heard, worker.announced(id)]);
    response.destroy();
  },
};

/** Their share of the load: each name as often as it is drawn. @type {[string, ...string[]]} */
const stepNames = [
  "get",
  ...Object.keys(steps),
  "get",
  "put",
  "append",
  "getElement",
  "replaceElement",
  "appendElement",
];
