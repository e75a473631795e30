import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { hash } from "@node-rs/bcrypt";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { type BasicAuthOptions, basicAuth } from "../../src/plugins/basic-auth.ts";
import type { PermissionRule } from "../../src/plugins/permissions/rules.ts";
import type { Logger } from "../../src/server/logger.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { jsonReply } from "../../src/server/reply.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { fastClock } from "../helpers/fast-clock.ts";
import { type Answer, type Sending, send } from "../helpers/send.ts";
import { openSocket, rawRequest, type Served, serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { malformedFields } from "./basic-auth/malformed-fields.ts";

const run = promisify(execFile);

const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
const ada = { authorization: basic("ada", "engine") };
const bob = { authorization: basic("bob", "bees") };
const plaintext = "plaintext" as const;
const users = [
  { username: "ada", password: "engine", encryption: plaintext, roles: ["editor"] },
  { username: "bob", password: "bees", encryption: plaintext },
];
const files = {
  "/index.html": "<h1>Hello</h1>",
  "/docs/a.txt": "a",
  "/docs/b.txt": "b",
  "/users/ada/notes.txt": "n",
  "/users/bob/notes.txt": "n",
};
const anyone = (rule: Partial<PermissionRule>): PermissionRule => ({
  username: "*",
  path: "/*",
  permission: "allow",
  ...rule,
});

interface Site extends Served {
  readonly errors: unknown[];
  send(method: string, target: string, sending?: Sending): Promise<Answer>;
}

/** Serves some files behind `basicAuth`, with other plugins before and behind it. */
async function site(
  options: BasicAuthOptions = { users },
  { before = [], behind = [], ...config }: Partial<FileServerConfig> & { before?: Plugin[]; behind?: Plugin[] } = {},
): Promise<Site> {
  const errors: unknown[] = [];
  const served = await serve({
    ...(config.root === undefined && { storage: memoryStorage(files) }),
    ...config,
    plugins: [...before, basicAuth(options), ...behind],
    onError: (error) => errors.push(error),
  });
  return { ...served, errors, send: (method, target, sending) => send(served.url, method, target, sending) };
}

/** A line of a users file, with a hash of bcrypt. */
const userLine = async (name: string, password: string, cost = 4): Promise<string> =>
  `${name}:${await hash(password, cost)}\n`;

/** A plugin that answers one path and tells whom it saw. */
const whoami: Plugin = {
  name: "whoami",
  handle: ({ path, user, metadata }, next) =>
    path === "/whoami" ? jsonReply(200, { user, name: metadata.get("authenticated_user") }) : next(),
};

describe("basicAuth", () => {
  describe("authentication", () => {
    it("answers 401 with a challenge to whoever sends no credentials", async () => {
      const answer = await (await site()).send("GET", "/docs/a.txt");
      expect([answer.status, answer.headers["www-authenticate"]]).toEqual([
        401,
        'Basic realm="filement", charset="UTF-8"',
      ]);
      expect(JSON.parse(answer.text)).toEqual({
        error: "Unauthorized",
        details: "Send a user name and a password.",
        code: "UNAUTHORIZED",
      });
      expect(answer.headers.vary).toBe("accept, authorization");
    });

    it.each([
      ["a wrong password", basic("ada", "engines")],
      ["no password", basic("ada", "")],
      ["another user's password", basic("ada", "bees")],
      ["an unknown user", basic("eve", "engine")],
      ["a user name in other letters", basic("ADA", "engine")],
      ["no user", basic("", "engine")],
    ])("answers 401 to %s, and says no more than that", async (_what, authorization) => {
      const answer = await (await site()).send("GET", "/docs/a.txt", { headers: { authorization } });
      expect([answer.status, answer.headers["www-authenticate"]]).toEqual([
        401,
        'Basic realm="filement", charset="UTF-8"',
      ]);
      expect(JSON.parse(answer.text).details).toBe("The user name or the password is wrong.");
    });

    it("answers 401 to every malformed field, with a challenge, and reports no failure", async () => {
      const { port, errors } = await site({ users, rules: [anyone({})] });
      for (const field of malformedFields) {
        const answer = await rawRequest(port, "GET", "/docs/a.txt", [`Authorization: ${field}`]);
        expect([field, answer.status]).toEqual([field, 401]);
        expect(answer.head).toContain('\r\nwww-authenticate: Basic realm="filement", charset="UTF-8"');
        expect(JSON.parse(answer.body).code).toBe("UNAUTHORIZED");
      }
      expect(errors).toEqual([]);
    });

    it("answers 401 to two fields, though each alone would do", async () => {
      const { port } = await site();
      const field = `Authorization: ${ada.authorization}`;
      expect((await rawRequest(port, "GET", "/docs/a.txt", [field])).status).toBe(200);
      expect((await rawRequest(port, "GET", "/docs/a.txt", [field, field])).status).toBe(401);
      expect((await rawRequest(port, "GET", "/docs/a.txt", [field, "AUTHORIZATION: Bearer x"])).status).toBe(401);
    });

    it("answers 401 to wrong credentials even where nobody needs any", async () => {
      const { send } = await site({ users, rules: [anyone({})] });
      expect((await send("GET", "/docs/a.txt")).status).toBe(200);
      const headers = { authorization: basic("ada", "wrong") };
      expect((await send("GET", "/docs/a.txt", { headers })).status).toBe(401);
    });

    it("does not believe what a proxy or anybody else says about the user", async () => {
      const { send } = await site({ users }, { trustProxy: true });
      const headers = {
        "x-forwarded-user": "ada",
        "x-forwarded-for": "127.0.0.1",
        "x-authenticated-user": "ada",
        "x-remote-user": "ada",
        "proxy-authorization": ada.authorization,
        cookie: `authorization=${ada.authorization}`,
      };
      expect((await send("GET", "/docs/a.txt", { headers })).status).toBe(401);
      expect((await send("GET", `/docs/a.txt?authorization=${encodeURIComponent(ada.authorization)}`)).status).toBe(
        401,
      );
    });

    it("makes the user known to later plugins and to those who follow the changes", async () => {
      const { send, files: server } = await site({ users }, { behind: [whoami] });
      const seen: unknown[] = [];
      server.changes.subscribe(({ user }) => seen.push(user));
      expect(JSON.parse((await send("GET", "/whoami", { headers: ada })).text)).toEqual({
        user: { name: "ada", roles: ["editor"] },
        name: "ada",
      });
      await send("PUT", "/docs/new.txt", { headers: bob, body: "x" });
      expect(seen).toEqual(["bob"]);
    });

    it("does not let a later plugin change a user's roles for the next request", async () => {
      const greedy: Plugin = {
        name: "greedy",
        handle: ({ user }, next) => {
          Reflect.set(user ?? {}, "name", "root");
          (user as unknown as { roles: string[] }).roles.push("admin");
          return next();
        },
      };
      const { send, errors } = await site({ users }, { behind: [greedy] });
      expect((await send("GET", "/docs/a.txt", { headers: ada })).status).toBe(500);
      expect(errors).toEqual([expect.any(TypeError)]);
    });

    it("names its realm, with quotation marks and backslashes escaped", async () => {
      const answer = await (await site({ users, realm: 'My "own" \\ files' })).send("GET", "/");
      expect(answer.headers["www-authenticate"]).toBe('Basic realm="My \\"own\\" \\\\ files", charset="UTF-8"');
    });

    it("answers 503 where too many passwords wait to be checked, and to no client without a reason", async () => {
      const password = await hash("engine", 4);
      const server = createFileServer({
        storage: memoryStorage(files),
        plugins: [basicAuth({ users: [{ username: "ada", password }] })],
      });
      const ask = (name: string, secret: string): Promise<Response> =>
        server.fetch(new Request("http://localhost/", { headers: { authorization: basic(name, secret) } }));
      // In-process, all of them wait before the event loop hears of the first hash.
      const answers = await Promise.all(Array.from({ length: 250 }, (_, index) => ask("ada", `guess ${index}`)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 503]));
      expect(answers.find(({ status }) => status === 503)?.headers.get("retry-after")).toBe("1");
      expect((await ask("ada", "engine")).status).toBe(200);
      await server.close();
    });

    it.each([
      ["other names", "mallory", false],
      ["the name of a user who signed in before", "ada", true],
    ])("lets a user in while 110 guessers at the same address try %s", async (_what, guessed, signsInBefore) => {
      const password = await hash("engine", 4);
      const { send } = await site({ users: [{ username: "ada", password }] });
      if (signsInBefore) await send("GET", "/", { headers: ada });
      const guesses = Array.from({ length: 110 }, (_, index) => ({ authorization: basic(guessed, `guess ${index}`) }));
      const guessing = guesses.map(async (headers) => (await send("GET", "/", { headers })).status);
      await Promise.any(guessing); // once one has an answer, all others wait for theirs
      const answer = await send("GET", "/", { headers: ada });
      expect(answer.status).toBe(200);
      expect((await Promise.all(guessing)).filter((status) => status !== 401 && status !== 503)).toEqual([]);
    });

    it("reports nothing when a client leaves while its password is checked", async () => {
      const password = await hash("engine", 10);
      const aborted: boolean[] = [];
      const observer: Plugin = { name: "observer", observe: (_exchange, outcome) => aborted.push(outcome.aborted) > 0 };
      const { port, errors, send } = await site({ users: [{ username: "ada", password }] }, { before: [observer] });
      const socket = await openSocket(port);
      socket.write(`GET / HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic("ada", "wrong")}\r\n\r\n`, () =>
        socket.destroy(),
      );
      await once(socket, "close");
      while (!aborted.includes(true)) await send("GET", "/");
      expect(errors).toEqual([]);
    });
  });

  describe("users as a function", () => {
    it.each([
      ["true", true, 200],
      ["an object", {}, 200],
      ["roles", { roles: ["editor"] }, 200],
      ["a promise of true", Promise.resolve(true), 200],
      ["false", false, 401],
      ["undefined", undefined, 401],
      ["null", null, 401],
      ["a promise of false", Promise.resolve(false), 401],
      ["a text", "yes", 500],
      ["a number", 1, 500],
      ["roles that are no list", { roles: "editor" }, 500],
      ["roles that are no names", { roles: [1] }, 500],
    ])("that gives %s", async (_what, given, status) => {
      const { send } = await site({ users: () => given as boolean });
      expect((await send("GET", "/docs/a.txt", { headers: ada })).status).toBe(status);
    });

    it("is asked each time, and not at all without readable credentials", async () => {
      let asked = 0;
      const { send } = await site({ users: () => ++asked > 0 });
      await send("GET", "/", { headers: ada });
      await send("GET", "/", { headers: ada });
      await send("GET", "/");
      await send("GET", "/", { headers: { authorization: "Basic x" } });
      expect(asked).toBe(2);
    });

    it("lets nobody in when it fails, and says so to the operator alone", async () => {
      const failing = async (): Promise<boolean> => Promise.reject(new Error("the database is down"));
      const { send, errors } = await site({ users: failing });
      const answer = await send("GET", "/docs/a.txt", { headers: ada });
      expect([answer.status, answer.text.includes("database")]).toEqual([500, false]);
      expect(errors).toEqual([new Error("the database is down")]);
    });
  });

  describe("permission", () => {
    const own: PermissionRule = { username: ":username", path: "/users/:username/*", permission: "allow" };

    it("is 401 for those who could sign in and 403 for those who have", async () => {
      const { send } = await site({ users, rules: [own] });
      expect((await send("GET", "/users/ada/notes.txt")).status).toBe(401);
      const answer = await send("GET", "/users/ada/notes.txt", { headers: bob });
      expect([answer.status, JSON.parse(answer.text).code, answer.headers["www-authenticate"]]).toEqual([
        403,
        "FORBIDDEN",
        undefined,
      ]);
      expect(answer.headers.vary).toBe("accept, authorization");
      expect((await send("GET", "/users/ada/notes.txt", { headers: ada })).status).toBe(200);
    });

    it.each(["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "PATCH"])(
      "refuses %s alike for what exists and what does not",
      async (method) => {
        const { send } = await site({ users, rules: [own] });
        for (const headers of [{}, ada, { range: "selector=p" }]) {
          const paths = [
            "/docs/a.txt",
            "/docs/none.txt",
            "/docs",
            "/docs/",
            "/none/",
            "/docs/a.txt/x",
            "/.hidden",
            "/%C3%A9",
          ];
          const answers = await Promise.all(paths.map((path) => send(method, path, { headers })));
          const seen = answers.map(({ status, headers: { date, "x-request-id": _, ...fields }, text }) => [
            status,
            fields,
            text,
          ]);
          for (const each of seen) expect(each).toEqual(seen[0]);
          expect(seen[0]?.[0]).toBe("authorization" in headers ? 403 : 401);
        }
      },
    );

    it("protects whatever stands behind", async () => {
      let reached = 0;
      const metrics: Plugin = {
        name: "metrics",
        handle: ({ path }, next) => {
          reached += 1;
          return path === "/metrics" ? jsonReply(200, {}) : next();
        },
      };
      const rules = [anyone({ username: "ada", path: "/metrics", methods: ["GET"] })];
      const { send } = await site({ users, rules }, { behind: [metrics] });
      expect((await send("GET", "/metrics")).status).toBe(401);
      expect((await send("GET", "/metrics", { headers: bob })).status).toBe(403);
      expect((await send("POST", "/metrics", { headers: ada })).status).toBe(403);
      expect(reached).toBe(0);
      expect((await send("GET", "/metrics", { headers: ada })).status).toBe(200);
    });

    it.each(["/report.html", "/report/"])("does not let it answer where elements could be, at %s", async (path) => {
      const report: Plugin = { name: "report", handle: () => ({ status: 200, headers: {}, body: "all of it" }) };
      const rules = [anyone({ selector: "h1" }), anyone({ username: "ada" })];
      const { send } = await site({ users, rules }, { behind: [report] });
      const range = "selector=h1";
      for (const method of ["GET", "HEAD", "POST", "OPTIONS", "PROPFIND"]) {
        const [anonymous, known, allowed] = [{ range }, { range, ...bob }, { range, ...ada }];
        const refused = await send(method, path, { headers: anonymous });
        expect([refused.status, refused.text.includes("all of it")], method).toEqual([401, false]);
        expect((await send(method, path, { headers: known })).status, method).toBe(403);
        expect((await send(method, path, { headers: allowed })).status, method).toBe(200);
      }
    });

    it("leaves replies about elements as they are, whatever else stands in between", async () => {
      const copying: Plugin = { name: "copying", handle: async (_exchange, next) => ({ ...(await next()) }) };
      const rules = [anyone({ selector: "h1" })];
      const { send } = await site({ users, rules }, { behind: [copying] });
      const status = async (method: string, selector: string, path = "/index.html"): Promise<number> =>
        (await send(method, path, { headers: { range: `selector=${selector}` } })).status;
      expect(await status("GET", "h1")).toBe(206);
      expect(await status("GET", "h1", "/")).toBe(206);
      expect(await status("HEAD", "h1")).toBe(206);
      expect(await status("OPTIONS", "h1")).toBe(200);
      expect(await status("OPTIONS", "h2")).toBe(200);
      expect(await status("GET", "h2")).toBe(204);
      expect(await status("GET", "body")).toBe(401);
      expect(await status("GET", "h1:")).toBe(400);
      expect(await status("GET", "h1", "/none.html")).toBe(404);
      expect(await status("DELETE", "h1")).toBe(204);
    });

    it("does not widen what an earlier plugin permits", async () => {
      const readOnly: Plugin = {
        name: "read-only",
        handle: (exchange, next) => {
          exchange.access = {
            permitsPath: (right) => right === "read",
            permitsElements: (right) => right === "read",
            refusal: () => new HttpError(403, "FORBIDDEN", "This site is read-only."),
          };
          return next();
        },
      };
      const { send } = await site({ users }, { before: [readOnly] });
      expect((await send("GET", "/docs/a.txt", { headers: ada })).status).toBe(200);
      expect((await send("DELETE", "/docs/a.txt", { headers: ada })).status).toBe(403);
    });
  });

  describe("caches", () => {
    it.each([
      ["a file", "GET", "/docs/a.txt", {}],
      ["a document", "GET", "/index.html", {}],
      ["elements", "GET", "/index.html", { range: "selector=h1" }],
      ["a listing", "GET", "/docs/", {}],
      ["a redirect", "GET", "/docs", {}],
      ["an error", "GET", "/none", {}],
      ["options", "OPTIONS", "/docs/a.txt", {}],
      ["a write", "PUT", "/docs/c.txt", {}],
      ["a plugin's reply", "GET", "/whoami", {}],
    ])("are told that %s depends on who asks, once", async (_what, method, path, headers) => {
      const { send } = await site({ users }, { behind: [whoami] });
      const answer = await send(method, path, { headers: { ...ada, ...headers } });
      const named = answer.headers.vary?.toLowerCase().split(/\s*,\s*/);
      expect(named?.filter((name) => name === "authorization")).toEqual(["authorization"]);
    });
  });

  describe("options", () => {
    const user = { username: "ada", password: "x", encryption: "plaintext" };

    it.each<[unknown, string]>([
      [undefined, "basicAuth: the argument is undefined: expected an object of options"],
      [{}, "basicAuth: expected either authfile or users"],
      [{ users: [user], authfile: "x" }, "basicAuth: expected either authfile or users"],
      [{ authfile: "" }, 'basicAuth: authfile is "": expected a path or a file:// location'],
      [{ authfile: "http://x/users" }, "basicAuth: authfile is"],
      [{ users: "ada" }, "basicAuth: users: expected a list of users or a function"],
      [{ users: [] }, "basicAuth: users: expected at least one user"],
      [{ users: [null] }, "basicAuth: users[0]: expected an object with username and password"],
      [{ users: [{ ...user, name: "x" }] }, 'basicAuth: users[0] has no option "name"'],
      [{ users: [{ ...user, username: "a:b" }] }, 'basicAuth: the user name "a:b" has a colon: expected'],
      [{ users: [{ ...user, username: 5 }] }, "basicAuth: users[0].username: expected a username"],
      [{ users: [{ ...user, password: 5 }] }, "basicAuth: users[0].password: expected a password"],
      [{ users: [{ ...user, password: "" }] }, 'basicAuth: user "ada": '],
      [{ users: [{ ...user, encryption: 5 }] }, "basicAuth: users[0].encryption: expected the name of an encryption"],
      [{ users: [{ ...user, encryption: "rot13" }] }, 'basicAuth: user "ada": the encryption is unknown'],
      [{ users: [{ ...user, roles: "editor" }] }, "basicAuth: users[0].roles: expected a list of names"],
      [{ users: [user, user] }, 'basicAuth: user "ada" is there twice'],
      [{ users: [user], realm: "é" }, 'basicAuth: realm is "é": expected printable ASCII characters'],
      [{ users: [user], cacheTime: 0 }, 'basicAuth: the argument has no option "cacheTime"'],
      [{ users: [user], rules: {} }, "basicAuth: rules is {}: expected a list of rules"],
      [
        { users: [user], rules: [{ username: "*", path: "x", permission: "allow" }] },
        'basicAuth: rules[0].path is "x"',
      ],
      [
        { users: [user], rules: [anyone({}), anyone({ selector: "p:foo" })] },
        'basicAuth: rules[1].selector is "p:foo": expected a CSS selector: ',
      ],
    ])("%j: %s", (options, expected) => {
      expect(() => basicAuth(options as BasicAuthOptions)).toThrow(expected);
    });

    it("repeats no password in what it says about them", () => {
      const secret = "s3cret-Pa55word";
      const wrong: unknown[] = [
        { users: [`ada:${secret}`] },
        { users: { ada: secret }, authfile: "x" },
        { users: [{ username: "a:b", password: secret }] },
        { users: [{ username: "ada", password: { secret } }] },
        { users: [{ username: "ada", password: secret, encryption: "bcrypt" }] },
        { users: [{ username: "ada", password: [secret], pass: secret }] },
        { users: [{ username: "ada", passwort: secret }] },
      ];
      for (const options of wrong) {
        let message = "";
        try {
          basicAuth(options as BasicAuthOptions);
        } catch (error) {
          message = String(error);
        }
        expect(message).toMatch(/^ConfigError: .*basicAuth/);
        expect(message).not.toContain(secret);
      }
    });

    it("warns at the start, once, of passwords in plain text", async () => {
      const { logger, lines } = recordingLogger();
      const plugin = basicAuth({ users });
      const hosts = {
        a: { storage: memoryStorage(), plugins: [plugin] },
        b: { storage: memoryStorage(), plugins: [plugin] },
      };
      const server = createFileServer({ hosts, logger });
      await server.ready();
      expect(lines.filter((line) => line.startsWith("warn basicAuth: user"))).toHaveLength(2);
      expect(lines.join()).not.toMatch(/engine|bees/);
    });
  });
});

function recordingLogger(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  return { lines, logger: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") } };
}

describe("basicAuth with an authfile", () => {
  interface FileSite extends Site {
    readonly authfile: string;
    readonly root: string;
    readonly lines: string[];
    /** The status of a GET with this name and password. */
    status(name: string, password: string): Promise<number>;
    /** Asks until the status is that one; a change is there soon, but nobody says when. */
    until(name: string, password: string, status: number): Promise<void>;
  }

  async function fileSite(
    content?: string,
    options: Partial<BasicAuthOptions> = {},
    behind: Plugin[] = [],
  ): Promise<FileSite> {
    const directory = await temporaryDirectory();
    const root = join(directory, "root");
    const authfile = join(directory, "users");
    await mkdir(root);
    await writeFile(join(root, "a.txt"), "a");
    await writeFile(authfile, content ?? (await userLine("ada", "engine")));
    const { logger, lines } = recordingLogger();
    const served = await site({ authfile, ...options }, { root, logger, behind });
    await served.files.ready();
    const status = async (name: string, password: string): Promise<number> =>
      (await served.send("GET", "/a.txt", { headers: { authorization: basic(name, password) } })).status;
    return {
      ...served,
      authfile,
      root,
      lines,
      status,
      async until(name, password, expected) {
        await expect.poll(() => status(name, password)).toBe(expected);
      },
    };
  }

  /** A file server whose users file is this; what keeps it from starting. */
  async function startFailure(authfile: string): Promise<unknown> {
    const server = createFileServer({ storage: memoryStorage(files), plugins: [basicAuth({ authfile })] });
    const failure = await server.ready().then(
      () => "it started",
      (error: unknown) => error,
    );
    const response = await server.fetch(new Request("http://localhost/docs/a.txt", { headers: ada }));
    expect(response.status).toBe(500);
    await server.close();
    return failure;
  }

  it("takes the file as an absolute path, a relative path, a file:// location and a URL", async () => {
    const { authfile } = await fileSite();
    const url = pathToFileURL(authfile);
    for (const spelling of [authfile, relative(process.cwd(), authfile), url.href, url]) {
      const { send } = await site({ authfile: spelling });
      expect((await send("GET", "/docs/a.txt", { headers: ada })).status).toBe(200);
    }
  });

  it.each([
    ["missing", undefined, "users"],
    ["empty", "", "there are no users"],
    ["without users", "# nobody\n", "there are no users"],
    ["broken", "ada\n", "line 1"],
    ["not text", "\xff\xfe\x00", "users"],
  ])("does not start, and lets nobody in, where the file is %s", async (_what, content, expected) => {
    const authfile = join(await temporaryDirectory(), "users");
    if (content !== undefined) await writeFile(authfile, Buffer.from(content, "latin1"));
    const failure = await startFailure(authfile);
    expect(failure).toMatchObject({ name: "ConfigError", problems: [expect.stringContaining("basicAuth: ")] });
    expect(String(failure)).toContain(expected);
  });

  it("does not answer where it was not started", async () => {
    const { authfile } = await fileSite();
    await expect(basicAuth({ authfile }).handle?.({} as never, () => Promise.reject())).rejects.toThrow("not started");
  });

  it("says in the log that a change of the file opens the host to anonymous clients", async () => {
    const item = (type: string, properties: Readonly<Record<string, string>>): string => {
      const list = Object.entries(properties).map(([name, value]) => `<b itemprop="${name}">${value}</b>`);
      return `<p itemscope itemtype="https://example.org/${type}">${list.join("")}</p>`;
    };
    const page = (...rules: readonly Readonly<Record<string, string>>[]): string =>
      [
        item("Credential", { username: "ada", password: "engine", encryption: "plaintext" }),
        ...rules.map((each) => item("AuthorizationRule", { username: "*", ...each })),
      ].join("\n");
    const read = { path: "/*", method: "GET" };
    const deny = { path: "/docs/*", permission: "deny" };
    const { authfile, lines, send } = await fileSite(page({ ...read, username: ":signed-in" }, deny));
    const opened = (): string[] =>
      lines
        .filter((line) => line.includes("anonymous"))
        .map((line) => line.replace(authfile, "FILE").replace(" {}", ""));
    const anonymous = async (path: string) => (await send("GET", path)).status;
    expect([await anonymous("/a.txt"), opened()]).toEqual([401, []]);
    await writeFile(authfile, page(read, deny));
    await expect.poll(() => anonymous("/a.txt")).toBe(200);
    expect(opened()).toEqual(["warn basicAuth: FILE now lets anonymous clients do more"]);
    await writeFile(authfile, page(read));
    await expect.poll(() => anonymous("/docs/b.txt")).toBe(404);
    expect(opened()).toHaveLength(2);
    await writeFile(authfile, page({ ...read, username: ":signed-in" }));
    await expect.poll(() => anonymous("/a.txt")).toBe(401);
    expect(opened()).toHaveLength(2);
  });

  it("hides the file from everybody, wherever it lies", async () => {
    const directory = await temporaryDirectory({ "a.txt": "a", "users.txt": await userLine("ada", "engine") });
    const authfile = join(directory, "users.txt");
    const { send } = await site({ authfile }, { root: directory });
    expect((await send("GET", "/a.txt", { headers: ada })).status).toBe(200);
    expect((await send("GET", "/users.txt", { headers: ada })).status).toBe(404);
    expect((await send("PUT", "/users.txt", { headers: ada, body: "eve:x" })).status).toBe(403);
    expect((await send("DELETE", "/users.txt", { headers: ada })).status).toBeGreaterThanOrEqual(403);
    const listing = await send("GET", "/", { headers: { ...ada, accept: "application/json" } });
    expect(JSON.parse(listing.text).entries.map(({ name }: { name: string }) => name)).toEqual(["a.txt"]);
  });

  it.each([
    ["the file itself is a link", "users"],
    ["its directory is one", "current/users"],
  ])("hides it where it lies from now on, when %s and leads elsewhere", async (_what, place) => {
    fastClock(); // what the system does not report is looked for every second
    const directory = await temporaryDirectory();
    const release = async (number: number, name: string): Promise<void> => {
      await mkdir(join(directory, `release-${number}`));
      await writeFile(join(directory, `release-${number}/users`), await userLine(name, "pass"));
    };
    const lead = async (number: number): Promise<void> => {
      const isFile = place === "users";
      await symlink(isFile ? `release-${number}/users` : `release-${number}`, join(directory, "next"));
      await rename(join(directory, "next"), join(directory, isFile ? "users" : "current"));
    };
    await release(1, "ada");
    await release(2, "bob");
    await lead(1);
    const { send } = await site(
      { authfile: join(directory, place), rules: [anyone({ methods: ["GET"] })] },
      { root: directory },
    );
    expect((await send("GET", "/release-1/users")).status).toBe(404);
    await lead(2);
    const headers = { authorization: basic("bob", "pass") };
    await expect.poll(async () => (await send("GET", "/none", { headers })).status).not.toBe(401);
    for (const path of [`/${place}`, "/release-1/users", "/release-2/users"]) {
      expect((await send("GET", path)).status, path).toBe(404);
    }
  });

  it("knows a user from the moment on that htpasswd adds one, with a new password, and no longer once removed", {
    tags: ["htpasswd"],
  }, async () => {
    const { authfile, until, status, lines } = await fileSite();
    const htpasswd = (...args: string[]): Promise<unknown> => run("htpasswd", ["-bBC4", ...args]);
    expect(await status("bob", "bees")).toBe(401);
    await htpasswd(authfile, "bob", "bees");
    await until("bob", "bees", 200);
    expect(await status("ada", "engine")).toBe(200);

    await htpasswd(authfile, "bob", "wasps");
    await until("bob", "wasps", 200);
    expect(await status("bob", "bees")).toBe(401);

    await run("htpasswd", ["-D", authfile, "bob"]);
    await until("bob", "wasps", 401);
    expect(await status("ada", "engine")).toBe(200);
    expect(lines.filter((line) => line.startsWith("error"))).toEqual([]);
  });

  it("adds the file's rules to its own", async () => {
    const page = `<!doctype html>
<div itemscope itemtype="http://example.com/Credential">
  <span itemprop="username">ada</span><span itemprop="password">engine</span>
  <span itemprop="encryption">plaintext</span><span itemprop="role">editor</span>
</div>
<div itemscope itemtype="http://example.com/AuthorizationRule">
  <span itemprop="role">editor</span><span itemprop="path">/*</span>
  <span itemprop="method">GET</span><span itemprop="permission">allow</span>
</div>`;
    const rules = [anyone({ path: "/a.txt", methods: ["DELETE"] })];
    const { send, lines } = await fileSite(page, { rules });
    expect((await send("GET", "/a.txt")).status).toBe(401);
    expect((await send("GET", "/a.txt", { headers: ada })).status).toBe(200);
    expect((await send("PUT", "/a.txt", { headers: ada, body: "x" })).status).toBe(403);
    expect((await send("DELETE", "/a.txt")).status).toBe(204);
    expect(lines.filter((line) => line.startsWith("warn basicAuth"))).toEqual([expect.stringContaining("plain")]);
    expect(lines.join()).not.toContain("engine");
  });

  it("reads the file once for several hosts", async () => {
    const { authfile } = await fileSite("ada:$2b$04$qlQMrZ9jPfYboyj16vE2S.OImxm03fqCb5ivqpGoXgL6jQco4WBEy\n");
    const plugin = basicAuth({ authfile });
    const host = { storage: memoryStorage({ "/x": "x" }), plugins: [plugin] };
    const { logger, lines } = recordingLogger();
    const server = createFileServer({ hosts: { "a.example": host, "b.example": host }, logger });
    onTestFinished(() => server.close());
    for (const name of ["a", "b"]) {
      const response = await server.fetch(new Request(`http://${name}.example/x`, { headers: ada }));
      expect(response.status).toBe(200);
    }
    expect(lines.filter((line) => line.startsWith("warn basicAuth: "))).toHaveLength(1);
  });
});
