import { setImmediate } from "node:timers/promises";
import { WebSocket } from "ws";
import { deferred } from "../helpers/deferred.ts";
import type { LiveMessage } from "../helpers/live-client.ts";

let moments = 0;

/** What comes later has a greater number. */
export function moment(): number {
  moments += 1;
  return moments;
}

/**
 * A client that follows the feed of several servers: when it loses one it goes to the next, and says what it knows. It notes
 * everything that a client must not see: a change out of order, or one missing without a gap.
 */
export class Follower {
  /** When each request's change was heard. */
  readonly heard = new Map<string, number>();
  readonly faults: string[] = [];
  gaps = 0;
  /** When it was last told of a gap. */
  lastGapAt = Number.NEGATIVE_INFINITY;
  /** Settles once it has been greeted for the first time: it hears what happens from then on. */
  readonly isFollowing: Promise<void>;
  readonly #greeted: () => void;
  readonly #nextOrigin: () => Promise<string>;
  #socket: WebSocket | undefined;
  #isOver = false;
  #feed = "";
  #lastId = 0;
  /** The id that the next change has to have; `undefined` after a gap. */
  #expected: number | undefined;
  /** What it was told last, for messages about faults. */
  readonly #events: string[] = [];

  constructor(nextOrigin: () => Promise<string>) {
    this.#nextOrigin = nextOrigin;
    ({ promise: this.isFollowing, resolve: this.#greeted } = deferred());
    void this.#follow();
  }

  /** Breaks the connection, as networks do. */
  cut(): void {
    this.#socket?.terminate();
  }

  close(): void {
    this.#isOver = true;
    this.cut();
  }

  async #follow(): Promise<void> {
    while (!this.#isOver) {
      await this.#connect(await this.#nextOrigin());
      await setImmediate();
    }
  }

  #connect(origin: string): Promise<void> {
    const known = this.#feed ? `?feed=${this.#feed}&since=${this.#lastId}` : "";
    this.#note(`connects to ${origin}${known}`);
    const socket = new WebSocket(`${origin.replace(/^http/, "ws")}/ws${known}`);
    this.#socket = socket;
    socket.on("message", (data) => this.#receive(JSON.parse(String(data))));
    socket.on("error", () => {}); // it closes, too
    return new Promise((resolve) => void socket.on("close", () => resolve()));
  }

  #receive(message: LiveMessage): void {
    const { type, feed = "", id = 0 } = message;
    this.#note(`${type} ${feed}:${id}`);
    if (type === "hello") {
      if (feed !== this.#feed) [this.#feed, this.#lastId, this.#expected] = [feed, id, id + 1];
      this.#greeted();
    } else if (type === "gap") {
      this.gaps += 1;
      this.lastGapAt = moment();
      this.#expected = undefined;
    } else if (type === "change") this.#hear(id, String(message["requestId"]));
  }

  #hear(id: number, requestId: string): void {
    if (this.#expected !== undefined && id !== this.#expected) {
      this.#fault(`${this.#feed}: ${id} in place of ${this.#expected}`);
    }
    const heardAt = this.heard.get(requestId);
    if (heardAt !== undefined && heardAt > this.lastGapAt) this.#fault(`${this.#feed}: ${id} was heard before`);
    this.heard.set(requestId, moment());
    [this.#lastId, this.#expected] = [id, id + 1];
  }

  #note(event: string): void {
    this.#events.push(event);
    if (this.#events.length > 20) this.#events.shift();
  }

  #fault(what: string): void {
    this.faults.push(`${what}, after: ${this.#events.join(", ")}`);
  }
}
