// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${username}` is what a rule has where the name goes
import { describe, expect, it } from "vitest";
import { basicAuth } from "../../../src/plugins/basic-auth.ts";
import type { PermissionRule } from "../../../src/plugins/permissions/rules.ts";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";
import { type Answer, send } from "../../helpers/send.ts";
import { serve } from "../../helpers/serve.ts";

const page = `<!doctype html>
<title>Board</title>
<h1>Board</h1>
<ul id="notes">
<li data-owner="ada">of ada</li>
<li data-owner="bob">of bob</li>
<li data-owner="ada"><b>more of ada</b></li>
</ul>
<section class="secret"><p id="pin">1234</p></section>
<p id="open">open</p>
`;

const own: PermissionRule = {
  username: "*",
  path: "/*",
  selector: '[data-owner="${username}"], [data-owner="${username}"] *',
  permission: "allow",
};
const read: PermissionRule = { username: "*", path: "/*", methods: ["GET"], permission: "allow" };
const noSecret: PermissionRule = { username: "*", path: "/*", selector: ".secret", permission: "deny" };
const everything: PermissionRule = { username: "*", path: "/*", permission: "allow" };

interface Board {
  /** A request for elements by a user, or by nobody. */
  ask(who: string, method: string, selector: string | undefined, body?: string, path?: string): Promise<Answer>;
  text(): Promise<string>;
}

async function board(...rules: PermissionRule[]): Promise<Board> {
  const storage = memoryStorage({ "/board.html": page, "/index.html": page, "/notes.txt": "text" });
  const users = (): boolean => true;
  const { url } = await serve({ storage, plugins: [basicAuth({ users, rules })] });
  const unprotected = await serve({ storage });
  return {
    ask: (who, method, selector, body, path = "/board.html") => {
      const authorization = `Basic ${Buffer.from(`${who}:x`).toString("base64")}`;
      const headers = {
        ...(who !== "" && { authorization }),
        ...(selector !== undefined && { range: `selector=${selector}` }),
      };
      return send(url, method, path, { headers, body });
    },
    text: async () => (await send(unprotected.url, "GET", "/board.html")).text,
  };
}

describe("a rule that allows elements", () => {
  it.each([
    ["reading", "GET", undefined, 206],
    ["asking for the size", "HEAD", undefined, 206],
    ["replacing", "PUT", '<li data-owner="ada">new</li>', 206],
    ["appending", "POST", "<i>new</i>", 206],
    ["deleting", "DELETE", undefined, 204],
  ])("allows %s them, and nothing else", async (_what, method, body, status) => {
    const { ask, text } = await board(own);
    for (const selector of ["[data-owner=bob]", "li", "#notes", "h1", "html", "[data-owner=ada], h1"]) {
      const refused = await ask("ada", method, selector, body);
      expect([selector, refused.status]).toEqual([selector, 403]);
      expect(await text()).toBe(page);
      expect((await ask("", method, selector, body)).status).toBe(401);
    }
    expect((await ask("ada", method, "[data-owner=ada]", body)).status).toBe(status);
    expect(await text()).toContain('<li data-owner="bob">of bob</li>');
  });

  it("allows what lies in them where the selector says so", async () => {
    const { ask, text } = await board(own);
    expect((await ask("ada", "GET", "b")).text).toBe("<b>more of ada</b>");
    expect((await ask("ada", "PUT", "b", "<b>x</b>")).status).toBe(206);
    expect(await text()).toBe(page.replace("more of ada", "x"));
    expect((await ask("bob", "GET", "b")).status).toBe(403);
  });

  it("allows nothing with the whole file, nor to list or create files", async () => {
    const { ask } = await board(own);
    for (const method of ["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"]) {
      expect([method, (await ask("ada", method, undefined)).status]).toEqual([method, 403]);
      expect((await ask("ada", method, undefined, undefined, "/notes.txt")).status).toBe(403);
    }
    expect((await ask("ada", "GET", undefined, undefined, "/")).status).toBe(403);
    expect((await ask("ada", "PUT", undefined, "x", "/new.html")).status).toBe(403);
  });

  it("adds to what another rule allows with the whole file", async () => {
    const { ask } = await board(own, read);
    expect((await ask("ada", "GET", undefined)).text).toBe(page);
    expect((await ask("ada", "GET", "h1")).text).toBe("<h1>Board</h1>");
    expect((await ask("ada", "PUT", "h1", "<h1>x</h1>")).status).toBe(403);
    expect((await ask("ada", "DELETE", "[data-owner=bob]")).status).toBe(403);
    expect((await ask("ada", "DELETE", "[data-owner=ada]")).status).toBe(204);
    expect((await ask("", "GET", "h1")).status).toBe(206);
    expect((await ask("", "DELETE", "[data-owner=ada]")).status).toBe(401);
  });

  it("holds for the index file that a directory stands for", async () => {
    const { ask } = await board(own);
    expect((await ask("ada", "GET", "b", undefined, "/")).status).toBe(206);
    expect((await ask("ada", "GET", "h1", undefined, "/")).status).toBe(403);
  });

  it("tells by OPTIONS what may be done to these elements", async () => {
    const { ask } = await board(own, read);
    expect((await ask("ada", "OPTIONS", "b")).headers.allow).toBe("GET, HEAD, PUT, POST, DELETE, OPTIONS");
    expect((await ask("ada", "OPTIONS", "h1")).headers.allow).toBe("GET, HEAD, OPTIONS");
    expect((await ask("", "OPTIONS", "b")).headers.allow).toBe("GET, HEAD, OPTIONS");
  });
});

describe("a rule that denies elements", () => {
  it.each([
    ["reading", "GET", undefined],
    ["asking for the size", "HEAD", undefined],
    ["replacing", "PUT", "<p>x</p>"],
    ["appending to", "POST", "<i>x</i>"],
    ["deleting", "DELETE", undefined],
  ])("denies %s them, what lies in them and what holds them", async (_what, method, body) => {
    const { ask, text } = await board(everything, noSecret);
    for (const selector of [".secret", "#pin", "body", "html", "p", "section, h1", "*"]) {
      expect([selector, (await ask("ada", method, selector, body)).status]).toEqual([selector, 403]);
    }
    expect(await text()).toBe(page);
    expect((await ask("ada", method, "#open", body)).status).toBe(method === "DELETE" ? 204 : 206);
    expect(await text()).toContain("1234");
  });

  it("denies the whole file, in which they are, and no file of another kind", async () => {
    const { ask } = await board(everything, noSecret);
    for (const method of ["GET", "HEAD", "PUT", "POST", "DELETE"]) {
      expect([method, (await ask("ada", method, undefined, "")).status]).toEqual([method, 403]);
    }
    expect((await ask("ada", "GET", undefined, undefined, "/notes.txt")).status).toBe(200);
  });

  it("leaves the rest to be read by elements", async () => {
    const { ask } = await board(everything, noSecret);
    const answer = await ask("", "GET", "h1, #open");
    expect([answer.status, answer.text]).toEqual([206, '<h1>Board</h1><p id="open">open</p>']);
    expect((await ask("", "OPTIONS", "h1")).headers.allow).toBe("GET, HEAD, PUT, POST, DELETE, OPTIONS");
    expect((await ask("", "OPTIONS", "#pin")).status).toBe(401);
  });
});
