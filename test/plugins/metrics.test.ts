import { once } from "node:events";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { Counter, register as globalRegistry, type OpenMetricsContentType, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../src/config.ts";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { type MetricsOptions, metrics } from "../../src/plugins/metrics.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { stepClock } from "../helpers/counted-work.ts";
import { deferred } from "../helpers/deferred.ts";
import { timesOf } from "../helpers/effort.ts";
import { accessOf } from "../helpers/file-request.ts";
import { gate } from "../helpers/gate.ts";
import { open, send } from "../helpers/send.ts";
import { openSocket, serve } from "../helpers/serve.ts";
import { type Family, parseFamilies, samplesIn, scrape } from "./metrics/exposition.ts";

const requestsTotal = (method: string, status: number): string =>
  `http_requests_total{method="${method}",status="${status}"}`;

/** A server in this process, with a few files. */
function fileServer(options: MetricsOptions = {}, ...others: readonly Plugin[]): FileServer {
  const storage = memoryStorage({ "/a.txt": "hello", "/page.html": "<p>one</p>" });
  return createFileServer({ storage, plugins: [metrics(options), ...others] });
}

async function ask(files: FileServer, method: string, path: string, init: RequestInit = {}): Promise<Response> {
  const response = await files.fetch(new Request(`http://localhost${path}`, { ...init, method }));
  return new Response(await response.arrayBuffer(), response); // read to its end, so that the exchange is over
}

describe("metrics", () => {
  it("counts what was sent over HTTP, in a text that an independent parser reads", async () => {
    const { url } = await serve({ storage: memoryStorage({ "/a.txt": "hello" }), plugins: [metrics()] });
    const sent = [
      ["GET", "/a.txt", 200],
      ["GET", "/a.txt", 200],
      ["HEAD", "/a.txt", 200],
      ["GET", "/none", 404],
      ["PUT", "/b.txt", 201],
      ["DELETE", "/b.txt", 204],
      ["OPTIONS", "/a.txt", 200],
      ["PROPFIND", "/a.txt", 405],
      ["GET", "/../x", 400],
    ] as const;
    for (const [method, path, status] of sent) {
      expect([method, path, (await send(url, method, path)).status]).toEqual([method, path, status]);
    }

    const answer = await send(url, "GET", "/metrics");
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(answer.headers["cache-control"]).toBe("no-store");
    const families = new Map(parseFamilies(answer.text).map((family) => [family.name, family]));
    const counted = (family: Family | undefined) =>
      family?.metrics.map(({ labels, value }) => `${labels?.["method"]} ${labels?.["status"]}: ${value}`).sort();
    expect(families.get("http_requests_total")).toMatchObject({ type: "COUNTER" });
    expect(counted(families.get("http_requests_total"))).toEqual([
      ...["DELETE 204: 1", "GET 200: 2", "GET 400: 1", "GET 404: 1", "HEAD 200: 1", "OPTIONS 200: 1"],
      ...["OTHER 405: 1", "PUT 201: 1"],
    ]);
    expect(families.get("http_request_duration_seconds")?.type).toBe("HISTOGRAM");
    expect(families.get("process_resident_memory_bytes")?.type).toBe("GAUGE");
    expect([...families.values()].filter(({ help }) => help === "")).toEqual([]);
  });

  it("keeps the number of series bounded over thousands of requests with invented methods and paths", async () => {
    const files = fileServer();
    const count = timesOf(700, 10_000);
    const served = ["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"];
    for (let i = 0; i < count; i++) {
      const method = i % 7 === 0 ? (served[i % served.length] ?? "GET") : `M${i}`;
      await ask(files, method, `/${i}/"x\\n${i}?status=${i}`);
    }
    const response = await ask(files, "GET", "/metrics");
    const samples = samplesIn(await response.text());
    const requests = [...samples].filter(([series]) => series.startsWith("http_requests_total{"));
    expect(requests.reduce((sum, [, counted]) => sum + counted, 0)).toBe(count);
    expect(samples.get(requestsTotal("OTHER", 405))).toBe(count - Math.ceil(count / 7));
    expect(samples.size).toBeLessThan(300);
    expect(new Set([...samples.keys()].flatMap((series) => /method="([^"]*)"/.exec(series)?.[1] ?? []))).toEqual(
      new Set([...served, "OTHER"]),
    );
  });

  it("tells HEAD the length of what GET would send, and refuses other methods", async () => {
    const { url } = await serve({ storage: memoryStorage(), plugins: [metrics()] });
    const head = await send(url, "HEAD", "/metrics");
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(Number(head.headers["content-length"])).toBeGreaterThan(500);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"]) {
      const { status, headers } = await send(url, method, "/metrics");
      expect([method, status, headers["allow"]]).toEqual([method, 405, "GET, HEAD"]);
    }
    for (const path of ["/metrics/", "/metrics/a", "/Metrics"]) {
      expect([path, (await send(url, "GET", path)).status]).toEqual([path, 404]);
    }
  });

  it("measures durations in seconds", async () => {
    const clock = stepClock(0);
    const { plugin, entered, release } = gate();
    const files = fileServer({}, plugin);
    const slow = ask(files, "GET", "/slow");
    await entered;
    clock.pass(20);
    release();
    await slow;
    const samples = await scrape(files);
    const duration = "http_request_duration_seconds";
    const bounds = [...samples].filter(([series]) => series.startsWith(`${duration}_bucket`));
    expect(bounds).toHaveLength(14);
    expect(bounds[3]).toEqual([`${duration}_bucket{le="0.01",method="GET"}`, 0]);
    expect(bounds[4]).toEqual([`${duration}_bucket{le="0.025",method="GET"}`, 1]);
    expect(bounds[13]).toEqual([`${duration}_bucket{le="+Inf",method="GET"}`, 1]);
    expect(samples.get(`${duration}_count{method="GET"}`)).toBe(1);
    expect(samples.get(`${duration}_sum{method="GET"}`)).toBeCloseTo(0.02, 9);
  });

  it("counts the bytes of content that were sent", async () => {
    const files = fileServer();
    await ask(files, "GET", "/a.txt");
    await ask(files, "HEAD", "/a.txt");
    await ask(files, "GET", "/a.txt", { headers: { range: "bytes=1-2" } });
    const exposition = await ask(files, "GET", "/metrics");
    expect(samplesIn(await exposition.clone().text()).get("http_response_bytes_total")).toBe(7);
    const { byteLength } = await exposition.arrayBuffer();
    expect((await scrape(files)).get("http_response_bytes_total")).toBe(7 + byteLength);
  });

  it("has requests in flight while they are answered, the one that asks among them", async () => {
    const { plugin, entered, release } = gate();
    const files = fileServer({}, plugin);
    const slow = ask(files, "GET", "/slow");
    await entered;
    expect((await scrape(files)).get("http_requests_in_flight")).toBe(2);
    release();
    await slow;
    expect((await scrape(files)).get("http_requests_in_flight")).toBe(1);
  });

  it("counts a request that its client gives up once, and no longer as in flight", async () => {
    const { plugin, entered, ended } = untilLeft();
    const { files, url } = await serve({ storage: memoryStorage(), plugins: [metrics(), plugin] });
    const request = open(url, "GET", "/held");
    request.on("error", () => {}).end(); // that it was given up
    await entered;
    request.destroy();
    await ended;
    const samples = await scrape(files);
    expect(samples.get("http_requests_in_flight")).toBe(1);
    expect([...samples].filter(([series]) => series.startsWith("http_requests_total"))).toEqual([
      [requestsTotal("GET", 200), 1],
    ]);
    expect(samples.get("http_response_bytes_total")).toBe(0);
  });

  it("counts what plugins before it have answered, and what no plugin was asked for", async () => {
    const refusing: Plugin = {
      name: "refusing",
      handle: (exchange, next) => {
        if (exchange.path === "/closed") throw new HttpError(403, "FORBIDDEN", "No.");
        return next();
      },
    };
    const files = createFileServer({ storage: memoryStorage(), plugins: [refusing, metrics()] });
    await ask(files, "GET", "/closed");
    await ask(files, "GET", "/%2f");
    const samples = await scrape(files);
    expect([samples.get(requestsTotal("GET", 400)), samples.get(requestsTotal("GET", 403))]).toEqual([1, 1]);
    await files.close();
  });

  it("goes on counting under maintenance, and is as closed as everything else", async () => {
    let maintenance = true;
    const storage = memoryStorage({ "/a.txt": "hello" });
    const files = createFileServer({ storage, plugins: [metrics()], maintenance: () => maintenance });
    expect((await ask(files, "GET", "/metrics")).status).toBe(503);
    expect((await ask(files, "GET", "/a.txt")).status).toBe(503);
    maintenance = false;
    expect((await scrape(files)).get(requestsTotal("GET", 503))).toBe(2);
  });

  it("counts the refusals of a rate limit, and no other 429", async () => {
    const refusing: Plugin = {
      name: "refusing",
      handle(exchange) {
        const headers = exchange.path === "/limited" ? { "x-ratelimit-limit": "20" } : {};
        throw new HttpError(429, "RATE_LIMITED", "Wait.", { headers });
      },
    };
    const files = fileServer({}, refusing);
    await ask(files, "GET", "/limited");
    await ask(files, "GET", "/limited");
    await ask(files, "GET", "/other");
    const samples = await scrape(files);
    expect(samples.get("rate_limit_refusals_total")).toBe(2);
    expect(samples.get(requestsTotal("GET", 429))).toBe(3);
  });

  it("shows them to those only who may read the path", async () => {
    const ruled: Plugin = {
      name: "ruled",
      handle(exchange, next) {
        const permits = (right: string, path: string) => right === "read" && path === exchange.header("x-may-read");
        exchange.access = accessOf(permits, new HttpError(403, "FORBIDDEN", "No."));
        return next();
      },
    };
    const plugins = [ruled, metrics()];
    const files = createFileServer({ storage: memoryStorage(), plugins });
    for (const method of ["GET", "HEAD", "POST"]) expect((await ask(files, method, "/metrics")).status).toBe(403);
    const headers = { "x-may-read": "/metrics" };
    expect((await ask(files, "GET", "/metrics", { headers })).status).toBe(200);
  });

  it("counts how often a parsed document was at hand", async () => {
    const files = fileServer();
    for (let i = 0; i < 3; i++) await ask(files, "GET", "/page.html", { headers: { range: "selector=p" } });
    const samples = await scrape(files);
    expect(samples.get("document_cache_misses_total")).toBe(1);
    expect(samples.get("document_cache_hits_total")).toBe(2);
  });

  it("counts connections that were taken over for as long as they are open", async () => {
    const accept = (socket: Duplex): void => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n");
      socket.resume().once("end", () => socket.end());
    };
    const accepting: Plugin = {
      name: "accepting",
      handle: (exchange, next) => (exchange.path === "/ws" ? { status: 101, headers: {}, accept } : next()),
    };
    const { files, port, server } = await serve({
      storage: memoryStorage(),
      plugins: [metrics(), accepting],
      upgrades: "all",
    });
    const handshake = (path: string) =>
      `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`;
    const refused = await openSocket(port);
    refused.write(handshake("/none"));
    expect(await text(refused)).toMatch(/^HTTP\/1\.1 404 /);

    const connected = once(server, "upgrade");
    const client = await openSocket(port);
    client.write(handshake("/ws"));
    await once(client, "data");
    const samples = await scrape(files);
    expect(samples.get("websocket_clients")).toBe(1);
    expect(samples.get(requestsTotal("GET", 101))).toBe(1);

    const [, socket] = await connected;
    const closed = once(socket, "close");
    client.destroy();
    await closed;
    expect((await scrape(files)).get("websocket_clients")).toBe(0);
  });

  it("adds up the hosts that it is listed for", async () => {
    const shared = metrics();
    const site = (name: string) => ({
      storage: memoryStorage({ "/page.html": `<p>${name}</p>` }),
      plugins: [shared],
    });
    const files = createFileServer({ hosts: { "a.example": site("a"), "b.example": site("b") } });
    for (const host of ["a.example", "b.example"]) {
      const request = new Request(`http://${host}/page.html`, { headers: { range: "selector=p" } });
      await (await files.fetch(request)).arrayBuffer();
    }
    const response = await files.fetch(new Request("http://b.example/metrics"));
    const samples = samplesIn(await response.text());
    expect(samples.get(requestsTotal("GET", 206))).toBe(2);
    expect(samples.get("document_cache_misses_total")).toBe(2);
  });

  it("shows nothing and counts on where the path is false", async () => {
    const registry = new Registry();
    const files = fileServer({ path: false, registry });
    expect((await ask(files, "GET", "/metrics")).status).toBe(404);
    expect(samplesIn(await registry.metrics()).get(requestsTotal("GET", 404))).toBe(1);
  });
});

