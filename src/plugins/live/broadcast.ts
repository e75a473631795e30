import { atOnce, type SlicedWork, TimeSlice } from "../../event-loop/sliced-work.ts";
import { type Access, permitAll } from "../../server/access.ts";
import type { Change, ChangeFeed, ChangeOrigin, FeedPosition, FeedRestart } from "../../server/change-feed.ts";
import { accessByElements, mayReceive, type Verdict } from "./audience.ts";
import { type Encode, withoutContent } from "./change-message.ts";
import type { LiveClient } from "./live-client.ts";

/** Where a client joins: at the next change, after the change of this id, or after an unknown one. */
export type Position = "now" | "unknown" | number;

/** A client, and the last change that it received or was not to receive. */
interface Member {
  readonly receiver: LiveClient;
  /** How often the feed had begun anew by then: ids of before and after mean different changes. */
  era: number;
  lastId: number;
  hasLeft: boolean;
}

/** A change of the feed of this name. Its bytes are made once for each format, when they are first needed. */
interface Message {
  readonly change: Change;
  readonly feed: string;
  readonly encoded: Map<Encode, Buffer>;
}

/** What is still being delivered: a change, or that the ids begin anew. */
type Pending = { readonly era: number } & (
  | { readonly message: Message; readonly origin: ChangeOrigin }
  | { readonly restart: FeedRestart }
);

/** Changes that wait for delivery. With more, requests that make changes wait for their replies. */
const maxPending = 100;
/** Most that wait. With more, publishing delivers some itself, as a program could fill the memory. */
const mostPending = 1000;
/** Most clients that are asked at once whether elements decide what they receive. */
const mostAsked = 100;

/** Delivers each change to many clients, in order and once, and holds the event loop for milliseconds only. */
export class Broadcast {
  readonly #feed: ChangeFeed;
  readonly #onError: (error: unknown) => void;
  readonly #unsubscribe: () => void;
  readonly #members = new Set<Member>();
  readonly #pending: Pending[] = [];
  #era = 0;
  #running: { readonly steps: SlicedWork<void>; readonly done: Promise<void> } | undefined;
  /** Lets requests that make changes go on. */
  #relieve: (() => void) | undefined;

