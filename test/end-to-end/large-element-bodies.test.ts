import { EventEmitter, once } from "node:events";
import { readFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { isCampaign } from "../helpers/effort.ts";
import { runNode } from "../helpers/run-node.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const mebi = 1024 * 1024;
/** What the suite takes is a small one of what a campaign does, which is the load that once let no client through. */
const load = isCampaign
  ? { bodyBytes: 15 * mebi, elementBodyMemory: 64 * mebi, heapMebi: 256 }
  : { bodyBytes: mebi / 2, elementBodyMemory: 2 * mebi, heapMebi: 64 };
const clientCount = 25;

const server = `
import { createServer } from "node:http";
import { createFileServer } from "./dist/index.js";
const [root, elementBodyMemory] = process.argv.slice(1);
const files = createFileServer({ root, elementBodyMemory: Number(elementBodyMemory) });
await files.ready();
const server = createServer();
files.attach(server);
server.listen(0, "127.0.0.1", () => console.log(\`port \${server.address().port}\`));
`;

/** Asks to send content; sends it when it is told to go on. */
async function put(port: number, body: Buffer): Promise<{ status: number | undefined; text: string; sent: number }> {
  const headers = { range: "selector=p", expect: "100-continue", "content-length": body.length };
  const sending = request({ port, host: "127.0.0.1", path: "/page.html", method: "PUT", headers });
  let sent = 0;
  sending.once("continue", () => {
    sent = body.length;
    sending.end(body);
  });
  sending.flushHeaders();
  const [answer]: [IncomingMessage] = (await once(sending, "response")) as [IncomingMessage];
  const answered = await text(answer);
  sending.destroy();
  return { status: answer.statusCode, text: answered, sent };
}

it("gets all clients through that send large contents at once, none of which is sent in vain", async () => {
  const root = await temporaryDirectory({ "page.html": "<!doctype html><p>old</p>" });
  const { bodyBytes, elementBodyMemory, heapMebi } = load;
  const arguments_ = [`--max-old-space-size=${heapMebi}`, "--input-type=module", "-e", server];
  const process = runNode([...arguments_, root, String(elementBodyMemory)]);
  const port = Number((await process.waitFor(/port (\d+)/))[1]);

  let refused = 0;
  let inVain = 0;
  let through = 0;
  const ends = new EventEmitter();
  ends.setMaxListeners(clientCount);
  const client = async (index: number): Promise<void> => {
    const letter = String.fromCharCode(97 + index);
    const body = Buffer.from(`<p>${letter.repeat(bodyBytes - 7)}</p>`);
    for (;;) {
      const before = through;
      const { status, text, sent } = await put(port, body);
      if (status === 206) {
        through += 1;
        return void ends.emit("one");
      }
      expect([status, text]).toEqual([503, expect.stringContaining("OVERLOADED")]);
      refused += 1;
      inVain += sent;
      if (through === before) await once(ends, "one"); // no clock: another one has made room
    }
  };
  await Promise.all(Array.from({ length: clientCount }, (_, index) => client(index)));
  expect([refused > 0, inVain]).toEqual([true, 0]);
  const [, page = ""] = (await readFile(join(root, "page.html"), "latin1")).split("<!doctype html>");
  expect(page === `<p>${(page[3] ?? "").repeat(bodyBytes - 7)}</p>`).toBe(true);
  process.kill("SIGTERM");
  await process.ended;
});
