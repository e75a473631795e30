import { describe, expect, it } from "vitest";
import { type PlacedPlugin, problemsOfOrder } from "../../src/config-page/plugin-order.ts";
import type { Plugin } from "../../src/server/plugin.ts";

type Rest = Partial<Omit<PlacedPlugin, "name">>;

let line = 0;
const handle = (): never => {
  throw new Error("not called");
};

/** A plugin at the next line. */
function at(name: PlacedPlugin["name"], rest: Rest = {}): PlacedPlugin {
  line += 1;
  return { name, line, options: {}, nested: [], plugin: { name, handle }, ...rest };
}

const observer: Plugin = { name: "access-log" };
const auth = (authfile = "/users"): PlacedPlugin => at("basic-auth", { options: { authfile } });
const authorization = (authfile?: string): PlacedPlugin =>
  at("authorization", { options: { ...(authfile && { authfile }) }, plugin: undefined });
const limitByUser = (): PlacedPlugin => at("rate-limit", { options: { keyStrategy: "user" } });
const files = (): PlacedPlugin => at("file-handler");
const directory = (path: string, ...nested: PlacedPlugin[]): PlacedPlugin =>
  at("directory", {
    options: { directory: path },
    nested,
    plugin: { name: "directory", scope: { covers: () => true } },
  });
/** A module that confines those that follow, or others, to paths that only it knows. */
const scopeModule = (plugins?: readonly Plugin[]): PlacedPlugin =>
  at("module", { plugin: { name: "pictures", scope: { covers: () => true, ...(plugins && { plugins }) } } });

const problemsOf = (...placed: PlacedPlugin[]): string[] => problemsOfOrder(placed).map(({ text }) => text);

describe("problemsOfOrder", () => {
  it("has nothing to say about an order that works", () => {
    const metrics = at("metrics");
    expect(problemsOf(metrics, at("access-log", { plugin: observer }), auth(), limitByUser(), files())).toEqual([]);
  });

  it("has the line of the plugin that is meant", () => {
    const early = limitByUser();
    expect(problemsOfOrder([early])).toEqual([{ line: early.line, text: expect.stringMatching(/^rate-limit: /) }]);
  });
});

describe("a limit for each user", () => {
  const problem = 'rate-limit: key_strategy is "user": expected basic-auth before it, for the same paths';

  it("has to follow an authentication", () => {
    expect(problemsOf(auth(), limitByUser())).toEqual([]);
    expect(problemsOf(limitByUser())).toEqual([problem]);
    expect(problemsOf(limitByUser(), auth())).toEqual([problem]);
  });

  it("may follow a module, which may be an authentication", () => {
    expect(problemsOf(at("module"), limitByUser())).toEqual([]);
    expect(problemsOf(limitByUser(), at("module"))).toEqual([problem]);
  });

  it("has to follow one for some of the same paths", () => {
    expect(problemsOf(directory("/a", auth()), limitByUser())).toEqual([]);
    expect(problemsOf(auth(), directory("/a", limitByUser()))).toEqual([]);
    expect(problemsOf(directory("/a", auth()), directory("/a/b", limitByUser()))).toEqual([]);
    expect(problemsOf(directory("/a", auth()), directory("/b", limitByUser()))).toEqual([problem]);
    expect(problemsOf(directory("/a", auth()), directory("/ab", limitByUser()))).toEqual([problem]);
  });

  it("has to follow one for the same paths in flat directories, too", () => {
    expect(problemsOf(directory("/a"), auth(), limitByUser())).toEqual([]);
    expect(problemsOf(directory("/a"), auth(), directory("/b"), limitByUser())).toEqual([problem]);
    expect(problemsOf(directory("/a"), auth(), directory("/"), limitByUser())).toEqual([]);
  });

  it("by address or host may stand anywhere", () => {
    expect(problemsOf(at("rate-limit", { options: { keyStrategy: "host" } }), at("rate-limit"))).toEqual([]);
  });
});

