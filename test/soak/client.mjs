import { Agent, request } from "node:http";

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {import("node:http").IncomingHttpHeaders} headers
 * @property {Buffer} body
 *
 * @typedef {object} Sending
 * @property {Record<string, string>} [headers]
 * @property {string | Buffer} [body]
 */

/** One user's connections to the server. */
export class Client {
  /** Requests begun. */
  requests = 0;
  #agent = new Agent({ keepAlive: true, maxSockets: 4 });

  /** @param {number} port @param {string} user @param {string} password */
  constructor(port, user, password) {
    this.port = port;
    this.user = user;
    this.authorization = `Basic ${btoa(`${user}:${password}`)}`;
  }

  /** Closes the connections that are kept for the next request. */
  rest() {
    this.#agent.destroy();
    this.#agent = new Agent({ keepAlive: true, maxSockets: 4 });
  }

  /** A request of which the caller sends the body and reads the answer. @param {string} method @param {string} path @param {Record<string, string>} [headers] */
  begin(method, path, headers = {}) {
    this.requests += 1;
    const withUser = { authorization: this.authorization, ...headers };
    return request({ host: "127.0.0.1", port: this.port, agent: this.#agent, method, path, headers: withUser });
  }

  /** @param {string} method @param {string} path @param {Sending} [sending] @returns {Promise<Answer>} */
  send(method, path, { headers = {}, body } = {}) {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const sent = this.begin(method, path, { ...headers, ...length });
    sent.end(body);
    return answerTo(sent);
  }
}

/** Reads the whole answer. @param {import("node:http").ClientRequest} sent @returns {Promise<Answer>} */
export function answerTo(sent) {
  return new Promise((resolve, reject) => {
    sent.once("error", reject);
    sent.once("response", (response) => {
      /** @type {Buffer[]} */
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
  });
}
