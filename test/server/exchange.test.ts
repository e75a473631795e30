import { describe, expect, it, vi } from "vitest";
import { HttpError } from "../../src/http/http-error.ts";
import { type Change, ChangeFeed } from "../../src/server/change-feed.ts";
import { Exchange, type ExchangeInit, RequestBody } from "../../src/server/exchange.ts";

/** An exchange of a site that keeps what is reported and announced. */
function exchangeOf({ incoming = {}, ...init }: { incoming?: object } & Partial<Omit<ExchangeInit, "incoming">> = {}) {
  const reported: unknown[] = [];
  const changes: Change[] = [];
  const feed = new ChangeFeed(() => expect.unreachable());
  feed.subscribe((change) => changes.push(change));
  const exchange = new Exchange({
    incoming: {
      method: "PUT",
      url: "/docs/a.html?x=1",
      target: "/a.html?x=1",
      mount: "/docs",
      headers: { host: "example.com", "set-cookie": ["a=1", "b=2"], accept: "text/html", "x-request-id": "request-1" },
      peer: "10.0.0.1",
      encrypted: false,
      httpVersion: "1.1",
      isUpgrade: false,
      count: (field: string) => (field === "range" ? 2 : 0),
      content: () => [Buffer.from("content")],
      signal: () => AbortSignal.abort("left"),
      ...incoming,
    } as never,
    site: {
      options: { maxFileSize: 100 },
      changes: feed,
      report: (...args: unknown[]) => reported.push(args),
    } as never,
    path: "/a.html",
    search: "?x=1",
    host: "example.com",
    clients: { address: (peer) => peer.replace("10.0.0", "192.0.2") },
    protocol: "https",
    ...init,
  });
  return { exchange, reported, changes };
}

describe("an exchange", () => {
  it("shows a request as the server understood it", () => {
    const { exchange } = exchangeOf();
    expect(exchange).toMatchObject({
      id: "request-1",
      method: "PUT",
      url: "/docs/a.html?x=1",
      mount: "/docs",
      path: "/a.html",
      search: "?x=1",
      host: "example.com",
      address: "192.0.2.1",
      protocol: "https",
      httpVersion: "1.1",
      isUpgrade: false,
      user: undefined,
    });
    expect(exchange.metadata.size).toBe(0);
    expect(() => Object.assign(exchange, { path: "/secret.txt" })).toThrow(TypeError);
  });

  it("permits everything until an authentication plugin says otherwise", () => {
    const { access } = exchangeOf().exchange;
    const rights = ["read", "list", "create", "overwrite", "append", "delete"] as const;
    expect(rights.map((right) => access.permitsPath(right, "/a"))).toEqual(rights.map(() => true));
    expect(access.refusal()).toMatchObject({ status: 403, code: "FORBIDDEN" });
  });

  it("gives a header field as one text, however often it was sent", () => {
    const { exchange } = exchangeOf();
    expect(exchange.header("accept")).toBe("text/html");
    expect(exchange.header("set-cookie")).toBe("a=1, b=2");
    expect(exchange.header("x-missing")).toBeUndefined();
  });

  it("counts fields as they were sent", () => {
    const { exchange } = exchangeOf();
    expect([exchange.count("range"), exchange.count("host")]).toEqual([2, 0]);
  });

  it("gives content within the site's limit, and the signal of its request", async () => {
    const { exchange } = exchangeOf();
    expect(Buffer.from(await exchange.body.bytes()).toString()).toBe("content");
    expect(exchange.signal.reason).toBe("left");
  });

  it("announces a change with who made it, where, by which request", () => {
    const { exchange, changes } = exchangeOf();
    exchange.user = { name: "ada", roles: [] };
    exchange.changed({ kind: "replaced", path: "/a.html", etag: '"1"' });
    expect(changes).toEqual([
      {
        id: 1,
        kind: "replaced",
        path: "/a.html",
        etag: '"1"',
        method: "PUT",
        host: "example.com",
        user: "ada",
        requestId: "request-1",
        time: expect.any(String),
      },
    ]);
  });

  it("announces no user where there was no authentication", () => {
    const { exchange, changes } = exchangeOf();
    exchange.changed({ kind: "deleted", path: "/a.html" });
    expect(changes[0]).not.toHaveProperty("user");
  });
});