  /** `onError` gets what is thrown while deciding whether a client may receive a change. */
  constructor(feed: ChangeFeed, onError: (error: unknown) => void) {
    this.#feed = feed;
    this.#onError = onError;
    this.#unsubscribe = feed.subscribe(
      (change, origin) => this.#publish({ era: this.#era, message: messageOf(change, feed.name), origin }),
      (restart) => this.#publish({ era: ++this.#era, restart }),
      (path) => this.#judgesElements(path),
    );
  }

  /** Sends a client all changes from a position on. Returns a function that ends it. */
  join(receiver: LiveClient, position: Position): () => void {
    const lastId = typeof position === "number" ? position : this.#feed.lastId;
    const member: Member = { receiver, era: this.#era, lastId, hasLeft: false };
    if (position === "unknown") receiver.writeGap(this.#feed);
    if (lastId === this.#feed.lastId) this.#members.add(member);
    else this.#catchUp(member).catch(this.#onError);
    return () => {
      member.hasLeft = true;
      this.#members.delete(member);
    };
  }

  /** Resolves when everything that was published until now is delivered. */
  async delivered(): Promise<void> {
    await this.#running?.done;
  }

  close(): void {
    this.#unsubscribe();
  }

  #publish(pending: Pending): void {
    if (this.#members.size === 0) return; // clients that are catching up find it in the past
    this.#pending.push(pending);
    if (!this.#running) {
      const steps = this.#deliverAll();
      this.#running = { steps, done: this.#run(steps) };
    }
    if (this.#pending.length > maxPending && !this.#relieve) {
      this.#feed.slowDown(
        new Promise((resolve) => {
          this.#relieve = resolve;
        }),
      );
    }
    while (this.#pending.length > mostPending) this.#running.steps.next();
  }

  /** Access of the clients whose changes depend on elements; `true`, perhaps some, if too many had to be asked. */
  #judgesElements(path: string): true | readonly Access[] {
    const judged: Access[] = [];
    let asked = 0;
    for (const { receiver } of this.#members) {
      if (receiver.audience.access === permitAll) continue; // no plugin decides about it
      asked += 1;
      if (asked > mostAsked) return true;
      const access = accessByElements(receiver.audience, path);
      if (access) judged.push(access);
    }
    return judged;
  }

  async #run(steps: SlicedWork<void>): Promise<void> {
    const slice = new TimeSlice();
    await undefined; // the publisher goes on first, up to where it waits for something
    while (!steps.next().done) if (slice.isOver) await slice.renew();
    this.#running = undefined;
  }

  /** A step or more for each client and change, so that it can be done piece by piece. */
  *#deliverAll(): SlicedWork<void> {
    for (let next = this.#pending[0]; next; next = this.#pending[0]) {
      // A client that joins meanwhile is part of this iteration, too, and knows the change by its id.
      for (const member of this.#members) {
        yield* this.#deliver(member, next);
        yield;
      }
      this.#pending.shift();
      if (this.#pending.length > maxPending) continue;
      this.#relieve?.();
      this.#relieve = undefined;
    }
  }

  *#deliver(member: Member, pending: Pending): SlicedWork<void> {
    if ("restart" in pending) {
      if (pending.era > member.era) restart(member, pending.era, pending.restart);
      return;
    }
    const { era, message, origin } = pending;
    const { receiver } = member;
    const { change } = message;
    if (era !== member.era || change.id <= member.lastId) return;
    member.lastId = change.id;
    try {
      const verdict = yield* mayReceive(receiver.audience, change, origin);
      if (!member.hasLeft) send(receiver, message, verdict);
    } catch (error) {
      this.#failed(receiver, { name: message.feed, lastId: change.id }, error);
    }
  }

  /** Sends what a client has missed, no faster than it reads, and lets it join the others when there is no more. */
  async #catchUp(member: Member): Promise<void> {
    const { receiver } = member;
    const slice = new TimeSlice();
    for (;;) {
      if (member.hasLeft) return;
      const { name, lastId } = this.#feed;
      if (member.era !== this.#era) {
        restart(member, this.#era, { to: { name, lastId }, hasGap: true });
        break;
      }
      const missed = this.#feed.since(member.lastId);
      if (missed === "gap") {
        receiver.writeGap({ name, lastId });
        member.lastId = lastId;
        break;
      }
      if (missed.length === 0) break;
      for (const { change, site } of missed) {
        if (member.hasLeft) return;
        member.lastId = change.id;
        try {
          send(receiver, messageOf(change, name), atOnce(mayReceive(receiver.audience, change, { site })));
        } catch (error) {
          this.#failed(receiver, { name, lastId: change.id }, error);
        }
        if (receiver.isFull) await receiver.drained();
        if (slice.isOver) await slice.renew();
      }
    }
    this.#members.add(member);
  }

  /** Tells a client that it misses something, if deciding whether it may receive a change has failed. */
  #failed(receiver: LiveClient, position: FeedPosition, error: unknown): void {
    this.#onError(error);
    receiver.writeGap(position);
  }
}

/** Brings a client to where the feed goes on. */
function restart(member: Member, era: number, { to, hasGap }: FeedRestart): void {
  if (member.hasLeft) return;
  member.era = era;
  member.lastId = to.lastId;
  member.receiver.writeHello(to);
  if (hasGap) member.receiver.writeGap(to);
}

function messageOf(change: Change, feed: string): Message {
  return { change, feed, encoded: new Map() };
}

/** All clients of a format get the same buffer. */
function send(receiver: LiveClient, { change, feed, encoded }: Message, verdict: Verdict): void {
  const { encode } = receiver;
  if (verdict === "without-content") receiver.write(encode(withoutContent(change), feed));
  if (verdict !== "yes") return;
  const bytes = encoded.get(encode) ?? encode(change, feed);
  encoded.set(encode, bytes);
  receiver.write(bytes);
}
