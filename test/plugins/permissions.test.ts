import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import express from "express";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { fromMiddleware } from "../../src/plugins/from-middleware.ts";
import type { PermissionRule } from "../../src/plugins/permissions/rules.ts";
import { type PermissionsOptions, permissions } from "../../src/plugins/permissions.ts";
import type { Exchange } from "../../src/server/exchange.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { listen } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const content = { "/a.txt": "a", "/page.html": "<p id=open>1</p><p id=shut>2</p>", "/users/ada/a.txt": "hers" };

function serverOf(options: PermissionsOptions, before: readonly Plugin[] = []): FileServer {
  const plugins = [...before, permissions({ user: byHeader, ...options })];
  const files = createFileServer({ storage: memoryStorage(content), plugins, onError: () => {} });
  onTestFinished(() => files.close());
  return files;
}

/** Knows users by a header of their own: `ada:editor`. */
function byHeader({ headers }: Exchange) {
  const [name, ...roles] = headers["x-user"]?.toString().split(":") ?? [];
  return name === undefined ? undefined : { name, roles };
}

async function statusOf(files: FileServer, path: string, user?: string, init: RequestInit = {}): Promise<number> {
  const headers = { ...(user !== undefined && { "x-user": user }), ...init.headers };
  return (await files.fetch(new Request(`http://localhost${path}`, { ...init, headers, redirect: "manual" }))).status;
}

const put = { method: "PUT", body: "new" };

describe("permissions", () => {
  it("tells users by name, role, ownership, being signed in, and being anyone, in this order", async () => {
    const rules: readonly PermissionRule[] = [
      { username: "*", path: "/*", methods: ["GET"], permission: "allow" },
      { username: ":signed-in", path: "/*", rights: ["create"], permission: "allow" },
      { username: ":signed-in", path: "/users/*", permission: "deny" },
      { username: ":username", path: "/users/:username/*", permission: "allow" },
      { role: "editor", path: "/*", permission: "allow" },
      { username: "eve", path: "/*", permission: "deny" },
    ];
    const files = serverOf({ rules });
    expect(await statusOf(files, "/a.txt")).toBe(200);
    expect(await statusOf(files, "/new.txt", undefined, put)).toBe(401);
    expect(await statusOf(files, "/new.txt", "bob", put)).toBe(201);
    expect(await statusOf(files, "/a.txt", "bob", put)).toBe(403);
    expect(await statusOf(files, "/users/ada/a.txt")).toBe(200);
    expect(await statusOf(files, "/users/ada/a.txt", "bob")).toBe(403);
    expect(await statusOf(files, "/users/ada/a.txt", "ada", put)).toBe(200);
    expect(await statusOf(files, "/users/ada/a.txt", "carol:editor", put)).toBe(200);
    expect(await statusOf(files, "/a.txt", "eve:editor")).toBe(403);
  });

  it("reads the rules of a page, and again when it changes", async () => {
    const page = join(await temporaryDirectory(), "rules.html");
    const rule = (permission: string) => `<ul><li itemscope itemtype="https://example.com/AuthorizationRule">
      <b itemprop="username">:signed-in</b> <b itemprop="method">GET</b>
      <b itemprop="path">/*</b> <b itemprop="permission">${permission}</b></ul>`;
    await writeFile(page, rule("allow"));
    const files = serverOf({ rules: page });
    expect(await statusOf(files, "/a.txt", "ada")).toBe(200);
    await writeFile(page, rule("deny").padEnd(1000));
    await expect.poll(() => statusOf(files, "/a.txt", "ada")).toBe(403);
  });

  it("takes no roles from users that are listed beside the rules", async () => {
    const page = join(await temporaryDirectory(), "rules.html");
    await writeFile(
      page,
      `<ul><li itemscope itemtype="https://example.com/Credential"><b itemprop="username">ada</b>
      <b itemprop="password">x</b> <b itemprop="encryption">plaintext</b> <b itemprop="role">editor</b>
      <li itemscope itemtype="https://example.com/AuthorizationRule"><b itemprop="role">editor</b>
      <b itemprop="path">/*</b> <b itemprop="permission">allow</b></ul>`,
    );
    const files = serverOf({ rules: page });
    expect(await statusOf(files, "/a.txt", "ada")).toBe(403);
    expect(await statusOf(files, "/a.txt", "bob:editor")).toBe(200);
  });

  it("does not start with a page that is missing, or has no rules", async () => {
    const page = join(await temporaryDirectory(), "rules.html");
    await expect(serverOf({ rules: page }).ready()).rejects.toThrow(/permissions: .*rules\.html: /);
    await writeFile(page, "<p>nothing");
    await expect(serverOf({ rules: page }).ready()).rejects.toThrow("there are no rules: expected at least one item");
    // Without rules users may do everything, which a page of users alone does not ask for.
    await writeFile(
      page,
      `<p itemscope itemtype="https://example.com/User"><b itemprop="username">ada</b>
       <b itemprop="password">secret</b> <b itemprop="encryption">plaintext</b>`,
    );
    await expect(serverOf({ rules: page }).ready()).rejects.toThrow("there are no rules: expected at least one item");
  });

  it.each<[string, PermissionsOptions]>([
    ["permissions: rules[0].path is", { rules: [{ username: "ada", path: "x", permission: "allow" }] }],
    ["permissions: rules is 3: expected a list of rules, or the location of a page", { rules: 3 as never }],
    ['permissions: challenge is "a\\nb": expected printable ASCII', { challenge: "a\nb" }],
    ["permissions: signInPage is", { signInPage: "/sign in" }],
    ["permissions: vary[0] is", { vary: ["Cookie"] }],
  ])("refuses options that cannot work: %s", (problem, options) => {
    expect(() => permissions(options)).toThrow(problem);
  });

  it.each<[string, () => unknown]>([
    ["a name", () => "ada"],
    ["an empty name", () => ({ name: "" })],
    ["a role that is no text", () => ({ name: "ada", roles: [3] })],
    ["a list of roles that is a text", () => ({ name: "ada", roles: "editor" })],
  ])("fails, and lets nobody in, where it is told %s in place of a user", async (_what, user) => {
    expect(await statusOf(serverOf({ user: user as never }), "/a.txt")).toBe(500);
  });

  it("answers what user() throws", async () => {
    const user = (): never => {
      throw new HttpError(403, "BANNED", "Not you.");
    };
    expect(await statusOf(serverOf({ user }), "/a.txt")).toBe(403);
  });
});

