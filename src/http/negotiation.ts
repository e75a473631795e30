import Negotiator from "negotiator";

// Browsers send about 150 characters. A longer field is not worth the work of reading it.
const maxAcceptLength = 4096;

/**
 * Which of the `offered` media types a client prefers by its `Accept` field (RFC 9110 §12.5.1): the highest `q`; then
 * the more exact range, then the earlier one. The first offer if the field does not decide, is missing or malformed, or
 * accepts none of them.
 */
export function preferredType<T extends string>(accept: string | undefined, offered: readonly [T, ...T[]]): T {
  const [first] = offered;
  if (accept === undefined || accept === "*/*" || accept.length > maxAcceptLength) return first;
  const preferred = new Negotiator({ headers: { accept } }).mediaType(offered);
  return offered.find((type) => type === preferred) ?? first;
}