describe("the registry of metrics", () => {
  it("is one of its own, with the process in it, unless one is given", async () => {
    const files = fileServer();
    expect((await scrape(files)).get("process_cpu_seconds_total")).toBeGreaterThan(0);
    await files.close();
    expect(globalRegistry.getMetricsAsArray()).toEqual([]);
  });

  it("may be given: what else is in it is exposed, and left there at the end", async () => {
    const registry = new Registry();
    const orders = new Counter({ name: "orders_total", help: "Orders.", registers: [registry] });
    orders.inc(3);
    const files = createFileServer({ storage: memoryStorage(), plugins: [metrics({ registry })] });
    const samples = await scrape(files);
    expect(samples.get("orders_total")).toBe(3);
    expect(samples.get("http_requests_in_flight")).toBe(1);
    expect([...samples.keys()].filter((series) => /^(?:process|nodejs)_/.test(series))).toEqual([]);
    await files.close();
    expect(registry.getMetricsAsArray()).toEqual([orders]);
  });

  it("may speak OpenMetrics, and is emptied at the end all the same", async () => {
    const registry = new Registry<OpenMetricsContentType>();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    const files = createFileServer({ storage: memoryStorage(), plugins: [metrics({ registry })] });
    await ask(files, "GET", "/none");
    const response = await ask(files, "GET", "/metrics");
    expect(response.headers.get("content-type")).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
    const exposition = await response.text();
    expect(exposition).toContain(`\n${requestsTotal("GET", 404)} 1\n`);
    expect(exposition.endsWith("\n# EOF\n")).toBe(true);
    await files.close();
    expect(registry.getMetricsAsArray()).toEqual([]);
  });

  it("must not have metrics of the same names", async () => {
    const registry = new Registry();
    const requests = new Counter({ name: "http_response_bytes_total", help: "Mine.", registers: [registry] });
    const refused = createFileServer({ storage: memoryStorage(), plugins: [metrics({ registry })] });
    await expect(refused.ready()).rejects.toThrow(
      new ConfigError([
        'metrics: registry has a metric "http_response_bytes_total" already: expected another registry',
      ]),
    );
    await refused.close();
    expect(registry.getMetricsAsArray()).toEqual([requests]);
  });
});

