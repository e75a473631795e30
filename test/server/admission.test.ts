import { Buffer } from "node:buffer";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BodyBudget, Places, refuseEncodedContent, unavailable } from "../../src/server/admission.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

it.each([
  ["CLOSING", "5"],
  ["MAINTENANCE", "60"],
  ["OVERLOADED", "1"],
] as const)("an outage is a 503 with a code and the time to come back: %s", (code, seconds) => {
  expect(unavailable(code)).toMatchObject({ status: 503, code, headers: { "retry-after": seconds } });
});

const overloaded = expect.objectContaining({ status: 503, code: "OVERLOADED" });

describe("places", () => {
  it("leave half of them to other addresses", () => {
    const places = new Places(4);
    places.take("192.0.2.1");
    places.take("192.0.2.1");
    expect(() => places.take("192.0.2.1")).toThrow(overloaded);
    places.take("192.0.2.2");
    places.take("192.0.2.3");
    expect(() => places.take("192.0.2.4")).toThrow(overloaded);
  });

  it("are free again once they are given back, however often that is said", () => {
    const places = new Places(2, 1);
    const giveBack = places.take("192.0.2.1");
    places.take("192.0.2.2");
    giveBack();
    giveBack();
    places.take("192.0.2.1");
    expect(() => places.take("192.0.2.3")).toThrow(overloaded);
  });

  it("count the addresses of one IPv6 network as one", () => {
    const places = new Places(10, 1);
    places.take("2001:db8::1");
    expect(() => places.take("2001:db8::2")).toThrow(overloaded);
    places.take("2001:db8:0:1::1");
  });
});

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

const tooMuchContent = { status: 503, code: "OVERLOADED", headers: { "retry-after": "2" } };

describe("BodyBudget", () => {
  it("gives the content of requests while all together hold no more than allowed, until they are over", async () => {
    const budget = new BodyBudget(100);
    const [first, second, third] = [request(), request(), request()];
    const read = budget.read(first.exchange, 1000);
    first.send(40);
    first.send(20);
    first.finish();
    expect((await read).byteLength).toBe(60);

    second.send(50);
    await expect(budget.read(second.exchange, 1000)).rejects.toMatchObject(tooMuchContent);
    second.end();
    first.end();
    third.send(90);
    third.finish();
    expect((await budget.read(third.exchange, 1000)).byteLength).toBe(90);
  });

  it("refuses by Content-Length before anything is read", async () => {
    const budget = new BodyBudget(100);
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
    await expect(held(1, "2001:db8::3")).rejects.toMatchObject(tooMuchContent);
    await expect(budget.read(request(1, "2001:db8::3").exchange, 1000)).rejects.toMatchObject(tooMuchContent);
    expect(await held(50, "192.0.2.2")).toBe(50);
  });

  it("lets a request alone have all that one may have, and no more", async () => {
    const budget = new BodyBudget(100);
    const large = request(500);
    large.send(500);
    large.finish();
    expect((await budget.read(large.exchange, 500)).byteLength).toBe(500);
    large.end();
    const tooLarge = request();
    tooLarge.send(501);
    await expect(budget.read(tooLarge.exchange, 500)).rejects.toMatchObject({ status: 413 });
  });
});

describe("encoded content", () => {
  it.each([{}, { "content-encoding": "identity" }, { "content-encoding": " IDENTITY " }])(
    "passes with %o",
    (headers) => {
      expect(() => refuseEncodedContent(headers)).not.toThrow();
    },
  );

  it.each(["gzip", "", "identity, gzip"])("is refused as %j", (coding) => {
    expect(() => refuseEncodedContent({ "content-encoding": coding })).toThrow(
      expect.objectContaining({
        status: 415,
        code: "UNSUPPORTED_ENCODING",
        headers: { "accept-encoding": "identity" },
      }),
    );
  });
});

describe("a server", () => {
  it("answers 503 to a body that finds no room beside those that are being sent", async () => {
    const root = await temporaryDirectory();
    await writeFile(join(root, "page.html"), "<p>old</p>");
    const { port, url } = await serve({ root, elementBodyMemory: 1000 });
    const slow = connect(port, "127.0.0.1");
    const head = "PUT /page.html HTTP/1.1\r\nHost: localhost\r\nRange: selector=p\r\nContent-Length: 900\r\n";
    slow.write(`${head}Expect: 100-continue\r\n\r\n`);
    await once(slow, "data"); // it is about to be read
    slow.write(`<p>${"a".repeat(800)}`);
    const put = (): Promise<Response> =>
      fetch(`${url}/page.html`, { method: "PUT", headers: { range: "selector=p" }, body: `<p>${"b".repeat(500)}</p>` });
    let refused = await put();
    while (refused.status === 206) refused = await put(); // until the 800 bytes are there
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
    slow.destroy();
    let answer = await put();
    while (answer.status === 503) answer = await put(); // until the server has noticed
    expect(answer.status).toBe(206);
  });
});