describe("a client that is not signed in", () => {
  const ask = (files: FileServer, init: RequestInit = {}) =>
    files.fetch(new Request("http://localhost/a.txt?x=1", { redirect: "manual", ...init }));

  it("is told how to sign in, and caches are told what the reply depends on", async () => {
    const reply = await ask(serverOf({ challenge: 'Bearer realm="x"', vary: ["x-user"] }));
    const { headers } = reply;
    expect([reply.status, headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="x"']);
    expect(headers.get("vary")).toBe("accept, x-user");
    const open = await ask(serverOf({ vary: ["x-user"] }), { headers: { "x-user": "ada" } });
    expect(open.headers.get("vary")?.split(", ")).toContain("x-user");
  });

  it("is sent to the page where one signs in, if it is a browser that opens a page", async () => {
    const signInPage = ({ url }: Exchange) => `/sign-in?then=${encodeURIComponent(url)}`;
    const files = serverOf({ signInPage });
    const browser = { accept: "text/html,*/*;q=0.8" };
    const reply = await ask(files, { headers: browser });
    expect([reply.status, reply.headers.get("location")]).toEqual([302, "/sign-in?then=%2Fa.txt%3Fx%3D1"]);
    expect(reply.headers.get("cache-control")).toBe("no-store");
    expect((await ask(files, { headers: browser, method: "PUT", body: "x" })).status).toBe(401);
    expect((await ask(files, { headers: { accept: "*/*" } })).status).toBe(401);
    expect((await ask(files, { headers: { ...browser, "x-user": "ada" } })).status).toBe(200);
  });

  it("is sent there also where only the operation finds out that it may not", async () => {
    const rules: readonly PermissionRule[] = [{ username: "*", path: "/*", rights: ["read"], permission: "allow" }];
    const files = serverOf({ signInPage: "/sign-in", rules });
    const reply = await files.fetch(
      new Request("http://localhost/users/", { redirect: "manual", headers: { accept: "text/html" } }),
    );
    expect([reply.status, reply.headers.get("location")]).toEqual([302, "/sign-in"]);
  });
});

describe("the request of the host program", () => {
  it("is Express's own, which middleware in the pipeline sees and changes as well", async () => {
    const seen: unknown[] = [];
    const app = express();
    app.use((request, _response, next) => {
      Object.assign(request, { session: { user: { name: "ada" } } });
      seen.push(request);
      next();
    });
    const middleware: express.RequestHandler = (request, _response, next) => {
      seen.push(request);
      Object.assign(request, { note: request.ip });
      next();
    };
    const look: Plugin = {
      name: "look",
      handle(exchange: Exchange<express.Request>, next) {
        const { request } = exchange;
        seen.push(request, request.baseUrl, Reflect.get(request, "note"));
        return next();
      },
    };
    const user = ({ request }: Exchange<express.Request & { session: { user: { name: string } } }>) =>
      request.session.user;
    const plugins = [fromMiddleware(middleware), look, permissions({ user })];
    app.use("/wiki", createFileServer({ storage: memoryStorage(content), plugins }));
    const url = `http://127.0.0.1:${await listen(createServer(app))}`;
    expect((await fetch(`${url}/wiki/a.txt`)).status).toBe(200);
    expect(new Set(seen)).toEqual(new Set([seen[0], "/wiki", "127.0.0.1"]));
  });

  it("is a Request where that was fetched, and what a program has added to it reaches middleware", async () => {
    const seen: unknown[] = [];
    const middleware = fromMiddleware((request, _response, next) => {
      seen.push(Reflect.get(request, "session"));
      next();
    });
    const look: Plugin = {
      name: "look",
      handle(exchange: Exchange<Request>, next) {
        seen.push(exchange.request.url);
        return next();
      },
    };
    const files = createFileServer({ storage: memoryStorage(content), plugins: [middleware, look] });
    await files.fetch(Object.assign(new Request("http://localhost/a.txt"), { session: "s" }));
    expect(seen).toEqual(["s", "http://localhost/a.txt"]);
  });
});
