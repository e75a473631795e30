import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ConfigError, type FileServerConfig } from "../../src/config.ts";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { directory } from "../../src/plugins/directory.ts";
import type { BucketDecision, BucketStore } from "../../src/plugins/rate-limit/token-bucket.ts";
import { type RateLimitOptions, rateLimit } from "../../src/plugins/rate-limit.ts";
import type { Logger } from "../../src/server/logger.ts";
import type { Outcome, Plugin } from "../../src/server/plugin.ts";
import type { Reply } from "../../src/server/reply.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { send } from "../helpers/send.ts";
import { rawRequest, serve } from "../helpers/serve.ts";

/** Stops the clock that limiters go by, so that only the test moves it. */
function stopClock(): { ms: number } {
  const clock = { ms: 1000 };
  const spy = vi.spyOn(performance, "now").mockImplementation(() => clock.ms);
  onTestFinished(() => spy.mockRestore());
  return clock;
}

const pages = { "/a.txt": "a", "/api/b.txt": "b", "/apiary/c.txt": "c" };

function server(plugins: readonly Plugin[], config: FileServerConfig = {}): FileServer {
  const storage = config.hosts ? {} : { storage: memoryStorage(pages) };
  const files = createFileServer({ ...storage, plugins, ...config });
  onTestFinished(() => files.close());
  return files;
}

interface Asked extends RequestInit {
  readonly path?: string;
  readonly address?: string;
  readonly host?: string;
}

function ask(files: FileServer, { path = "/a.txt", address, host = "localhost", ...init }: Asked = {}) {
  return files.fetch(new Request(`http://${host}${path}`, init), address === undefined ? {} : { address });
}

async function statuses(files: FileServer, count: number, asked: Asked = {}): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const response = await ask(files, asked);
    await response.text();
    found.push(response.status);
  }
  return found;
}

/** What the three fields say: limit, remaining, reset. */
function limits({ headers }: Response): (number | null)[] {
  return ["limit", "remaining", "reset"].map((name) => {
    const value = headers.get(`x-ratelimit-${name}`);
    return value === null ? null : Number(value);
  });
}

/** Believes everybody who gives a name. */
const fakeAuthentication: Plugin = {
  name: "fake-auth",
  handle(exchange, next) {
    const name = exchange.header("x-user");
    if (name !== undefined) exchange.user = { name, roles: [] };
    return next();
  },
};

const answering = (reply: Reply): Plugin => ({ name: "answering", handle: () => reply });

describe("rateLimit", () => {
  it("lets 20 requests pass at once and 10 a second from then on, unless told otherwise", async () => {
    const clock = stopClock();
    const files = server([rateLimit()]);
    expect(await statuses(files, 21)).toEqual([...Array(20).fill(200), 429]);
    clock.ms += 99;
    expect(await statuses(files, 1)).toEqual([429]);
    clock.ms += 1;
    expect(await statuses(files, 2)).toEqual([200, 429]);
    clock.ms += 1000;
    expect(await statuses(files, 11)).toEqual([...Array(10).fill(200), 429]);
    clock.ms += 3_600_000;
    expect(await statuses(files, 21)).toEqual([...Array(20).fill(200), 429]);
  });

  it.each([
    [{ requestsPerSecond: 0.1 }, 1],
    [{ requestsPerSecond: 1.25 }, 2],
    [{ burstCapacity: 5 }, 5],
    [{ requestsPerSecond: undefined, burstCapacity: undefined }, 20],
  ] as const)("has, with %j, bursts of %i", async (options: RateLimitOptions, burst) => {
    stopClock();
    const files = server([rateLimit(Object.freeze(options))]);
    expect(await statuses(files, burst + 1)).toEqual([...Array(burst).fill(200), 429]);
  });

  it.each(["HEAD", "OPTIONS", "PUT", "POST", "DELETE", "PATCH"])("counts %s like GET", async (method) => {
    stopClock();
    const files = server([rateLimit({ burstCapacity: 2 })]);
    await statuses(files, 1);
    const second = await ask(files, { method });
    expect(second.status).not.toBe(429);
    expect(limits(second)[1]).toBe(0);
    expect(await statuses(files, 1)).toEqual([429]);
  });

  it("counts and refuses upgrades", async () => {
    const { port, url } = await serve({
      storage: memoryStorage(pages),
      plugins: [rateLimit({ requestsPerSecond: 0.001, burstCapacity: 2 })],
    });
    await send(url, "GET", "/a.txt");
    const upgrade = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"];
    const taken = await rawRequest(port, "GET", "/a.txt", upgrade);
    expect(taken.head).toMatch(/^x-ratelimit-remaining: 0\r?$/im);
    const refused = await rawRequest(port, "GET", "/a.txt", upgrade);
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.body)).toMatchObject({ retry_after_seconds: 1000 });
  });
});

