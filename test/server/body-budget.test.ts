import { Buffer } from "node:buffer";
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BodyBudget } from "../../src/server/body-budget.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

/** A request whose content comes when it is sent, and which is over when it is ended. */
function request(announced?: number, address = "192.0.2.1") {
  const releases: (() => unknown)[] = [];
  const pieces: Uint8Array[] = [];
  let wake = (): void => {};
  let isSent = false;
  async function* content(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = pieces.shift();
      if (piece) yield piece;
      else if (isSent) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  const send = (size: number): void => {
    pieces.push(Buffer.alloc(size));
    wake();
  };
  const finish = (): void => {
    isSent = true;
    wake();
  };
  const end = (): void => {
    for (const release of releases) release();
  };
  const headers = announced === undefined ? {} : { "content-length": String(announced) };
  const defer = (release: () => unknown): unknown => releases.push(release);
  const exchange = { headers, body: content(), address, defer } as never;
  return { exchange, send, finish, end };
}

const retryAfter = expect.stringMatching(/^[1-8]$/);
const tooMuchContent = { status: 503, code: "OVERLOADED", headers: { "retry-after": retryAfter } };

describe("BodyBudget", () => {
  it("gives the content of requests while all together hold no more than allowed, until they are over", async () => {
    const budget = new BodyBudget(120);
    const [first, second, third] = [request(), request(), request()];
    const read = budget.read(first.exchange, 1000);
    first.send(40);
    first.send(20);
    first.finish();
    expect((await read).byteLength).toBe(60);

    second.send(50);
    second.finish();
    const waiting = budget.read(second.exchange, 1000);
    await expect(budget.read(request(21).exchange, 1000)).rejects.toMatchObject(tooMuchContent);
    first.end();
    expect((await waiting).byteLength).toBe(50);
    second.end();
    third.send(60);
    third.finish();
    expect((await budget.read(third.exchange, 1000)).byteLength).toBe(60);
  });

  it("judges thousands of requests beside thousands of others, each without a look at all of them", async () => {
    const budget = new BodyBudget(64 * 1024 * 1024);
    for (let count = 0; count < 5_000; count += 1) void budget.read(request(6_500).exchange, 10_000);
    for (let count = 0; count < 5_000; count += 1) {
      await expect(budget.read(request(1_100_000).exchange, 2_000_000)).rejects.toThrow("Too many elements");
    }
  });

  it("refuses by Content-Length before anything is read", async () => {
    const budget = new BodyBudget(200);
    const first = request();
    const read = budget.read(first.exchange, 1000);
    first.send(10);
    first.finish();
    await read;
    await expect(budget.read(request(91).exchange, 1000)).rejects.toMatchObject(tooMuchContent);
    const small = request(90, "192.0.2.2");
    small.send(90);
    small.finish();
    expect((await budget.read(small.exchange, 1000)).byteLength).toBe(90);
  });

  it("leaves half of it to other addresses", async () => {
    const budget = new BodyBudget(100);
    const held = async (size: number, address: string): Promise<number> => {
      const one = request(undefined, address);
      one.send(size);
      one.finish();
      return (await budget.read(one.exchange, 1000)).byteLength;
    };
    expect(await held(30, "2001:db8::1")).toBe(30);
    expect(await held(20, "2001:db8::2")).toBe(20);
    await expect(budget.read(request(1, "2001:db8::3").exchange, 1000)).rejects.toMatchObject(tooMuchContent);
    expect(await held(50, "192.0.2.2")).toBe(50);
  });

  it("lets a request alone have the share of its address, and no more", async () => {
    const budget = new BodyBudget(100);
    const large = request(50);
    large.send(50);
    large.finish();
    expect((await budget.read(large.exchange, 500)).byteLength).toBe(50);
    large.end();
    const tooLarge = request();
    tooLarge.send(51);
    await expect(budget.read(tooLarge.exchange, 500)).rejects.toMatchObject({ status: 413 });
    await expect(budget.read(request(51).exchange, 500)).rejects.toMatchObject({ status: 413 });
    await expect(budget.read(request(41).exchange, 40)).rejects.toMatchObject({ status: 413 });
  });

  it("keeps the room that Content-Length asks for, before anything has come", async () => {
    const budget = new BodyBudget(100);
    const first = request(50);
    const read = budget.read(first.exchange, 1000);
    void budget.read(request(40, "192.0.2.2").exchange, 1000);
    await expect(budget.read(request(11, "192.0.2.3").exchange, 1000)).rejects.toMatchObject(tooMuchContent);
    for (let i = 0; i < 50; i += 1) first.send(1);
    first.finish();
    expect((await read).byteLength).toBe(50);
  });

  it("has content of unknown length wait for room, and one go on where all would wait", async () => {
    const budget = new BodyBudget(160);
    const [first, second] = [request(), request()];
    const reads = [budget.read(first.exchange, 80), budget.read(second.exchange, 80)];
    for (const each of [first, second]) each.send(40);
    for (const each of [first, second]) each.send(40);
    for (const each of [first, second]) each.finish();
    const done = await Promise.race(reads.map(async (read, i) => [i, (await read).byteLength]));
    expect(done).toEqual([1, 80]); // the first one waited for the second, which then had nothing to wait for
    second.end();
    expect((await reads[0])?.byteLength).toBe(80);
  });

  it("spreads those who are refused over several seconds", async () => {
    const budget = new BodyBudget(100);
    void budget.read(request(50).exchange, 1000);
    const seconds = new Set<string>();
    for (let i = 0; i < 8; i += 1) {
      await budget.read(request(50).exchange, 1000).catch(({ headers }) => seconds.add(headers["retry-after"]));
    }
    expect([...seconds].sort()).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"]);
  });
});

describe("slow content", () => {
  const mebibyte = 1024 * 1024;
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  it("gives its room up to others", async () => {
    const budget = new BodyBudget(mebibyte);
    const slow = request(mebibyte / 2);
    const slowest = request(mebibyte / 2, "192.0.2.2");
    const refused = [slow, slowest].map((each) => budget.read(each.exchange, mebibyte));
    for (const each of [slow, slowest]) each.send(10_000);
    const put = async (): Promise<number> => {
      const other = request(mebibyte / 2, "192.0.2.3");
      other.send(mebibyte / 2);
      other.finish();
      const { byteLength } = await budget.read(other.exchange, mebibyte);
      other.end();
      return byteLength;
    };
    vi.advanceTimersByTime(5_000);
    await expect(put()).rejects.toMatchObject(tooMuchContent);
    vi.advanceTimersByTime(1_000);
    expect(await put()).toBe(mebibyte / 2);
    slow.send(1);
    await expect(refused[0]).rejects.toMatchObject(tooMuchContent);
    slowest.send(mebibyte / 2 - 10_000);
    slowest.finish();
    expect((await refused[1])?.byteLength).toBe(mebibyte / 2); // there was room enough
  });

  it("has all the time it takes while there is room", async () => {
    const budget = new BodyBudget(mebibyte);
    const slow = request(mebibyte / 2);
    const read = budget.read(slow.exchange, mebibyte);
    vi.advanceTimersByTime(3_600_000);
    slow.send(mebibyte / 2);
    slow.finish();
    expect((await read).byteLength).toBe(mebibyte / 2);
  });

  it("of one address has no others give their room up to it", async () => {
    const budget = new BodyBudget(mebibyte);
    const slow = request(mebibyte / 4);
    const read = budget.read(slow.exchange, mebibyte);
    void budget.read(request(mebibyte / 2, "192.0.2.2").exchange, mebibyte);
    vi.advanceTimersByTime(6_000);
    const fast = request(mebibyte / 4, "192.0.2.2");
    void budget.read(fast.exchange, mebibyte); // in place of its own slow one
    const large = budget.read(request(mebibyte / 2, "192.0.2.2").exchange, mebibyte);
    await expect(large).rejects.toMatchObject(tooMuchContent);
    slow.send(mebibyte / 4);
    slow.finish();
    expect((await read).byteLength).toBe(mebibyte / 4);
  });

  it("that has given its room up takes nothing from the share of its address when it is over", async () => {
    const budget = new BodyBudget(mebibyte);
    const begin = (size: number, address?: string): { end(): void } => {
      const one = request(size, address);
      void budget.read(one.exchange, mebibyte).catch(() => {});
      return one;
    };
    const [first, second] = [begin(mebibyte / 4), begin(mebibyte / 4)];
    vi.advanceTimersByTime(6_000);
    const [third, fourth] = [begin(mebibyte / 2, "192.0.2.2"), begin(mebibyte / 2, "192.0.2.3")];
    for (const each of [third, first]) each.end();
    begin(mebibyte / 2); // in the place of the third
    for (const each of [second, fourth]) each.end();
    await expect(budget.read(request(mebibyte / 2).exchange, mebibyte)).rejects.toMatchObject(tooMuchContent);
  });
});

describe("a server", () => {
  it("answers 503 to a body that finds no room beside those that are being sent", async () => {
    const root = await temporaryDirectory({ "page.html": "<p>old</p>" });
    const { port, url } = await serve({ root, elementBodyMemory: 1800 });
    const slow = connect(port, "127.0.0.1");
    const head = "PUT /page.html HTTP/1.1\r\nHost: localhost\r\nRange: selector=p\r\nContent-Length: 900\r\n";
    slow.write(`${head}Expect: 100-continue\r\n\r\n`);
    await once(slow, "data"); // it is about to be read
    slow.write(`<p>${"a".repeat(800)}`);
    const put = (): Promise<Response> =>
      fetch(`${url}/page.html`, { method: "PUT", headers: { range: "selector=p" }, body: `<p>${"b".repeat(500)}</p>` });
    let refused = await put();
    while (refused.status === 206) refused = await put(); // until the 800 bytes are there
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^[1-8]$/)]);
    slow.destroy();
    let answer = await put();
    while (answer.status === 503) answer = await put(); // until the server has noticed
    expect(answer.status).toBe(206);
  });
});
