import { HttpError } from "../http/http-error.ts";
import { preferredType } from "../http/negotiation.ts";
import { filePath } from "../local-files/file-path.ts";
import { checkOptions } from "../options/check-config.ts";
import { aFunction, fileLocation, pluginOptions } from "../options/option-types.ts";
import { anyOf, listOf, type OptionsSchema, type Schema, text, valueThat } from "../options/schema.ts";
import type { User } from "../server/access.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Plugin } from "../server/plugin.ts";
import { emptyReply, type Reply, variesBy } from "../server/reply.ts";
import { applyRules } from "./permissions/apply-rules.ts";
import { latestUser, userOf } from "./permissions/latest-user.ts";
import { createPermissions, type PermissionRule, type Permissions, ruleSchema } from "./permissions/rules.ts";
import { fileSource, fixedSource, type Source } from "./permissions/source.ts";

/** A signed-in user, as the host program knows them. */
export interface SignedIn {
  readonly name: string;
  /** What the rules call the user besides the name. @default [] */
  readonly roles?: readonly string[] | undefined;
}

/** What {@link FindUser} may say. */
export type FoundUser = SignedIn | null | undefined;

/**
 * Says who sent a request. Declared by way of a method, whose parameters TypeScript compares in both directions: a
 * function of an `Exchange<express.Request>` is accepted as well.
 */
export type FindUser = { call(exchange: Exchange): FoundUser | Promise<FoundUser> }["call"];

/** Options for {@link permissions}. */
export interface PermissionsOptions {
  /**
   * Who sent a request: from a session, a token, a header of a proxy. Gives `undefined`, or an object with `name` and
   * `roles`. Asked again for connections that stay open, every five seconds at most. @default whom an earlier plugin
   * has put into `exchange.user`
   */
  readonly user?: FindUser | undefined;
  /**
   * The rules: a list, or the location of a page with them, which is read again whenever it changes.
   * @default users may do everything, anonymous clients nothing
   */
  readonly rules?: readonly PermissionRule[] | string | URL | undefined;
  /** The `WWW-Authenticate` of a 401: `Bearer`. Browsers ask for a password where it is `Basic`. @default "Session" */
  readonly challenge?: string | undefined;
  /**
   * Where browsers are sent in place of a 401 when they open a page: a path or URL, or a function that knows what was
   * asked for. @default none
   */
  readonly signInPage?: string | ((exchange: Exchange) => string) | undefined;
  /** Request header fields that `user` looks at, for the `Vary` of replies. @default ["authorization", "cookie"] */
  readonly vary?: readonly string[] | undefined;
}

const ruleList = listOf(ruleSchema, "a list of rules");

const pageOrList = anyOf([fileLocation], "a list of rules, or the location of a page");

/** A list is checked rule by rule, so that the problem says which rule it is about. */
const rules: Schema = {
  problemsOf: (value) => (Array.isArray(value) ? ruleList : pageOrList).problemsOf(value),
};

// Both go into a header field.
const headerText = text("printable ASCII characters", (value) => /^[\x20-\x7e]+$/.test(value));
const location = text("a URL or a path", (value) => /^[\x21-\x7e]+$/.test(value), "a URL or a path, percent-encoded");

const permissionsOptions: OptionsSchema = pluginOptions({
  user: aFunction,
  rules,
  challenge: headerText,
  signInPage: anyOf([location, aFunction], "a URL or a path, percent-encoded, or a function"),
  vary: listOf(
    valueThat((value) => typeof value === "string" && /^[a-z0-9-]+$/.test(value), "a header field in lower case"),
    "a list of header fields",
  ),
});

/**
 * Applies permission rules to users whom the host program has signed in. A request without permission gets 403 where
 * its user is known; otherwise 401, or is sent to `signInPage`. Later plugins find the user in `exchange.user`, and the
 * name in the metadata `authenticated_user`. Throws a `ConfigError` for options and rules that cannot work.
 *
 * @example
 * permissions({
 *   user: ({ request }: Exchange<express.Request>) => request.session.user,
 *   rules: [{ username: ":signed-in", path: "/*", permission: "allow" }],
 * });
 */
export function permissions(options: PermissionsOptions = {}): Plugin {
  checkOptions("permissions", permissionsOptions, options);
  const { user: findUser, challenge = "Session", signInPage, vary = ["authorization", "cookie"] } = options;
  const rules = rulesSource(options.rules ?? []);
  const headers = { "www-authenticate": challenge, vary: ["accept", ...vary].join(", ") };
  const unauthorized = (): HttpError =>
    new HttpError(401, "UNAUTHORIZED", "Sign in to do this; there was no valid sign-in with the request.", { headers });

  /** Sends a browser that opens a page to the place where one signs in. */
  function toSignIn(exchange: Exchange, page: NonNullable<typeof signInPage>): Reply {
    const location = typeof page === "function" ? page(exchange) : page;
    return variesBy(emptyReply(302, { location, "cache-control": "no-store" }), "accept", ...vary);
  }

  return {
    name: "permissions",
    anonymousMayWrite: () => rules.latest().anyoneMayWrite,
    start: (site) => rules.start(site),
    close: () => rules.close(),
    async handle(exchange, next) {
      const permissions = await rules.current();
      const user = findUser ? checkedUser(await findUser(exchange)) : exchange.user;
      const latest = findUser
        ? latestUser(user, async () => checkedUser(await findUser(exchange)))
        : () => exchange.user;
      const renewed = () => ({ permissions: rules.latest(), user: latest() });
      const guarding = { permissions, user, renewed, unauthorized, vary };
      if (user || signInPage === undefined || !opensPage(exchange)) return applyRules(exchange, next, guarding);
      try {
        const reply = await applyRules(exchange, next, guarding);
        return reply.error?.code === "UNAUTHORIZED" ? toSignIn(exchange, signInPage) : reply;
      } catch (error) {
        if (error instanceof HttpError && error.code === "UNAUTHORIZED") return toSignIn(exchange, signInPage);
        throw error;
      }
    },
  };
}

/** Only a client that wants HTML can fill in a form; programs ask for JSON or for anything. */
function opensPage({ method, isUpgrade, headers }: Exchange): boolean {
  const isReading = method === "GET" || method === "HEAD";
  const types = ["application/json", "text/html"] as const;
  return isReading && !isUpgrade && preferredType(headers.accept, types) === "text/html";
}

function rulesSource(rules: NonNullable<PermissionsOptions["rules"]>): Source<Permissions> {
  if (typeof rules !== "string" && !(rules instanceof URL)) return fixedSource("permissions", createPermissions(rules));
  const location = filePath(String(rules)) ?? "";
  return fileSource({
    plugin: "permissions",
    location,
    failure: "the page with the rules has changed and cannot be used; the former rules remain in force",
    async load() {
      const { readRulesFile } = await import("./basic-auth/users-file.ts");
      const found = await readRulesFile(location);
      return { ...found, content: createPermissions(found.rules) };
    },
  });
}

/** What comes from the host program may be anything; a name that is not a text would match rules by accident. */
function checkedUser(found: unknown): User | undefined {
  if (found === undefined || found === null) return undefined;
  const { name, roles = [] } = found as Partial<Record<keyof SignedIn, unknown>>;
  const problem = "permissions: user() gave neither undefined nor an object with a name and a list of roles";
  if (typeof name !== "string" || name === "") throw new TypeError(problem);
  return userOf(name, roles, problem);
}
