import { describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { type RedirectsOptions, redirects } from "../../src/plugins/redirects.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";

const rules = {
  "/old.html": "/new.html",
  "/blog/*": "/posts/:splat",
  "/blog/first": "/welcome?from=blog#top",
  "/blog/2019/*": "https://archive.example/:splat",
  "/größe 1": "/size#1",
};

async function served(options: RedirectsOptions = { rules }) {
  return serve({ storage: memoryStorage({ "/new.html": "new" }), plugins: [redirects(options)] });
}

describe("redirects", () => {
  it.each([
    ["a path", "/old.html", "/new.html"],
    ["a path with a query, which goes along", "/old.html?a=1&b=%20", "/new.html?a=1&b=%20"],
    ["what lies below a path", "/blog/a/b.html", "/posts/a/b.html"],
    ["the path itself, with its slash", "/blog/", "/posts/"],
    ["an exact path before a beginning, with the query of the target", "/blog/first?x=1", "/welcome?from=blog#top"],
    ["the longer beginning", "/blog/2019/a?x=1", "https://archive.example/a?x=1"],
    ["a path that needs encoding", "/gr%C3%B6%C3%9Fe%201?x", "/size?x#1"],
    ["what needs encoding below a path", "/blog/%3F%23%25%20$&/$1", "/posts/%3F%23%25%20$&/$1"],
  ])("sends clients on: %s", async (_what, path, location) => {
    const { url } = await served();
    expect(await send(url, "GET", path)).toMatchObject({ status: 308, headers: { location }, text: "" });
  });

  it.each(["/", "/old", "/old.html/", "/blog", "/new.html", "/blogs/a"])(
    "leaves other paths alone: %s",
    async (path) => {
      const { url } = await served();
      expect((await send(url, "GET", path)).headers).not.toHaveProperty("location");
    },
  );

  it("sends clients of any method on, with the status it was given", async () => {
    const { url } = await served({ rules, status: 302 });
    for (const method of ["GET", "HEAD", "PUT", "DELETE"]) {
      expect(await send(url, method, "/old.html")).toMatchObject({ status: 302, headers: { location: "/new.html" } });
    }
  });

  it("keeps the path under which the server is mounted", async () => {
    const files = createFileServer({ storage: memoryStorage(), plugins: [redirects({ rules })] });
    const response = await files.fetch(new Request("http://localhost/docs/old.html"), { mount: "/docs" });
    expect(response.headers.get("location")).toBe("/docs/new.html");
    await files.close();
  });

  it("keeps a name with & and = one value of a query", async () => {
    const { url } = await served({ rules: { "/find/*": "/search?q=:splat&page=1", "/to/*": "/:splat?from=:splat" } });
    const locationAt = async (path: string) => (await send(url, "GET", path)).headers["location"];
    expect(await locationAt("/find/a&b=c+d%23e/f?g=h")).toBe("/search?q=a%26b%3Dc%2Bd%23e/f&page=1");
    expect(await locationAt("/to/a&b")).toBe("/a&b?from=a%26b");
  });

  it("lets no client choose the host", async () => {
    const { url } = await served({ rules: { "/*": "/:splat?seen" } });
    const { headers } = await send(url, "GET", "/%2Fevil.example");
    expect(new URL(headers["location"] ?? "", "http://here.example").host).toBe("here.example");
  });

  it.each([
    [{ "/a": "b" }],
    [{ "/a": "//evil.example" }],
    [{ "/a": "/\\evil.example" }],
    [{ "/a": "javascript:alert(1)" }],
    [{ "/a/*": "https://:splat/" }],
    [{ "/a/*": "https://x.:splat/" }],
    [{ "/a": "/b c" }],
    [{ a: "/b" }],
    [{ "/a/../b": "/c" }],
    [{ "/a": "/a" }],
  ])("refuses rules that cannot work: %j", (wrong) => {
    expect(() => redirects({ rules: wrong })).toThrow("redirects: rules");
  });

  it("refuses a status that is no redirect", () => {
    expect(() => redirects({ rules, status: 200 })).toThrow("status is 200: expected 301, 302, 303, 307, 308");
  });
});