describe("the header fields", () => {
  it("tell the capacity, the whole requests left, and the seconds until all are there", async () => {
    const clock = stopClock();
    const files = server([rateLimit({ requestsPerSecond: 2, burstCapacity: 5.5 })]);
    expect(limits(await ask(files))).toEqual([5, 4, 1]);
    expect(limits(await ask(files))).toEqual([5, 3, 1]);
    expect(limits(await ask(files))).toEqual([5, 2, 2]);
    expect(limits(await ask(files))).toEqual([5, 1, 2]);
    expect(limits(await ask(files))).toEqual([5, 0, 3]);
    expect(limits(await ask(files))).toEqual([5, 0, 3]); // half a token was left
    clock.ms += 1500;
    expect(limits(await ask(files))).toEqual([5, 2, 2]);
  });

  it("are not believed where somebody else has set them", async () => {
    stopClock();
    const files = server([rateLimit(), answering({ status: 200, headers: { "x-ratelimit-remaining": "0" } })]);
    expect(limits(await ask(files))).toEqual([20, 19, 1]);
  });

  it("of the Internet-Draft are sent on request only", async () => {
    stopClock();
    const plain = await ask(server([rateLimit()]));
    expect([plain.headers.get("ratelimit"), plain.headers.get("ratelimit-policy")]).toEqual([null, null]);
    const uneven = await ask(server([rateLimit({ standardHeaders: true, requestsPerSecond: 3, burstCapacity: 10 })]));
    expect(uneven.headers.get("ratelimit-policy")).toBe('"10-in-4s";q=10;w=4');
    const files = server([rateLimit({ standardHeaders: true })]);
    const { headers } = await ask(files);
    expect(headers.get("ratelimit-policy")).toBe('"20-in-2s";q=20;w=2');
    expect(headers.get("ratelimit")).toBe('"20-in-2s";r=19;t=1');
    await statuses(files, 19);
    const refused = await ask(files);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("ratelimit-policy")).toBe('"20-in-2s";q=20;w=2');
    expect(refused.headers.get("ratelimit")).toBe('"20-in-2s";r=0;t=2');
  });
});

describe("a refusal", () => {
  const empty = { requestsPerSecond: 0.4, burstCapacity: 1 };

  it("is a 429 with Retry-After and a JSON body of three fields that say the same", async () => {
    stopClock();
    const files = server([rateLimit(empty)]);
    await statuses(files, 1);
    const response = await ask(files);
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBe("3");
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(limits(response)).toEqual([1, 0, 3]);
    expect(await response.json()).toEqual({
      error: "Too Many Requests",
      message: "Too many requests. Try again in 3 seconds.",
      retry_after_seconds: 3,
    });
  });

  it("never says less than a second", async () => {
    stopClock();
    const files = server([rateLimit({ requestsPerSecond: 500, burstCapacity: 1 })]);
    await statuses(files, 1);
    const response = await ask(files);
    expect([response.headers.get("retry-after"), (await response.json()).retry_after_seconds]).toEqual(["1", 1]);
    expect((await (await ask(files)).json()).message).toBe("Too many requests. Try again in 1 second.");
  });

  it("is an error with a code for the plugins before it, and seen by every observer", async () => {
    stopClock();
    const seen: (Reply | Outcome)[] = [];
    const before: Plugin = {
      name: "before",
      async handle(_exchange, next) {
        const reply = await next();
        seen.push(reply);
        return reply;
      },
    };
    const log: Plugin = { name: "log", observe: (_exchange, outcome) => void seen.push(outcome) };
    const files = server([before, rateLimit(empty), log]);
    await statuses(files, 2);
    await files.close();
    const refused = seen.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(2);
    expect(refused[0]).toMatchObject({ error: { status: 429, code: "RATE_LIMITED" } });
    expect((refused[0] as Reply).error).toBeInstanceOf(HttpError);
    expect(refused[1]).toMatchObject({ status: 429, aborted: false });
  });

  it("is logged with its key and delay, once, in fields", async () => {
    stopClock();
    const lines: [string, object, string][] = [];
    const levels = ["debug", "info", "warn", "error"] as const;
    const logger = Object.fromEntries(
      levels.map((level) => [level, (fields: object, message: string) => lines.push([level, fields, message])]),
    ) as unknown as Logger;
    const options = { ...empty, keyStrategy: () => "two\nlines" };
    const files = server([rateLimit(options)], { logger, readOnly: true });
    await statuses(files, 1);
    expect(lines).toEqual([]);
    await ask(files, { headers: { "x-request-id": "request-1" } });
    const fields = { key: "two\nlines", retryAfterSeconds: 3, method: "GET", path: "/a.txt", requestId: "request-1" };
    expect(lines).toEqual([["info", fields, "rate limit: refused"]]);
  });
});

