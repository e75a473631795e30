/** A path pattern of a permission rule, ready to be compared with canonical paths. */
export interface PathPattern {
  /** How many of its characters stand for themselves; the more, the more specific it is. */
  readonly literalLength: number;
  /** Whether it covers a path. `:username` covers just the segment that is `username`, and nothing without one. */
  matches(path: string, username?: string): boolean;
}

type MatchSegment = (segment: string, username: string | undefined) => boolean;

const ownerSegment = ":username";
const forbidden = /[\x00-\x1f\x7f-\x9f\\]/;

/**
 * Reads a path pattern: an absolute path, in which `*` stands for any characters of one segment and `:username` for the
 * segment that is the user's name. `/*` at the end covers the directory and all below it. A trailing slash makes no
 * difference, neither here nor in the path. Throws a `TypeError` whose message says what was expected.
 */
export function compilePathPattern(pattern: string): PathPattern {
  const isTree = pattern.endsWith("/*");
  const segments = segmentsOf(isTree ? pattern.slice(0, -1) : pattern);
  const literal = segments.map(literalOf).join("/");
  // A pattern that ends where the path ends is more specific than the tree below the same directory.
  const literalLength = literal.length + (isTree ? 0 : 1);
  if (segments.every((segment) => literalOf(segment) === segment)) {
    const place = segments.map((segment) => `/${segment}`).join("");
    const asDirectory = `${place}/`; // "/docs/*" must not cover "/docs-old": compare with the slash on
    if (isTree) return { literalLength, matches: (path) => path.startsWith(asDirectory) || path === place };
    return { literalLength, matches: (path) => path === place || path === asDirectory };
  }
  return { literalLength, matches: matchSegments(segments.map(compileSegment), isTree) };
}

function segmentsOf(pattern: string): string[] {
  if (!pattern.startsWith("/")) throw new TypeError('a path that begins with "/"');
  if (forbidden.test(pattern)) throw new TypeError("a path without backslashes and control characters");
  if (pattern === "/") return [];
  const segments = pattern.replace(/\/$/, "").slice(1).split("/");
  for (const segment of segments) {
    if (segment === "" || segment === "." || segment === "..") {
      throw new TypeError('a path without empty, "." and ".." segments');
    }
    if (segment.includes("**")) throw new TypeError('a path without "**": "/*" at the end covers all below it');
    if (segment !== ownerSegment && (segment.startsWith(":") || segment.includes(ownerSegment))) {
      throw new TypeError('a path in which ":username" is a whole segment, the only one that begins with ":"');
    }
  }
  return segments;
}

function literalOf(segment: string): string {
  return segment === ownerSegment ? "" : segment.replaceAll("*", "");
}

function matchSegments(segments: readonly MatchSegment[], isTree: boolean): PathPattern["matches"] {
  return (path, username) => {
    if (!path.startsWith("/")) return false; // `*` of OPTIONS is not a path
    let start = 1;
    for (const matches of segments) {
      if (start >= path.length) return false;
      const slash = path.indexOf("/", start);
      const end = slash === -1 ? path.length : slash;
      if (!matches(path.slice(start, end), username)) return false;
      start = end + 1;
    }
    return isTree || start >= path.length;
  };
}

function compileSegment(segment: string): MatchSegment {
  if (segment === ownerSegment) return (name, username) => name === username;
  if (!segment.includes("*")) return (name) => name === segment;
  return matchWildcards(segment.split("*"));
}

/** Looks for each piece between stars where it comes first: unlike in a regular expression, nothing is tried twice. */
function matchWildcards(pieces: readonly string[]): MatchSegment {
  const first = pieces[0] ?? "";
  const last = pieces.at(-1) ?? "";
  const between = pieces.slice(1, -1);
  return (name) => {
    if (!name.startsWith(first)) return false;
    let from = first.length;
    for (const piece of between) {
      const found = name.indexOf(piece, from);
      if (found === -1) return false;
      from = found + piece.length;
    }
    return name.length - last.length >= from && name.endsWith(last);
  };
}
