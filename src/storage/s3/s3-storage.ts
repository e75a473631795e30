import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";
import { type Storage, StorageError, type StoredStat } from "../storage.ts";
import { Changes } from "./changes.ts";
import { type Connection, ObjectStore, type Sdk } from "./object-store.ts";
import { ObjectReader } from "./open-object.ts";
import { Places } from "./places.ts";
import { isForbidden, otherTag, probe } from "./probe.ts";
import { isAbsent, isLostRace } from "./store-error.ts";
import { newMark, newWrite } from "./stored-object.ts";
import { append, waitingUpdates, write } from "./write.ts";

/** Options for {@link s3Storage}. */
export interface S3StorageOptions {
  /** The bucket, which exists. */
  readonly bucket: string;
  /** What all keys begin with, such as `"sites/docs"`. @default "" */
  readonly prefix?: string | undefined;
  /** Seconds that the store has for a look or a change, with retries; for sent content more. @default 25 */
  readonly timeout?: number | undefined;
  /** A client with settings of your own, in place of all options below. You close it. */
  readonly client?: S3Client | undefined;
  /** Address of a store other than Amazon's: `"https://s3.example"`. @default that of the region */
  readonly endpoint?: string | undefined;
  /** Region of the bucket. @default "us-east-1"; with `credentials: "environment"` what the environment says */
  readonly region?: string | undefined;
  /** Whether the bucket is in the path of requests, and not in the host name. @default with an `endpoint` */
  readonly pathStyle?: boolean | undefined;
  /** Access keys, a function that gives them, or `"environment"`: what the SDK finds there by its rules. */
  readonly credentials?: NonNullable<S3ClientConfig["credentials"]> | "environment" | undefined;
}

/** How long a connection may take to be made, in milliseconds; then it is tried again. */
const connectionMs = 3_000;
const maxAttempts = 4;
/** Pauses between attempts: random, up to a bound that doubles, in milliseconds. */
const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** Keys of what is made to try the store out begin with it. */
const probeName = ".filement-probe";

/**
 * Keeps files as objects of an S3 bucket, for any number of servers at once: every change is made by the store under
 * the condition that nothing has changed since it was looked at. Needs the package `@aws-sdk/client-s3`, and a store
 * with conditional writes, which is tested at the start. Throws for options that make no sense.
 *
 * @example
 * const credentials = { accessKeyId: "...", secretAccessKey: "..." };
 * const storage = s3Storage({ bucket: "site", endpoint: "https://s3.example", credentials });
 * const files = createFileServer({ storage });
 */