describe("the key strategy", () => {
  const one = { requestsPerSecond: 0.001, burstCapacity: 1 };

  it("ip limits each address by itself", async () => {
    stopClock();
    const files = server([rateLimit(one)]);
    expect(await statuses(files, 2, { address: "192.0.2.1" })).toEqual([200, 429]);
    expect(await statuses(files, 2, { address: "192.0.2.2" })).toEqual([200, 429]);
    expect(await statuses(files, 1, { address: "::ffff:192.0.2.1" })).toEqual([429]);
    expect(await statuses(files, 1, { address: "192.0.2.3", headers: { "x-user": "ada" } })).toEqual([200]);
  });

  it("ip takes all IPv6 addresses of one household for one client", async () => {
    stopClock();
    const files = server([rateLimit(one)]);
    expect(await statuses(files, 1, { address: "2001:db8:0:1::1" })).toEqual([200]);
    for (let n = 0; n < 20; n += 1) {
      expect(await statuses(files, 1, { address: `2001:db8:0:1:${n}:ffff:0:${n}` })).toEqual([429]);
    }
    expect(await statuses(files, 1, { address: "2001:db8:0:2::1" })).toEqual([200]);
  });

  it("user limits each user, wherever from, after authentication", async () => {
    stopClock();
    const files = server([fakeAuthentication, rateLimit({ ...one, keyStrategy: "user" })]);
    const ada = { headers: { "x-user": "ada" } };
    expect(await statuses(files, 2, { ...ada, address: "192.0.2.1" })).toEqual([200, 429]);
    expect(await statuses(files, 1, { ...ada, address: "192.0.2.2" })).toEqual([429]);
    expect(await statuses(files, 1, { headers: { "x-user": "bob" }, address: "192.0.2.1" })).toEqual([200]);
  });

  it("user limits the anonymous by address, whom no user's name can lock out", async () => {
    stopClock();
    const files = server([fakeAuthentication, rateLimit({ ...one, keyStrategy: "user" })]);
    const posing = { headers: { "x-user": "192.0.2.1" }, address: "192.0.2.66" };
    expect(await statuses(files, 2, posing)).toEqual([200, 429]);
    expect(await statuses(files, 2, { address: "192.0.2.1" })).toEqual([200, 429]);
    expect(await statuses(files, 1, { address: "192.0.2.2" })).toEqual([200]);
  });

  it("user takes the metadata authenticated_user for the user where a plugin set only that", async () => {
    stopClock();
    const noting: Plugin = {
      name: "noting",
      handle({ metadata, headers }, next) {
        metadata.set("authenticated_user", headers["x-user"]);
        return next();
      },
    };
    const files = server([noting, rateLimit({ ...one, keyStrategy: "user" })]);
    const ada = { headers: { "x-user": "ada" } };
    expect(await statuses(files, 1, { ...ada, address: "192.0.2.1" })).toEqual([200]);
    expect(await statuses(files, 1, { ...ada, address: "192.0.2.2" })).toEqual([429]);
    expect(await statuses(files, 1, { address: "192.0.2.2" })).toEqual([200]);
  });

  it("host limits all clients of a host together, by its name without case and port", async () => {
    const plugins = [rateLimit({ ...one, keyStrategy: "host" })];
    const { url } = await serve({ storage: memoryStorage(pages), plugins });
    const answers: number[] = [];
    for (const host of ["Docs.Example:8080", "docs.example", "DOCS.example.", "other.example"]) {
      answers.push((await send(url, "GET", "/a.txt", { headers: { host } })).status);
    }
    expect(answers).toEqual([200, 429, 429, 200]);
  });

  it("may be a function, which can leave requests alone", async () => {
    stopClock();
    const keyStrategy: RateLimitOptions["keyStrategy"] = ({ method, headers }) =>
      method === "GET" ? undefined : `key ${headers["x-api-key"]}`;
    const files = server([rateLimit({ ...one, keyStrategy })]);
    expect(await statuses(files, 3)).toEqual([200, 200, 200]);
    expect(limits(await ask(files))).toEqual([null, null, null]);
    const put = (key: string) => ({ method: "PUT", path: "/new.txt", body: "n", headers: { "x-api-key": key } });
    expect(await statuses(files, 2, put("1"))).toEqual([201, 429]);
    expect(await statuses(files, 2, put("2"))).toEqual([200, 429]);
  });

  it("may not be a function that fails: the request does, and onError is told", async () => {
    const onError = vi.fn();
    const files = server([rateLimit({ keyStrategy: () => 7 as never })], { onError });
    expect(await statuses(files, 1)).toEqual([500]);
    expect(onError).toHaveBeenCalledTimes(1);
    expect(String(onError.mock.lastCall?.[0])).toContain("keyStrategy returned number");
  });
});

