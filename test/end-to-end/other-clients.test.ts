// What browser clients of this protocol send that others have written, and what they expect; written from the protocol.
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { permissions } from "../../src/plugins/permissions.ts";
import { webSocket } from "../../src/plugins/web-socket.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Answer, send } from "../helpers/send.ts";
import { type Served, serve } from "../helpers/serve.ts";

const page =
  "<!doctype html><main><h1 id=t>T</h1><ul id=l><li>1</li><li>2</li></ul><table><tbody id=b></tbody></table></main>";

function site(config: Parameters<typeof serve>[0] = {}): Promise<Served> {
  return serve({ storage: memoryStorage({ "/a.html": page }), dialect: "draft-00", ...config });
}

const ask = ({ url }: Served, method: string, selector: string, body?: string): Promise<Answer> => {
  const headers = { range: `selector=${selector}`, ...(body !== undefined && { "content-type": "text/html" }) };
  return send(url, method, "/a.html", { headers, body });
};

describe("a client that gives elements methods", () => {
  it("finds out by OPTIONS of the page that the server knows elements", async () => {
    const { headers, status } = await send((await site()).url, "OPTIONS", "/a.html");
    expect([status, headers["accept-ranges"]]).toEqual([200, expect.stringContaining("selector")]);
    expect(headers["allow"]).toContain("PUT");
  });

  it("asks what may be done to an element, by OPTIONS with its selector", async () => {
    const rules = [
      { username: "*", path: "/*", methods: ["GET"], permission: "allow" },
      { username: "*", path: "/*", selector: "li", permission: "allow" },
    ] as const;
    const served = await site({ plugins: [permissions({ rules, user: () => undefined })] });
    const allowed = async (selector: string) => (await ask(served, "OPTIONS", selector)).headers["allow"];
    expect(await allowed("#t")).toBe("GET, HEAD, OPTIONS");
    expect(await allowed("#l > li:nth-child(1)")).toBe("GET, HEAD, PUT, POST, DELETE, OPTIONS");
  });

  it("puts one element in place of another by its path, and gets one node back", async () => {
    const served = await site();
    const { status, text, headers } = await ask(served, "PUT", "#l > li:nth-child(2)", "<li class=x>two</li>");
    expect([status, text]).toEqual([206, "<li class=x>two</li>"]);
    expect(headers["content-type"]).toContain("text/html");
    expect((await ask(served, "GET", "html > body:nth-child(2) > main > ul > li:nth-child(2)")).text).toBe(text);
  });

  it("appends by POST, and gets just the new node back, rows of tables too", async () => {
    const served = await site();
    expect((await ask(served, "POST", "#l", "<li>3</li>")).text).toBe("<li>3</li>");
    expect((await ask(served, "POST", "#b", "<tr><td>1</td></tr>")).text).toBe("<tr><td>1</td></tr>");
    expect((await ask(served, "GET", "#b")).text).toBe("<tbody id=b><tr><td>1</td></tr></tbody>");
  });

  it("deletes, and is told when there is nothing", async () => {
    const served = await site();
    const { status, text } = await ask(served, "DELETE", "#l > li:nth-child(1)");
    expect([status, text]).toEqual([204, ""]);
    expect((await ask(served, "DELETE", "#none")).status).toBe(416);
    expect((await ask(served, "HEAD", "#t")).status).toBe(206);
  });
});

