import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { errorPages } from "../../src/plugins/error-pages.ts";
import { fileHandler } from "../../src/plugins/file-handler.ts";
import { securityHeaders } from "../../src/plugins/security-headers.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Answer, send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";

const stored = { "/404.html": "<h1>Not here", "/4xx.txt": "something is wrong", "/a.html": "<p>a" };
const pages = { 404: "/404.html", "4xx": "/4xx.txt", "5xx": "/missing.html" };
const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

type Asking = { method?: string; headers?: Record<string, string>; config?: FileServerConfig };

async function ask(path: string, { method = "GET", headers = browser, config = {} }: Asking = {}): Promise<Answer> {
  const plugins = [errorPages({ pages }), ...(config.plugins ?? [])];
  const { url } = await serve({ storage: memoryStorage(stored), ...config, plugins });
  return send(url, method, path, { headers });
}

describe("errorPages", () => {
  it("shows people the page for the status, which stays", async () => {
    const answer = await ask("/none");
    expect(answer).toMatchObject({ status: 404, text: "<h1>Not here" });
    expect(answer.headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" });
    expect(answer.headers).not.toHaveProperty("content-security-policy");
  });

  it("shows that of the class where the status has none, with the fields of the error", async () => {
    const answer = await ask("/a.html", {
      config: { plugins: [basicAuth({ users: [{ username: "ann", password: "secret", encryption: "plaintext" }] })] },
    });
    expect(answer).toMatchObject({ status: 401, text: "something is wrong" });
    expect(answer.headers).toMatchObject({ "content-type": "text/plain; charset=utf-8" });
    expect(answer.headers["www-authenticate"]).toContain("Basic");
  });

  it("takes it from the file handler that has it", async () => {
    const handler = fileHandler({ at: "/docs", storage: memoryStorage({ "/404.html": "<h1>Not there" }) });
    const files = createFileServer({ plugins: [errorPages({ pages: { 404: "/docs/404.html" } }), handler] });
    const reply = await files.fetch(new Request("http://localhost/none", { headers: browser }));
    expect([reply.status, await reply.text()]).toEqual([404, "<h1>Not there"]);
  });

  it("tells programs the error as before, and clients of elements", async () => {
    const accept = "application/json";
    expect(JSON.parse((await ask("/none", { headers: { accept } })).text)).toMatchObject({ code: "NOT_FOUND" });
    expect(JSON.parse((await ask("/none", { headers: {} })).text)).toMatchObject({ code: "NOT_FOUND" });
    expect((await ask("/a.html", { headers: { ...browser, range: "selector=p[" } })).text).toContain(
      "INVALID_SELECTOR",
    );
    expect((await ask("/none", { method: "DELETE" })).text).toContain("NOT_FOUND");
  });

  it("has the policy of the host where that plugin stands first", async () => {
    const headers = securityHeaders({ headers: { "content-security-policy": "default-src 'self'" } });
    const { url } = await serve({ storage: memoryStorage(stored), plugins: [headers, errorPages({ pages })] });
    const answer = await send(url, "GET", "/none", { headers: browser });
    expect(answer).toMatchObject({
      text: "<h1>Not here",
      headers: { "content-security-policy": "default-src 'self'" },
    });
  });

  it("says to HEAD how long the page is", async () => {
    const answer = await ask("/none", { method: "HEAD" });
    expect(answer).toMatchObject({ status: 404, text: "", headers: { "content-length": "12" } });
  });

  it("leaves replies alone that are no errors", async () => {
    expect(await ask("/a.html")).toMatchObject({ status: 200, text: "<p>a" });
  });

  it("leaves the built-in page where its own is missing", async () => {
    const failing = { name: "failing", handle: () => Promise.reject(new Error("broken")) };
    const answer = await ask("/a.html", { config: { plugins: [failing], onError: () => {} } });
    expect(answer).toMatchObject({ status: 500, headers: { "content-security-policy": expect.any(String) } });
    expect(answer.text).toContain("INTERNAL_ERROR");
  });

  it("answers the error itself where the storage fails, and reports that", async () => {
    const reported: unknown[] = [];
    const problem = new Error("the disk is gone");
    const storage = memoryStorage(stored);
    const open = storage.open.bind(storage);
    storage.open = (path) => (path === "/404.html" ? Promise.reject(problem) : open(path));
    const answer = await ask("/none", { config: { storage, onError: (error) => void reported.push(error) } });
    expect(answer.status).toBe(404);
    expect(reported).toContain(problem);
  });

  it("keeps pages that clients may have written from running scripts", async () => {
    const answer = await ask("/none", { config: { untrustedContent: true } });
    expect(answer.headers["content-security-policy"]).toBe("sandbox");
  });

  it.each([[{ 200: "/a.html" }], [{ 404: "a.html" }], [{ 404: "/a/" }], [{ "6xx": "/a" }]])(
    "refuses pages that cannot be: %j",
    (wrong) => {
      expect(() => errorPages({ pages: wrong })).toThrow("errorPages: pages");
    },
  );
});