describe("several limiters", () => {
  const slow = (burstCapacity: number, more: RateLimitOptions = {}) =>
    rateLimit({ requestsPerSecond: 0.001, burstCapacity, ...more });

  it("show the one with the least remaining, wherever it stands", async () => {
    stopClock();
    expect(limits(await ask(server([slow(5), slow(3)])))).toEqual([3, 2, 1000]);
    expect(limits(await ask(server([slow(3), slow(5)])))).toEqual([3, 2, 1000]);
  });

  it("refuse by the first that has no token, whose fields the refusal shows", async () => {
    stopClock();
    const files = server([slow(5), rateLimit({ requestsPerSecond: 0.1, burstCapacity: 2 }), slow(4)]);
    expect(await statuses(files, 2)).toEqual([200, 200]);
    const refused = await ask(files);
    expect([refused.status, refused.headers.get("retry-after"), ...limits(refused)]).toEqual([429, "10", 2, 0, 20]);
  });

  it("give back the tokens that a refused request took from the earlier ones", async () => {
    const clock = stopClock();
    const files = server([slow(3), rateLimit({ requestsPerSecond: 1, burstCapacity: 1 })]);
    expect(await statuses(files, 20)).toEqual([200, ...Array(19).fill(429)]);
    clock.ms += 1000;
    expect(await statuses(files, 2)).toEqual([200, 429]);
    clock.ms += 1000;
    expect(await statuses(files, 1)).toEqual([200]);
    clock.ms += 1000;
    const refused = await ask(files);
    expect([refused.status, ...limits(refused)]).toEqual([429, 3, 0, expect.any(Number)]);
  });

  it("do not ask, nor take from, those behind the one that refuses", async () => {
    stopClock();
    const inner = { requestsPerSecond: 0.001, burstCapacity: 2 };
    const shared = rateLimit(inner);
    const host = { storage: memoryStorage(pages) };
    const files = server([], {
      hosts: { "both.example": { ...host, plugins: [slow(1), shared] }, "one.example": { ...host, plugins: [shared] } },
    });
    expect(await statuses(files, 5, { host: "both.example" })).toEqual([200, 429, 429, 429, 429]);
    expect(await statuses(files, 2, { host: "one.example" })).toEqual([200, 429]);
  });

  it("keep their tokens where a 429 is somebody else's", async () => {
    stopClock();
    const others = answering({ status: 429, headers: {}, body: "not now" });
    expect(await statuses(server([slow(2), others]), 3)).toEqual([429, 429, 429]);
    const response = await ask(server([slow(2), others]));
    expect(limits(response)).toEqual([2, 1, 1000]);
  });

  it("are all listed in the fields of the Internet-Draft", async () => {
    stopClock();
    const burst = { standardHeaders: true, requestsPerSecond: 1, burstCapacity: 1 };
    const files = server([slow(5000, { standardHeaders: true }), slow(9), rateLimit(burst)]);
    const { headers } = await ask(files);
    expect(headers.get("ratelimit-policy")).toBe('"5000-in-5000000s";q=5000;w=5000000, "1-in-1s";q=1;w=1');
    expect(headers.get("ratelimit")).toBe('"5000-in-5000000s";r=4999;t=1000, "1-in-1s";r=0;t=1');
    const refused = await ask(files);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("ratelimit")).toBe('"5000-in-5000000s";r=4999;t=1000, "1-in-1s";r=0;t=1');
  });

  it("limit paths differently, by way of nested directories", async () => {
    stopClock();
    const files = server([directory({ directory: "/api", plugins: [slow(1)] })]);
    expect(await statuses(files, 2, { path: "/api/b.txt" })).toEqual([200, 429]);
    expect(await statuses(files, 1, { path: "/%61pi//b.txt" })).toEqual([429]);
    const free = await ask(files);
    expect([free.status, ...limits(free)]).toEqual([200, null, null, null]);
  });
});