describe("a plugin behind a file handler", () => {
  const problem = (name: string): string =>
    `${name}: stands behind a file handler, which answers everything: expected it before`;

  it("is never asked", () => {
    expect(problemsOf(files(), auth(), files())).toEqual([problem("basic-auth"), problem("file-handler")]);
    expect(problemsOf(files(), directory("/a", auth()))).toEqual([problem("basic-auth")]);
    expect(problemsOf(files(), directory("/a"), auth())).toEqual([problem("basic-auth")]);
    expect(problemsOf(files(), scopeModule(), auth())).toEqual([problem("basic-auth")]);
    expect(problemsOf(directory("/a", files()), directory("/a/b", auth()))).toEqual([problem("basic-auth")]);
  });

  it("may be there if it only observes", () => {
    expect(problemsOf(files(), at("access-log", { plugin: observer }))).toEqual([]);
  });

  it("may be there for other paths", () => {
    expect(problemsOf(directory("/a", files()), auth())).toEqual([]);
    expect(problemsOf(directory("/a", files()), directory("/b", auth()))).toEqual([]);
    expect(problemsOf(directory("/a", files()), directory("/ab", auth()))).toEqual([]);
    expect(problemsOf(scopeModule(), files(), auth())).toEqual([]);
    expect(problemsOf(directory("/a", scopeModule(), files(), auth()))).toEqual([]);
  });

  it("may be a selector handler, which the file handler is itself", () => {
    expect(problemsOf(files(), at("selector-handler", { plugin: undefined }))).toEqual([]);
  });

  it("is found behind a module that confines others", () => {
    expect(problemsOf(scopeModule([]), files(), auth())).toEqual([problem("basic-auth")]);
  });
});

describe("an authorization", () => {
  const problem = "authorization: expected an authfile, or basic-auth before it, for the same paths";

  it("is done by the basic-auth before it", () => {
    expect(problemsOf(auth(), authorization())).toEqual([]);
    expect(problemsOf(auth("/users"), authorization("/users"))).toEqual([]);
    expect(problemsOf(auth(), directory("/a", authorization()))).toEqual([]);
  });

  it("is a problem without one, or with one that comes later", () => {
    expect(problemsOf(authorization())).toEqual([problem]);
    expect(problemsOf(authorization(), auth())).toEqual([problem]);
    expect(problemsOf(at("module"), authorization())).toEqual([problem]);
  });

  it("is a problem where basic-auth is there for less: the rest would be open", () => {
    expect(problemsOf(directory("/a", auth()), authorization())).toEqual([problem]);
    expect(problemsOf(directory("/a", auth()), directory("/b", authorization()))).toEqual([problem]);
    expect(problemsOf(scopeModule(), auth(), directory("/"), authorization())).toEqual([problem]);
  });

  it("may have rules of its own", () => {
    expect(problemsOf(auth("/users"), authorization("/rules"))).toEqual([]);
    expect(problemsOf(authorization("/rules"))).toEqual([]);
  });

  it("goes with the nearest basic-auth", () => {
    expect(problemsOf(auth("/one"), auth("/two"), authorization("/two"))).toEqual([]);
  });
});

describe("a directory", () => {
  it("within another one is a part of that", () => {
    expect(problemsOf(directory("/a", directory("/a/b", auth())))).toEqual([]);
    expect(problemsOf(directory("/a/", directory("/a", auth())))).toEqual([]);
    expect(problemsOf(directory("/a/b", directory("/a", auth()), limitByUser()))).toEqual([]);
  });

  it("within another one that it is no part of would never do anything", () => {
    expect(problemsOf(directory("/a", directory("/b", auth())))).toEqual([
      "directory: /b is no part of /a, which it is in",
    ]);
  });

  it("whose path could not be read may be anywhere", () => {
    const unread = at("directory", { nested: [files()], plugin: undefined });
    expect(problemsOf(unread, auth(), limitByUser())).toEqual([]);
  });
});

describe("a plugin that could not be made", () => {
  it("counts all the same, so that one mistake is not reported as two", () => {
    const broken = at("basic-auth", { plugin: undefined });
    expect(problemsOf(broken, limitByUser(), authorization("/users"))).toEqual([]);
  });
});
