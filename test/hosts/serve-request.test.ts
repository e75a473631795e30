import { describe, expect, it } from "vitest";
import { LifeCycle } from "../../src/hosts/life-cycle.ts";
import { requestPath } from "../../src/hosts/serve-request.ts";
import { createSite, type HostedSite } from "../../src/hosts/site.ts";
import { clientAddress, type TrustProxy } from "../../src/http/client-address.ts";
import { usageLimit } from "../../src/server/admission.ts";
import { ChangeFeed } from "../../src/server/change-feed.ts";
import type { Exchange, IncomingRequest } from "../../src/server/exchange.ts";
import { quietLogger } from "../../src/server/logger.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import type { Reply } from "../../src/server/reply.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { deferred } from "../helpers/deferred.ts";

interface Asked extends Partial<IncomingRequest> {
  readonly trustProxy?: TrustProxy;
  /** Called when a change is made; until it resolves, not all changes made by now are delivered. */
  readonly onChange?: () => Promise<void>;
}

/** Sends a request the whole path; gives the reply, and the exchange as a plugin saw it. */
async function ask({ trustProxy = false, onChange, ...incoming }: Asked) {
  let seen: Exchange | undefined;
  const witness: Plugin = {
    name: "witness",
    handle: (_exchange, next) => next(),
    observe(exchange) {
      seen = exchange;
    },
  };
  const parts = {
    changes: new ChangeFeed(() => {}),
    logger: quietLogger(),
    outage: () => undefined,
    report: (error: unknown) => expect.unreachable(String(error)),
    protect: async () => {},
    cover: async () => {},
    ask: () => Promise.reject(new Error("no plugin asks")),
  };
  if (onChange) parts.changes.subscribe(() => parts.changes.slowDown(onChange()));
  const storage = memoryStorage({ "/a.txt": "a" });
  const site: HostedSite = createSite("*", { storage, plugins: [witness], maxFileSize: 10 }, parts);
  const life = new LifeCycle({}, parts.changes, () => [site]);
  const serve = requestPath({
    clients: clientAddress(trustProxy, "x-forwarded-for"),
    life,
    takeUpload: usageLimit(2),
    hosts: { sites: [site], find: (name) => (name === "a.example" ? site : undefined) },
    nowhere: createSite("", { plugins: [] }, parts),
  });
  let answered: Reply | undefined;
  await serve(
    {
      request: new Request("http://a.example/a.txt"),
      method: "GET",
      url: "/a.txt",
      target: incoming.url ?? "/a.txt",
      mount: "",
      headers: { host: "a.example" },
      peer: "10.0.0.1",
      encrypted: false,
      httpVersion: "1.1",
      isUpgrade: false,
      count: () => 1,
      content: () => expect.unreachable(),
      signal: () => new AbortController().signal,
      ...incoming,
    },
    (reply) => {
      answered = reply;
      return { bytes: 1, aborted: false };
    },
  );
  return { reply: answered, seen };
}

describe("the path of a request", () => {
  it.each<[string, Asked, number, string]>([
    ["a path that cannot be", { url: "/%ff" }, 400, "INVALID_PATH"],
    ["two hosts", { count: () => 2 }, 400, "INVALID_HOST"],
    ["a host that is no name", { headers: { host: "a b" } }, 400, "INVALID_HOST"],
    ["a host of somebody else", { headers: { host: "b.example" } }, 421, "UNKNOWN_HOST"],
    ["much content", { method: "PUT", headers: { host: "a.example", "content-length": "11" } }, 413, "FILE_TOO_LARGE"],
    ["a page of another site", { method: "PUT", headers: { host: "a.example", origin: "null" } }, 403, "CROSS_SITE"],
  ])("ends for %s in an error", async (_what, asked, status, code) => {
    expect((await ask(asked)).reply).toMatchObject({ status, error: { code } });
  });

  it("tells observers also of what was refused before any plugin was asked", async () => {
    const { seen } = await ask({ method: "PUT", headers: { host: "a.example", "content-length": "11" } });
    expect(seen).toMatchObject({ path: "/a.txt", host: "a.example", address: "10.0.0.1" });
  });

  it("has the reply to a change wait until others are delivered, where those are made faster", async () => {
    const { promise: made, resolve: tellMade } = deferred();
    const { promise: delivered, resolve: tellDelivered } = deferred();
    const onChange = (): Promise<void> => {
      tellMade();
      return delivered;
    };
    const answers: string[] = [];
    const deleting = ask({ method: "DELETE", onChange }).then(({ reply }) => answers.push(`DELETE ${reply?.status}`));
    await made;
    await ask({}).then(({ reply }) => answers.push(`GET ${reply?.status}`));
    expect(answers).toEqual(["GET 200"]);
    tellDelivered();
    await deleting;
    expect(answers).toEqual(["GET 200", "DELETE 204"]);
  });
});
