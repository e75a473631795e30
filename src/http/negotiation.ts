import Negotiator from "negotiator";

// Browsers send some 150 characters. Beyond this the field costs more to read than it can say.
const maxAcceptLength = 4096;

/**
 * Which of the `offered` media types a client prefers by its `Accept` field (RFC 9110 §12.5.1): the highest `q`; among
 * equals the one named more exactly, then the one named earlier. The first offer where the field does not tell them
 * apart, is missing or unreadable, or accepts none of them.
 */
export function preferredType<T extends string>(accept: string | undefined, offered: readonly [T, ...T[]]): T {
  const [first] = offered;
  if (accept === undefined || accept === "*/*" || accept.length > maxAcceptLength) return first;
  const preferred = new Negotiator({ headers: { accept } }).mediaType(offered);
  return offered.find((type) => type === preferred) ?? first;
}
