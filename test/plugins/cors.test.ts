import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { type CorsOptions, cors } from "../../src/plugins/cors.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Answer, send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";

const friend = "https://app.example";
const stranger = "https://evil.example";
const preflight = { "access-control-request-method": "PUT", "access-control-request-headers": "range" };

async function ask(
  options: CorsOptions | undefined,
  method: string,
  headers: Record<string, string>,
  config: FileServerConfig = {},
): Promise<Answer> {
  const plugins = [cors(options), ...(config.plugins ?? [])];
  const { url } = await serve({ storage: memoryStorage({ "/a.html": "<p>a" }), ...config, plugins });
  return send(url, method, "/a.html", { headers });
}

const fieldsOf = ({ headers }: Answer): Record<string, unknown> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("access-control-")));

describe("cors", () => {
  it("lets the pages of the host's allowed origins read replies, also parts and errors", async () => {
    const config = { allowedOrigins: [friend] };
    for (const range of ["bytes=0-1", "selector=p", "selector=p["]) {
      const answer = await ask(undefined, "GET", { origin: friend, range }, config);
      expect(answer.headers["access-control-allow-origin"]).toBe(friend);
      expect(answer.headers["access-control-expose-headers"]).toContain("ETag");
      expect(answer.headers["access-control-expose-headers"]).toMatch(/Link, .*X-Selector-Matches/);
      expect(answer.headers["vary"]?.toLowerCase()).toMatch(/(?:^|, )origin(?:,|$)/);
    }
  });

  it("says nothing to other pages, and tells caches so", async () => {
    for (const headers of [{ origin: stranger }, {}]) {
      const answer = await ask({ origins: [friend] }, "GET", headers);
      expect(fieldsOf(answer)).toEqual({});
      expect([answer.status, answer.headers["vary"]]).toEqual([200, "range, origin"]);
    }
  });

  it("lets every page read where it is told to", async () => {
    const answer = await ask({ origins: ["*"] }, "GET", { origin: stranger });
    expect(answer.headers["access-control-allow-origin"]).toBe("*");
    expect(answer.headers["vary"]).toBe("range");
  });

  it("answers preflights itself, before anybody asks for a password", async () => {
    const config = {
      allowedOrigins: [friend],
      plugins: [basicAuth({ users: [{ username: "ann", password: "secret", encryption: "plaintext" }] })],
    };
    const answer = await ask({ credentials: true }, "OPTIONS", { origin: friend, ...preflight }, config);
    expect(answer).toMatchObject({ status: 204, text: "" });
    expect(fieldsOf(answer)).toEqual({
      "access-control-allow-origin": friend,
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": "GET, HEAD, PUT, POST, DELETE, PATCH, MOVE, COPY, MKCOL, OPTIONS",
      "access-control-allow-headers":
        "Accept-Datetime, Authorization, Content-Type, Destination, If-Match, If-Modified-Since, If-None-Match, If-Range, " +
        "If-Unmodified-Since, Overwrite, Prefer, Range, X-Filename, X-Range-Unit, X-Request-ID",
      "access-control-max-age": "600",
    });
  });

  it("offers only the methods that the host takes", async () => {
    const answer = await ask({ origins: [friend] }, "OPTIONS", { origin: friend, ...preflight }, { readOnly: true });
    expect(answer.headers["access-control-allow-methods"]).toBe("GET, HEAD, OPTIONS");
  });

  it("grants nothing to the preflight of a stranger", async () => {
    const answer = await ask({ origins: [friend] }, "OPTIONS", { origin: stranger, ...preflight });
    expect([answer.status, fieldsOf(answer)]).toEqual([204, {}]);
  });

  it("leaves an OPTIONS that is no preflight to the files", async () => {
    const answer = await ask({ origins: [friend] }, "OPTIONS", { origin: friend });
    expect(answer.headers["allow"]).toContain("PUT");
  });

  it("lets pages read, not write: that takes allowedOrigins", async () => {
    const body = { origin: stranger, "content-type": "text/html" };
    expect((await ask({ origins: ["*"] }, "PUT", body)).status).toBe(403);
    expect((await ask({}, "PUT", { origin: friend }, { allowedOrigins: [friend] })).status).toBe(200);
  });

  it.each([
    [{ origins: ["*"], credentials: true }, "credentials is true: expected false"],
    [{ origins: ["app.example"] }, "origins[0] is"],
    [{ origins: ["https://*.app.example"] }, "origins[0] is"],
    [{ origins: ["wss://app.example"] }, "origins[0] is"],
    [{ origins: ["https://app.example/"] }, "origins[0] is"],
    [{ headers: ["a b"] }, "headers[0] is"],
    [{ maxAge: 60 }, 'the argument has no option "maxAge"'],
  ])("refuses options that cannot work: %j", (options, message) => {
    expect(() => cors(options as CorsOptions)).toThrow(`cors: ${message}`);
  });
});