describe("the options of metrics", () => {
  const refused: readonly (readonly [options: unknown, problem: string])[] = [
    [
      { path: "metrics" },
      'path is "metrics": expected a path as requests have it, decoded and from the root, or false',
    ],
    [{ path: "/a/../" }, 'path is "/a/../": expected a path as requests have it, decoded and from the root, or false'],
    [{ registry: {} }, "registry is {}: expected a registry of prom-client"],
    [{ pth: "/m" }, 'the argument has no option "pth" (did you mean "path"?)'],
  ];

  it.each(refused)("are refused where they cannot work: %j", (options, problem) => {
    expect(() => metrics(options as MetricsOptions)).toThrow(new ConfigError([`metrics: ${problem}`]));
  });
});

/** A plugin that keeps requests for `/held` until their client leaves. */
function untilLeft(): { plugin: Plugin; entered: Promise<void>; ended: Promise<void> } {
  const { promise: entered, resolve: enter } = deferred();
  const { promise: ended, resolve: end } = deferred();
  const plugin: Plugin = {
    name: "until-left",
    async handle(exchange, next) {
      if (exchange.path !== "/held") return next();
      exchange.defer(end);
      enter();
      await once(exchange.signal, "abort");
      return { status: 200, headers: {}, body: "too late" };
    },
  };
  return { plugin, entered, ended };
}