export function s3Storage(options: S3StorageOptions): Storage {
  requireSense(options);
  const { bucket, prefix = "", timeout = 25 } = options;
  let connection: Promise<Connection> | undefined;
  const connected = (): Promise<Connection> => {
    connection ??= connect(options);
    return connection;
  };
  const store = new ObjectStore(bucket, connected, 1000 * timeout);
  const places = new Places(store, prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`);
  const changes = new Changes(places);
  const reader = new ObjectReader(places);
  const updates = waitingUpdates(changes, reader);

  let probing: Promise<boolean> | undefined;
  const deletesOnCondition = (): Promise<boolean> => {
    probing ??= probe(store, places.keyOf(`/${probeName}-${newMark()}`)).catch((error: unknown) => {
      if (isForbidden(error)) return true; // a server that only reads needs no more
      probing = undefined;
      throw error;
    });
    return probing;
  };
  /** Whether the store answers: known from the last write, or else asked by a write that must not be made. */
  const check = async (): Promise<void> => {
    if (store.hasWritten) return void (await store.head(places.keyOf(`/${probeName}`)));
    const write = newWrite(newMark(), undefined);
    try {
      await store.put(places.keyOf(`/${probeName}`), new Uint8Array(), write, { IfMatch: otherTag });
    } catch (error) {
      if (!isLostRace(error) && !isAbsent(error)) throw error;
    }
  };

  return {
    async start(report) {
      if (report) places.report = report;
      try {
        await store.list(places.keyOf("/"), { MaxKeys: 1 });
        await deletesOnCondition();
      } catch (error) {
        throw new Error(`the bucket ${JSON.stringify(bucket)} cannot be used: ${reasonOf(error)}`, { cause: error });
      }
    },
    stat: (path) => statAt(places, path),
    open: (path, purpose = "content") => reader.open(path, purpose),
    listsInOrder: true,
    async *list(path, after) {
      yield* places.list(path, (await probing) === false, after);
    },
    write: (path, content, how) => write(changes, path, content, how),
    append: (path, content, how) => append(changes, reader, path, content, how?.check),
    update: (path, edit, made) =>
      updates.run(path, async (draft) => {
        const edited = draft.stat && (await edit(() => draft.bytes(), draft.stat));
        const after = edited && draft.replace(edited);
        if (after) made?.(after);
      }),
    remove: (path, how) => changes.remove(path, how?.check, deletesOnCondition),
    makeDirectory: (path) => places.makeDirectory(path),
    check,
    async close() {
      if (!options.client) (await connection)?.client.destroy();
    },
  };
}

function requireSense({ client, bucket, prefix = "", timeout = 25, ...own }: S3StorageOptions): void {
  const problem = (name: string, value: unknown, expected: string): Error =>
    new Error(`s3Storage: ${name} is ${JSON.stringify(value)}: expected ${expected}`);
  if (typeof bucket !== "string" || !/^[a-z\d][\w.-]{1,61}[a-z\d]$/i.test(bucket)) {
    throw problem("bucket", bucket, "the name of a bucket, such as site");
  }
  if (typeof prefix !== "string" || /^\/|\/\/|(?:^|\/)\.{1,2}(?:\/|$)/.test(prefix)) {
    throw problem("prefix", prefix, "what keys begin with, such as sites/docs");
  }
  if (!(timeout >= 1 && timeout <= 3600)) throw problem("timeout", timeout, "seconds, 1 to 3600");
  const ownOptions = Object.entries(own).filter(([, value]) => value !== undefined);
  const [other] = ownOptions.map(([name]) => name);
  if (client && other !== undefined) throw new Error(`s3Storage: client and ${other}: expected one of them`);
  if (client) return;
  const { endpoint, credentials } = own;
  if (endpoint !== undefined && !/^https?:\/\/[^/?#]+\/?$/.test(endpoint)) {
    throw problem("endpoint", endpoint, "an address such as https://s3.example");
  }
  if (credentials === undefined) {
    throw new Error('s3Storage: there are no credentials: expected access keys, "environment", or a client');
  }
}

async function connect({ client, credentials, ...options }: S3StorageOptions): Promise<Connection> {
  const sdk = await loadSdk();
  if (client) return { sdk, client, isGiven: true };
  const { endpoint, pathStyle = endpoint !== undefined } = options;
  const { region = credentials === "environment" && endpoint === undefined ? undefined : "us-east-1" } = options;
  const made = new sdk.S3Client({
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials !== undefined && credentials !== "environment" && { credentials }),
    forcePathStyle: pathStyle,
    requestChecksumCalculation: "WHEN_REQUIRED", // and where a request names one
    retryStrategy: retries,
    requestHandler: {
      connectionTimeout: connectionMs,
      throwOnRequestTimeout: true,
      // As many as there are requests: a client that reads slowly must not keep others waiting.
      httpAgent: { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY },
      httpsAgent: { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY },
    },
  });
  return { sdk, client: made, isGiven: false };
}

type Strategy = Extract<NonNullable<S3ClientConfig["retryStrategy"]>, { recordSuccess: unknown }>;

/**
 * Sends a request again that failed on its way or at the store, whatever became of others. The SDK's own strategy has a
 * budget for all requests together: after some failures it gives up at the first.
 */
const retries: Strategy = {
  acquireInitialRetryToken: async () => ({ getRetryCount: () => 0, getRetryDelay: () => 0 }),
  async refreshRetryTokenForRetry(before, { errorType }) {
    const count = before.getRetryCount() + 1;
    if (count >= maxAttempts || errorType === "CLIENT_ERROR") throw new Error("the request is not sent again");
    const pauseMs = Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** count);
    return { getRetryCount: () => count, getRetryDelay: () => pauseMs };
  },
  recordSuccess() {},
};

async function loadSdk(): Promise<Sdk> {
  try {
    return await import("@aws-sdk/client-s3");
  } catch (error) {
    throw new Error("the package @aws-sdk/client-s3 is missing: npm install @aws-sdk/client-s3", { cause: error });
  }
}

async function statAt(places: Places, path: string): Promise<StoredStat | undefined> {
  const found = await places.look(path);
  if (found.kind === "nothing") return undefined;
  return found.kind === "file" ? found.object.stat : found.stat;
}

/** What an operator can do something about: the innermost error says it. */
function reasonOf(error: unknown): string {
  const cause = error instanceof StorageError ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return [cause.name, cause.message].filter((part) => part !== "" && part !== "Error").join(": ");
}