describe("a store of one's own", () => {
  const decision: BucketDecision = { allowed: true, remaining: 7, msUntilFull: 1200, msUntilToken: 0 };
  const policy = { requestsPerSecond: 10, burstCapacity: 20 };
  const storeOf = (take: BucketStore["take"], more: Partial<BucketStore> = {}): BucketStore => ({
    take,
    giveBack: () => {},
    ...more,
  });

  it("is asked with key and policy, and may take its time", async () => {
    const take = vi.fn(async () => decision);
    const response = await ask(server([rateLimit({ store: storeOf(take) })]));
    expect([response.status, ...limits(response)]).toEqual([200, 20, 7, 2]);
    expect(take.mock.calls).toEqual([["ip:127.0.0.1", policy]]);
  });

  it("is given back to, whether the reply waits for that or not", async () => {
    const giveBack = vi.fn(() => new Promise<void>(() => {}));
    const none = { allowed: false, remaining: 0, msUntilFull: 1000, msUntilToken: 1000 };
    const files = server([
      rateLimit({ store: storeOf(() => decision, { giveBack }) }),
      rateLimit({ store: storeOf(() => none) }),
    ]);
    expect(await statuses(files, 1)).toEqual([429]);
    expect(giveBack.mock.calls).toEqual([["ip:127.0.0.1", policy]]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("lost");
      },
      "lost",
    ],
    ["rejects", () => Promise.reject(new Error("lost")), "lost"],
    ["says nothing", () => undefined as never, "gave no decision"],
  ] as const)("that %s refuses nobody, and onError is told of each request", async (_name, take, message) => {
    const onError = vi.fn();
    const files = server([rateLimit({ store: storeOf(take), burstCapacity: 1 })], { onError });
    const response = await ask(files);
    expect([response.status, await response.text(), ...limits(response)]).toEqual([200, "a", null, null, null]);
    expect(await statuses(files, 2)).toEqual([200, 200]);
    expect(onError).toHaveBeenCalledTimes(3);
    expect(String(onError.mock.lastCall?.[0])).toContain(message);
    expect(onError.mock.lastCall?.[1]).toMatchObject({ path: "/a.txt" });
  });

  it("is started and closed with the server, where it has something to start and close", async () => {
    const start = vi.fn();
    const close = vi.fn();
    const files = server([rateLimit({ store: storeOf(() => decision, { start, close }) })]);
    await files.ready();
    expect([start.mock.calls.length, close.mock.calls.length]).toEqual([1, 0]);
    await files.close();
    expect(close).toHaveBeenCalledTimes(1);
    const plain = server([rateLimit({ store: storeOf(() => decision) })]);
    await plain.ready();
    await plain.close();
  });
});

describe("options that cannot work", () => {
  it.each<[object, RegExp]>([
    [{ requestsPerSecond: -1 }, /^rateLimit: requestsPerSecond is -1: expected a positive number/],
    [{ requestsPerSecond: 1e-7 }, /requestsPerSecond is 1e-7/],
    [{ requestsPerSecond: "10" }, /requestsPerSecond is "10": expected a positive number/],
    [{ burstCapacity: 0.5 }, /burstCapacity is 0.5: expected a number from 1 to/],
    [{ keyStrategy: "address" }, /keyStrategy is "address": expected "ip", "user", "host" or a function/],
    [{ cleanupInterval: 0 }, /cleanupInterval is 0: expected a positive number of seconds/],
    [{ cleanupInterval: 3_000_000 }, /cleanupInterval is 3000000: expected a positive number of seconds, a million/],
    [{ maxClients: 0 }, /maxClients is 0/],
    [{ standardHeaders: "draft-8" }, /standardHeaders is "draft-8": expected true or false/],
    [{ store: {} }, /store is \{\}: expected a bucket store: an object with take and giveBack/],
    [{ requests_per_second: 5 }, /the argument has no option "requests_per_second"/],
  ])("are named: %j", (options, message) => {
    const make = () => rateLimit(options as RateLimitOptions);
    expect(make).toThrow(ConfigError);
    expect(() => {
      try {
        make();
      } catch (error) {
        throw new Error((error as ConfigError).problems.join("; "));
      }
    }).toThrow(message);
  });
});