describe("what was deferred", () => {
  it("is called when the exchange is over, each once, in order", async () => {
    const { exchange } = exchangeOf();
    const log: string[] = [];
    exchange.defer(() => log.push("first"));
    exchange.defer(() => log.push("second"));
    expect(log).toEqual([]);
    await exchange.end();
    await exchange.end();
    expect(log).toEqual(["first", "second"]);
  });

  it("is waited for", async () => {
    const { exchange } = exchangeOf();
    const log: string[] = [];
    exchange.defer(async () => {
      await Promise.resolve();
      log.push("released");
    });
    await exchange.end();
    expect(log).toEqual(["released"]);
  });

  it("is reported where it fails, and keeps nothing else from being released", async () => {
    const { exchange, reported } = exchangeOf();
    const released = vi.fn();
    const thrown = new Error("thrown");
    const rejected = new Error("rejected");
    exchange.defer(() => {
      throw thrown;
    });
    exchange.defer(() => Promise.reject(rejected));
    exchange.defer(released);
    await exchange.end();
    expect(reported.flat()).toEqual([thrown, exchange, rejected, exchange]);
    expect(released).toHaveBeenCalledOnce();
  });

  it("is called at once where the exchange is over already", async () => {
    const { exchange, reported } = exchangeOf();
    await exchange.end();
    const released = vi.fn();
    const late = new Error("too late");
    exchange.defer(released);
    exchange.defer(() => {
      throw late;
    });
    expect(released).toHaveBeenCalledOnce();
    expect(reported).toEqual([[late, exchange]]);
  });

  it("may be deferred by what is released", async () => {
    const { exchange } = exchangeOf();
    const released = vi.fn();
    exchange.defer(() => exchange.defer(released));
    await exchange.end();
    expect(released).toHaveBeenCalledOnce();
  });
});

describe("the id of a request", () => {
  const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

  const idOf = (id: string | undefined) => exchangeOf({ incoming: { headers: { "x-request-id": id } } }).exchange.id;

  it.each(["a", "A-1_b.2", "x".repeat(128)])("keeps the client's %s", (id) => {
    expect(idOf(id)).toBe(id);
  });

  it.each([undefined, "", "x".repeat(129), "a b", "a\nb", "a\n", "a,b", "<b>", "é", "a/b", "a:b"])(
    "makes its own for %j",
    (header) => {
      expect(idOf(header)).toMatch(uuid);
      expect(idOf(header)).not.toBe(idOf(header));
    },
  );
});

/** A body that arrives in pieces, and how many of them were asked for. */
function arriving(pieces: readonly (string | Error)[], maxFileSize = 10) {
  const asked = { pieces: 0, isReleased: false };
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      for (const piece of pieces) {
        asked.pieces += 1;
        if (piece instanceof Error) throw piece;
        yield Buffer.from(piece);
      }
    } finally {
      asked.isReleased = true;
    }
  }
  return { asked, body: new RequestBody({ content }, maxFileSize) };
}

async function piecesOf(body: RequestBody): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of body) pieces.push(Buffer.from(piece).toString());
  return pieces;
}

const tooLarge = expect.objectContaining({ status: 413, code: "FILE_TOO_LARGE" });

describe("the content of a request", () => {
  it("comes in the pieces in which it arrives", async () => {
    const { body } = arriving(["ab", "", "cd"]);
    expect(await piecesOf(body)).toEqual(["ab", "", "cd"]);
  });

  it("comes as one piece on demand", async () => {
    const { body } = arriving(["ab", "cd"]);
    expect(Buffer.from(await body.bytes()).toString()).toBe("abcd");
  });

  it("may be empty, and may fill its limit to the last byte", async () => {
    expect(await arriving([]).body.bytes()).toHaveLength(0);
    expect(await arriving(["12345", "67890"]).body.bytes()).toHaveLength(10);
    expect(await piecesOf(arriving(["1234567890", ""]).body)).toHaveLength(2);
  });

  it("fails with 413 at the first byte too many, and is asked for no more", async () => {
    const { asked, body } = arriving(["12345", "678901", "never"]);
    await expect(piecesOf(body)).rejects.toEqual(tooLarge);
    expect(asked).toEqual({ pieces: 2, isReleased: true });
  });

  it("keeps to a limit below the server's own, and tells the client of that", async () => {
    const { asked, body } = arriving(["123", "456", "never"]);
    const error = await body.bytes(5).catch((thrown: unknown) => thrown);
    expect(error).toEqual(tooLarge);
    expect((error as HttpError).message).toContain("5 bytes");
    expect(asked).toEqual({ pieces: 2, isReleased: true });
  });

  it("keeps to the server's limit whatever other limit is asked for", async () => {
    const { body } = arriving(["123456", "789012"]);
    await expect(body.bytes(1000)).rejects.toEqual(tooLarge);
  });

  it("fails with what its source fails with", async () => {
    const cut = new HttpError(400, "INCOMPLETE_BODY", "Cut.");
    await expect(arriving(["12", cut]).body.bytes()).rejects.toBe(cut);
    await expect(piecesOf(arriving(["12", cut]).body)).rejects.toBe(cut);
  });

  it("lets go of its source when a reader breaks off", async () => {
    const { asked, body } = arriving(["12", "34"]);
    for await (const piece of body) {
      expect(Buffer.from(piece).toString()).toBe("12");
      break;
    }
    expect(asked).toEqual({ pieces: 1, isReleased: true });
  });
});
