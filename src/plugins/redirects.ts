import { encodePath, isCanonicalPath, locationOf } from "../http/request-target.ts";
import { checkOptions } from "../options/check-config.ts";
import { type OptionsSchema, optionsOf, recordOf, text, valueThat, withRule } from "../options/schema.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Plugin } from "../server/plugin.ts";
import { emptyReply } from "../server/reply.ts";

/** Options for {@link redirects}. */
export interface RedirectsOptions {
  /**
   * Where each path has gone: `"/old.html": "/new.html"`, or `"/blog/*": "/posts/:splat"` for everything below
   * `/blog/`. Old paths are decoded. Targets are written as in a link: paths below the mount, or URLs.
   */
  readonly rules: Readonly<Record<string, string>>;
  /** Status of the replies (RFC 9110 §15.4): 301, 302, 303, 307 or 308. @default 308 */
  readonly status?: number | undefined;
}

const statuses: readonly unknown[] = [301, 302, 303, 307, 308];

// The host of a target is fixed: what a client asks for decides about the path only.
const target = /^(?:https?:\/\/(?!:splat)[^/?#\\]+?(?=[/?#]|$)|\/(?![/\\]))[^\s\\]*$/i;

export const redirectsOptions: OptionsSchema = withRule(
  optionsOf(
    {
      rules: recordOf(
        text("a target", isTarget, "a path that begins with one /, or a URL of http or https"),
        "targets by path",
        text(
          "a path",
          (path) => isCanonicalPath(withoutStar(path)),
          "a path that begins with /, decoded; it may end in /*",
        ),
      ),
      status: valueThat((status) => statuses.includes(status), statuses.join(", ")),
    },
    "an object with rules",
    ["rules"],
  ),
  ({ rules }: RedirectsOptions) => {
    const [circular] = Object.entries(rules).find(([from, to]) => from === to) ?? [];
    return circular === undefined ? undefined : { path: ["rules", circular], expected: "another path than its own" };
  },
);

/**
 * Sends clients of paths that have moved to the new ones, whatever their method; the query goes along. An exact path
 * comes before a longer beginning, and that before a shorter one. Throws a `ConfigError` for options that cannot work.
 *
 * @example redirects({ rules: { "/about.html": "/about/", "/blog/*": "https://blog.example/:splat" } });
 */
export function redirects(options: RedirectsOptions): Plugin {
  checkOptions("redirects", redirectsOptions, options);
  const { rules, status = 308 } = options;
  const exact = new Map(Object.entries(rules));
  const beginnings = [...exact]
    .filter(([from]) => from.endsWith("/*"))
    .map(([from, to]) => ({ beginning: withoutStar(from), to }))
    .sort((a, b) => b.beginning.length - a.beginning.length);

  function targetOf(path: string): string | undefined {
    const to = exact.get(path);
    if (to !== undefined) return to;
    const rule = beginnings.find(({ beginning }) => path.startsWith(beginning));
    const rest = path.slice(rule?.beginning.length);
    const query = rule?.to.indexOf("?") ?? -1; // behind it an `&` of a name would begin another parameter
    return rule?.to.replaceAll(":splat", (_, offset: number) =>
      query === -1 || offset < query ? encodePath(rest).slice(1) : encodeURIComponent(rest).replaceAll("%2F", "/"),
    );
  }

  return {
    name: "redirects",
    handle(exchange, next) {
      const to = targetOf(exchange.path);
      if (to === undefined) return next();
      // A path lies below the mount; a URL is the whole address.
      const address = to.startsWith("/") ? locationOf(exchange, "/").slice(0, -1) + to : to;
      return emptyReply(status, { location: withQuery(address, exchange) });
    },
  };
}

function withQuery(to: string, { search }: Exchange): string {
  const [, address = to, fragment = ""] = /^([^#]*)(#.*)?$/.exec(to) ?? [];
  return address.includes("?") ? to : address + search + fragment;
}

function isTarget(to: string): boolean {
  return (
    target.test(to) && URL.canParse(to, "http://localhost") && !/:splat/.test(new URL(to, "http://localhost").host)
  );
}

/** `/blog/` of `/blog/*`. */
function withoutStar(from: string): string {
  return from.endsWith("/*") ? from.slice(0, -1) : from;
}
