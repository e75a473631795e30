import Negotiator from "negotiator";

// Browsers send about 150 characters. A longer field is not worth the work of reading it.
const maxAcceptLength = 4096;

/** Which media type a client prefers by its `Accept` field (RFC 9110 §12.5.1); the first offer by default. */
export function preferredType<T extends string>(accept: string | undefined, offered: readonly [T, ...T[]]): T {
  const [first] = offered;
  if (accept === undefined || accept === "*/*" || accept.length > maxAcceptLength) return first;
  const preferred = new Negotiator({ headers: { accept } }).mediaType(offered);
  return offered.find((type) => type === preferred) ?? first;
}
