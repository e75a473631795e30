import type { Plugin } from "../server/plugin.ts";
import type { BundledName } from "./library.ts";

/** A plugin of a configuration page, and where it stands there. */
export interface PlacedPlugin {
  /** `"module"` for any that does not come with the package. */
  readonly name: BundledName | "module";
  readonly line: number;
  /** Those that could be read. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly nested: readonly PlacedPlugin[];
  /** `undefined` where another plugin does its work, and where it could not be made. */
  readonly plugin: Plugin | undefined;
}

/** A plugin that stands where it cannot do what it is there for. */
export interface OrderProblem {
  readonly line: number;
  readonly text: string;
}

/** The paths at and below `/a/b`, `""` for all; `undefined` for what only a module knows. */
type Part = string | undefined;

interface Step {
  readonly place: PlacedPlugin;
  readonly part: Part;
}

/** Says which plugins of a host stand where they cannot do what they are there for. */
export function problemsOfOrder(placed: readonly PlacedPlugin[]): OrderProblem[] {
  const problems: OrderProblem[] = [];
  const answered: Part[] = [];
  const identified: Part[] = [];
  const authenticated: Step[] = [];
  for (const step of stepsOf(placed, "", problems)) {
    const { place, part } = step;
    const { name, line, options, plugin } = place;
    const problem = (text: string): void => void problems.push({ line, text: `${name}: ${text}` });
    if (plugin?.handle && answered.some((each) => isWithin(part, each))) {
      problem("stands behind a file handler, which answers everything: expected it before");
    }
    if (options["keyStrategy"] === "user" && !identified.some((each) => overlap(part, each))) {
      problem('key_strategy is "user": expected basic-auth before it, for the same paths');
    }
    if (name === "authorization") authorizationProblem(step, authenticated, problem);
    if (name === "basic-auth") authenticated.push(step);
    if (name === "basic-auth" || name === "module") identified.push(part); // a module may be an authentication
    if (name === "file-handler") answered.push(part);
  }
  return problems;
}

/** What the item is there for without a file of its own, basic-auth has to do, and for no fewer paths. */
function authorizationProblem(
  { place, part }: Step,
  authenticated: readonly Step[],
  problem: (text: string) => void,
): void {
  const isCovered = authenticated.some((step) => isWithin(part, step.part));
  if (isCovered || place.options["authfile"] !== undefined) return;
  problem("expected an authfile, or basic-auth before it, for the same paths");
}

/** The plugins in the order in which requests run through them. A directory in one it is no part of is a problem. */
function* stepsOf(placed: readonly PlacedPlugin[], outer: Part, problems: OrderProblem[]): Generator<Step> {
  let following = outer;
  for (const place of placed) {
    const { name, line, options, nested, plugin } = place;
    if (name !== "directory" && !plugin?.scope) {
      yield { place, part: following };
      yield* stepsOf(nested, undefined, problems); // only a module has some, and what it does with them is its business
      continue;
    }
    yield { place, part: outer };
    const path = options["directory"];
    const own = name === "directory" && typeof path === "string" ? withoutSlash(path) : undefined;
    if (!overlap(own, outer)) problems.push({ line, text: `directory: ${own} is no part of ${outer}, which it is in` });
    const inside = both(own, outer);
    yield* stepsOf(nested, inside, problems);
    const isFlat = nested.length === 0 && plugin?.scope?.plugins === undefined;
    following = isFlat ? inside : outer;
  }
}

/** What only a module knows may be anywhere, so that nothing is sure to lie in it. */
function isWithin(inner: Part, outer: Part): boolean {
  if (outer === "") return true;
  if (inner === undefined || outer === undefined) return false;
  return inner === outer || inner.startsWith(`${outer}/`);
}

function overlap(one: Part, other: Part): boolean {
  return one === undefined || other === undefined || isWithin(one, other) || isWithin(other, one);
}

/** What both cover, of those that overlap. */
function both(one: Part, other: Part): Part {
  if (one === undefined || other === undefined) return undefined;
  return isWithin(one, other) ? one : other;
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}