describe("a client that asks for everything that may be done at once", () => {
  const asked = { prefer: "return=representation", accept: "multipart/mixed" };

  /** The parts as such a client reads them: cut at the boundary, each a block of header fields. */
  async function partsOf(served: Served, headers: Record<string, string> = {}): Promise<Record<string, string>> {
    const answer = await send(served.url, "OPTIONS", "/a.html", { headers: { ...asked, ...headers } });
    expect(answer.status).toBe(200);
    const [, boundary = ""] = /^multipart\/mixed; boundary=(.+)$/.exec(String(answer.headers["content-type"])) ?? [];
    const [, ...parts] = `\r\n${answer.text}`.split(`\r\n--${boundary}`);
    expect(parts.pop()).toBe("--\r\n");
    const fields = parts.map((part) => {
      const [, selector = "", allow = ""] =
        /^\r\nContent-Range: selector=(.+)\r\nAllow: (.+)(?:\r\n)+$/.exec(part) ?? [];
      return [selector, allow];
    });
    return Object.fromEntries(fields);
  }

  it("gets one part for all elements where no rule is about some of them", async () => {
    expect(await partsOf(await site())).toEqual({ "*": "GET, HEAD, PUT, POST, DELETE, OPTIONS" });
  });

  it("gets a part for each selector in the rules for this user, and what the user may do with it", async () => {
    const auth = basicAuth({
      users: (name) => name === "ada",
      rules: [
        { username: "*", path: "/*", methods: ["GET"], permission: "allow" },
        { username: "ada", path: "/a.html", selector: "#l > li", methods: ["PUT", "DELETE"], permission: "allow" },
        { username: "ada", path: "/a.html", selector: "#l", methods: ["POST"], permission: "allow" },
        { username: "bob", path: "/a.html", selector: "h1", permission: "allow" },
        { username: "ada", path: "/other.html", selector: "h2", permission: "allow" },
      ],
    });
    const served = await site({ plugins: [auth] });
    expect(await partsOf(served)).toEqual({ "*": "GET, HEAD, OPTIONS" });
    expect(await partsOf(served, { authorization: `Basic ${btoa("ada:ada")}` })).toEqual({
      "*": "GET, HEAD, OPTIONS",
      "#l > li": "GET, HEAD, PUT, DELETE, OPTIONS",
      "#l": "GET, HEAD, POST, OPTIONS",
    });
  });

  it("gets it also where this user may do nothing but that", async () => {
    const rules = [
      { username: "*", path: "/*", selector: "li", methods: ["GET", "PUT"], permission: "allow" },
    ] as const;
    const served = await site({ plugins: [permissions({ rules, user: () => undefined })] });
    expect(await partsOf(served)).toEqual({ "*": "OPTIONS", li: "GET, HEAD, PUT, OPTIONS" });
  });

  it("gets the plain answer in the other dialect, and where it does not ask", async () => {
    const plain = await send((await site({ dialect: "spec" })).url, "OPTIONS", "/a.html", { headers: asked });
    expect(plain.headers["content-type"]).toBeUndefined();
    const { accept } = asked;
    const unasked = await send((await site()).url, "OPTIONS", "/a.html", { headers: { accept } });
    expect(unasked.headers["content-type"]).toBeUndefined();
  });
});

describe("a client that follows a page as microdata", () => {
  it("reads method, selector and content of each change, and a selector of what was deleted", async () => {
    const served = await site({ plugins: [webSocket()] });
    const socket = new WebSocket(`${served.url.replace("http", "ws")}/a.html`, "stream-item");
    const heard: string[] = [];
    socket.on("message", (data) => heard.push(String(data)));
    await new Promise((resolve) => socket.once("open", resolve));
    await ask(served, "POST", "#b", "<tr><td>1</td></tr>");
    await ask(served, "PUT", "#t", "<h1 id=t>New</h1>");
    await ask(served, "DELETE", "#l > li:nth-child(1)");
    const items = (): string[] => heard.filter((message) => message.includes('itemprop="method"'));
    await expect.poll(() => items().length).toBe(3);
    socket.terminate();
    const property = (item: string, name: string): string | undefined =>
      new RegExp(`<span itemprop="${name}">([^<]*)<`).exec(item)?.[1];
    expect(items().map((item) => [property(item, "method"), property(item, "selector")])).toEqual([
      ["POST", "#b"],
      ["PUT", "#t"],
      ["DELETE", "#l &gt; li:nth-child(1)"],
    ]);
    expect(items()[0]).toContain('<template itemprop="content"><tr><td>1</td></tr></template>');
  });
});
