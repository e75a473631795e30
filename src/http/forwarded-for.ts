import { canonicalAddress } from "./client-address.ts";

/** The header in which the trusted proxies report their clients. */
export type ForwardingHeader = "x-forwarded-for" | "forwarded";

const readers: Record<ForwardingHeader, (element: string) => string | undefined> = {
  "x-forwarded-for": (element) => element,
  forwarded: forParameter,
};

/**
 * The addresses that proxies report, the nearest first, `undefined` for one that is withheld (`unknown`, `_hidden`) or
 * malformed. `forwarded` is RFC 7239; `x-forwarded-for` a list of addresses, with or without ports.
 */
export function* forwardedFor(header: ForwardingHeader, value: string): Generator<string | undefined> {
  for (const element of elementsFromRight(value)) {
    if (element !== "") yield nodeAddress(readers[header](element));
  }
}

// From the right: the part that the nearest proxy appended is complete, no matter what the client wrote to its left.
// Read from the left, `for="` sent by a client would open a string that swallows the proxy's own element.
function* elementsFromRight(value: string): Generator<string> {
  let end = value.length;
  let isQuoted = false;
  for (let at = value.length - 1; at >= 0; at -= 1) {
    if (value[at] === '"' && !isEscaped(value, at)) isQuoted = !isQuoted;
    if (value[at] !== "," || isQuoted) continue;
    yield value.slice(at + 1, end).trim();
    end = at;
  }
  yield value.slice(0, end).trim();
}

function isEscaped(value: string, at: number): boolean {
  let start = at;
  while (value[start - 1] === "\\") start -= 1;
  return (at - start) % 2 === 1;
}

const pair = /[ \t]*([\w!#$%&'*+.^`|~-]+)=(?:"([^"\\]*(?:\\.[^"\\]*)*)"|([^\s;,"]*))[ \t]*(?:;|$)/y;

/** The value of `for` in one element, which must be well-formed to its end and contain only one. */
function forParameter(element: string): string | undefined {
  let found: string | undefined;
  for (let position = 0; position < element.length; position = pair.lastIndex) {
    pair.lastIndex = position;
    const [text, name, quoted, token] = pair.exec(element) ?? [];
    if (text === undefined) return undefined;
    if (name?.toLowerCase() !== "for") continue;
    if (found !== undefined) return undefined;
    found = quoted ?? token;
  }
  return found;
}

const withPort = /^(?:\[([\da-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::[\w.-]+)?$/i;

function nodeAddress(node: string | undefined): string | undefined {
  if (node === undefined) return undefined;
  const [, ipv6, ipv4] = withPort.exec(node) ?? [];
  return canonicalAddress(ipv6 ?? ipv4 ?? node);
}
