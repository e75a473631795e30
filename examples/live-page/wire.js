// Requests and replies as they go over the wire, without what every browser adds.

/**
 * @typedef {object} Sending
 * @property {string} method
 * @property {string} target the path on this server
 * @property {Record<string, string>} headers
 * @property {string | undefined} body
 */

/**
 * @typedef {object} Exchange
 * @property {string} request
 * @property {string} reply
 * @property {string} outcome the status line of the reply, without the version of HTTP
 */

const shownHeaders = ["content-range", "content-type", "etag", "location", "x-normalised", "x-selector-matches"];

/**
 * Sends a request, and gives it and its reply as text. Does not reject.
 * @param {Sending} sending
 * @returns {Promise<Exchange>}
 */
export async function requestAsSent({ method, target, headers, body }) {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  const request = `${method} ${target} HTTP/1.1\n${fields.join("")}${body === undefined ? "" : `\n${body}`}`;
  try {
    const encoded = Object.entries(headers).map(([name, value]) => /** @type {const} */ ([name, inAscii(value)]));
    const response = await fetch(target, {
      method,
      headers: Object.fromEntries(encoded),
      body: body ?? null,
      cache: "no-store",
    });
    const shown = shownHeaders.filter((name) => response.headers.has(name));
    const lines = shown.map((name) => `${titled(name)}: ${response.headers.get(name)}\n`);
    const outcome = `${response.status} ${response.statusText}`.trim();
    const reply = `HTTP/1.1 ${outcome}\n${lines.join("")}\n${await response.text()}`.trimEnd();
    return { request, reply, outcome };
  } catch {
    return { request, reply: "No reply: the server cannot be reached.", outcome: "No reply" };
  }
}

/**
 * Both as one text.
 * @param {Exchange} exchange
 */
export function inWire({ request, reply }) {
  return `${request.trimEnd()}\n\n${reply}`;
}

/**
 * Header fields hold ASCII; the server decodes a selector that does not parse as it stands.
 * @param {string} value
 */
function inAscii(value) {
  return value.replace(/[^ -~]+/g, encodeURIComponent);
}

/** @param {string} name */
function titled(name) {
  return name.replace(/(^|-)([a-z])/g, (all) => all.toUpperCase()).replace("Etag", "ETag");
}
