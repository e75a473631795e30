import type { Buffer } from "node:buffer";
import type { Storage } from "../storage/storage.ts";
import type { User } from "./access.ts";
import type { Exchange } from "./exchange.ts";
import type { FileHistory } from "./file-history.ts";
import type { Inspection } from "./inspection.ts";
import type { Reply, ReplyHeaders } from "./reply.ts";
import type { FeedAddress, Site } from "./site.ts";

/**
 * Runs the rest of the pipeline and returns its reply. It never rejects: what is thrown further down has become a reply
 * by then. It may be called once; a second call makes the request fail with 500.
 */
export type Next = () => Promise<Reply>;

/** What became of an exchange, known after the last byte was handed over or the client had left. */
export interface Outcome {
  /** Status code of the reply. */
  readonly status: number;
  /** Header fields of the reply. */
  readonly headers: Readonly<ReplyHeaders>;
  /** Bytes of content that were sent, without the header section. */
  readonly bytes: number;
  /** Bytes of content that were received and read. */
  readonly received: number;
  /** From the arrival of the header section to the last byte, in milliseconds. */
  readonly durationMs: number;
  /** The client left before all of the reply was sent. */
  readonly aborted: boolean;
}

/** Whose connection it is that stays open. */
export interface ConnectedClient {
  /** As far as is known by now. */
  readonly user: User | undefined;
  /** The request that the connection began with. */
  readonly exchange: Exchange;
}

/** Confines plugins to a part of the paths; see `directory`. */
export interface Scope {
  /** Whether a canonical path lies in that part. */
  covers(path: string): boolean;
  /** @internal The directory that this is, without its last slash; known of `directory`. */
  readonly directory?: string;
  /** Which plugins; left out, those that follow in the list, up to the next one with a scope. */
  readonly plugins?: readonly Plugin[] | undefined;
}

/** A host as its plugins see it when they are started: with the plugins that it lists. */
export interface PluginSite extends Site {
  /** In the order of the pipeline, nested ones among them, each once. */
  readonly plugins: readonly Plugin[];
  /** The file handler that answers for a canonical path; the first of several. */
  fileHandlerOf(path: string): Plugin | undefined;
  /** @internal Answers a request that a plugin makes for a client: all plugins judge it, and observers hear of it. */
  ask(request: InnerRequest): Promise<InnerAnswer>;
}

/** A request that a plugin makes, also for a client; the whole pipeline judges it as one that the client has sent. */
export interface InnerRequest {
  /** The exchange of the client: its sign-in, address, rights and header fields. */
  readonly client?: Exchange | undefined;
  readonly method: string;
  /** Decoded, as `exchange.path` is. */
  readonly path: string;
  readonly search?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly content?: string | Uint8Array | undefined;
  /** Content beyond is not read. */
  readonly mostBytes: number;
  readonly inspection?: Inspection | undefined;
}

/** What was answered, with its content up to `mostBytes`, and the path of the file that it is. */
export type InnerAnswer = Omit<Reply, "body"> & { readonly content: Buffer; readonly file: string | undefined };

/** A step of a host's pipeline. All methods are optional; a plugin without `handle` only observes. */
export interface Plugin {
  /** Says in logs and errors which plugin is meant. */
  readonly name: string;
  /** A plugin is not a function: a factory has to be called, and `fromMiddleware` makes a plugin of middleware. */
  readonly apply?: never;
  /** Asked even while the server is closing, overloaded or under maintenance; for a health check. @default false */
  readonly alwaysOn?: boolean;
  /**
   * For plugins that find out who the client is and what it may do: whether clients that are not signed in may write
   * somewhere. Asked after the start. A plugin with this method counts as authentication where the order is checked.
   */
  anonymousMayWrite?(): boolean;
  /** Whether it needs to know the user: an error at the start where nothing before it could find out. @default false */
  readonly needsUser?: boolean;
  /** The paths for which other plugins run. They are started and closed all the same. */
  readonly scope?: Scope;
  /** @internal The directory for which alone this plugin runs. @default all paths of its place in the list */
  readonly confinedTo?: Scope | undefined;
  /** Answers, or passes on with `next()` and may change what comes back. What it throws becomes the reply. */
  handle?(exchange: Exchange, next: Next): Promise<Reply> | Reply;
  /** Whether `handle` answers this web socket handshake, also by a refusal; see the option `upgrades`. @default no */
  acceptsUpgrade?(exchange: Exchange): boolean | Promise<boolean>;
  /** @internal The document that a GET finds at a path, by its path; of a file handler. */
  documentAt?(site: Site, path: string, accept: string | undefined): Promise<string | undefined>;
  /** @internal Whether it changes files; of a file handler. */
  readonly takesChanges?: boolean;
  /** @internal Stands between a file handler and its storage, with files below `root`; called before both start. */
  wrapStorage?(storage: Storage, root: string): Storage;
  /** @internal What the files were; of a plugin that keeps that. */
  readonly history?: FileHistory;
  /** @internal Where clients hear of changes; listings follow it. */
  readonly feed?: FeedAddress;
  /** Called after every exchange of its host, whichever plugin answered. What it throws is reported, not sent. */
  observe?(exchange: Exchange, outcome: Outcome): void;
  /** Called before the first request of each host that lists the plugin. An error keeps the server from starting. */
  start?(site: PluginSite): void | Promise<void>;
  /** Called, perhaps twice, when the server begins to close or another takes over; for replies that have no end. */
  drain?(): void;
  /** Ends those of its connections that are meant, at once, and returns how many: see `files.disconnect`. */
  disconnect?(isMeant: (client: ConnectedClient) => boolean): number;
  /** Called once, after the last exchange of a closing server. */
  close?(): void | Promise<void>;
}
