import { describe, expect, it } from "vitest";
import { storages, testSite } from "../helpers/test-site.ts";

describe.each(storages)("OPTIONS $where", ({ make }) => {
  const files = { "/a.txt": "a", "/page.html": "<p>hi", "/dir/b.txt": "b", "/site/index.html": "<p>" };

  it.each([
    ["/a.txt", "GET, HEAD, PUT, POST, DELETE, MOVE, COPY, OPTIONS", "bytes"],
    ["/page.html", "GET, HEAD, PUT, POST, DELETE, PATCH, MOVE, COPY, OPTIONS", "selector, bytes"],
    ["/dir/", "GET, HEAD, POST, DELETE, MOVE, COPY, OPTIONS", "bytes"],
    ["/dir", "GET, HEAD, POST, DELETE, MOVE, COPY, OPTIONS", "bytes"],
    ["/site/", "GET, HEAD, PUT, POST, DELETE, PATCH, MOVE, COPY, OPTIONS", "selector, bytes"],
    ["/", "GET, HEAD, POST, OPTIONS", "bytes"],
    ["/new.txt", "PUT, MKCOL, OPTIONS", "bytes"],
    ["/new/dir/new.txt", "PUT, MKCOL, OPTIONS", "bytes"],
    ["/new/", "MKCOL, OPTIONS", "bytes"],
    ["/a.txt/", "MKCOL, OPTIONS", "bytes"],
    ["*", "GET, HEAD, PUT, POST, DELETE, PATCH, MOVE, COPY, MKCOL, OPTIONS", "selector, bytes"],
  ])("of %s allows %s on %s", async (target, allow, ranges) => {
    const site = await testSite(await make(files));
    const { status, headers, bytes } = await site.send("OPTIONS", target);
    expect({ status, length: bytes.length }).toEqual({ status: 200, length: 0 });
    expect(headers).toMatchObject({ allow, "accept-ranges": ranges, "content-length": "0", vary: "Authorization" });
  });

  it.each(["/", "/site/"])("of %s with an index file allows what its elements take", async (target) => {
    const site = await testSite(await make({ "/index.html": "<div>a</div>", "/site/index.html": "<div>a</div>" }));
    const { headers } = await site.send("OPTIONS", target);
    expect(headers.allow).toBe("GET, HEAD, PUT, POST, DELETE, PATCH, MOVE, COPY, OPTIONS");
    for (const method of ["GET", "HEAD", "PUT", "POST", "DELETE"]) {
      const body = method.startsWith("P") ? "<div>b</div>" : undefined;
      const headers = { range: "selector=div" };
      const { status } = await site.send(method, target, { headers, ...(body && { body }) });
      expect(status, method).toBe(method === "DELETE" ? 204 : 206);
    }
  });

  it("allows just what is then not answered by 405", async () => {
    const methods = ["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "TRACE"];
    for (const target of ["/a.txt", "/dir/", "/", "/new.txt", "/new/"]) {
      const { storage, everything } = await make(files);
      const { send } = await testSite({ storage, everything });
      const allowed = (await send("OPTIONS", target)).headers.allow?.split(", ") ?? [];
      for (const method of methods) {
        const { status, headers } = await send(method, target, { headers: { "if-match": '"x"', "x-filename": "x" } });
        const isAllowed = allowed.includes(method);
        expect(isAllowed && [404, 405].includes(status), `${method} ${target}`).toBe(false);
        expect(!isAllowed && status < 400, `${method} ${target}`).toBe(false);
        expect(headers.allow === undefined || headers.allow === allowed.join(", ")).toBe(true);
      }
    }
  });

  it("tells of a selector what may be done to elements", async () => {
    const site = await testSite(await make(files));
    const ask = (target: string) => site.send("OPTIONS", target, { headers: { range: "selector=p" } });
    for (const target of ["/page.html", "/site/"]) {
      const { status, headers } = await ask(target);
      expect(status).toBe(200);
      expect(headers.allow).toBe("GET, HEAD, PUT, POST, DELETE, OPTIONS");
    }
    expect([(await ask("/new.html")).status, (await ask("/a.txt")).status]).toEqual([404, 416]);
  });
});
