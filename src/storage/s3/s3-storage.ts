import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";
import { type Storage, StorageError, type StoredStat } from "../storage.ts";
import { append } from "./append.ts";
import { Changes } from "./changes.ts";
import { list } from "./list.ts";
import { type Connection, ObjectStore, type Sdk } from "./object-store.ts";
import { ObjectReader } from "./open-object.ts";
import { Places } from "./places.ts";
import { remove } from "./remove.ts";
import { isAbsent, isLostRace } from "./store-error.ts";
import { newMark, newWrite } from "./stored-object.ts";
import { update, write } from "./write.ts";

/** Options for {@link s3Storage}. */
export interface S3StorageOptions {
  /** The bucket, which exists. */
  readonly bucket: string;
  /** What all keys begin with, such as `"sites/docs"`. @default "" */
  readonly prefix?: string | undefined;
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

/** The key of an object that is never made, to which a conditional write must fail. */
const probeName = ".filement-probe";
const probeTag = '"00000000000000000000000000000000"';

/**
 * Keeps files as objects of an S3 bucket, for any number of servers at once: every change is made by the store under the
 * condition that nothing has changed since it was looked at. Needs the package `@aws-sdk/client-s3`, and a store with
 * conditional writes, which is tested at the start. Throws for options that make no sense.
 *
 * @example
 * const credentials = { accessKeyId: "...", secretAccessKey: "..." };
 * const files = createFileServer({ storage: s3Storage({ bucket: "site", endpoint: "https://s3.example", credentials }) });
 */
export function s3Storage(options: S3StorageOptions): Storage {
  requireSense(options);
  const { bucket, prefix = "" } = options;
  let connection: Promise<Connection> | undefined;
  const store = new ObjectStore(bucket, () => {
    connection ??= connect(options);
    return connection;
  });
  const places = new Places(store, prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`);
  const changes = new Changes(places);
  const reader = new ObjectReader(places);

  /** Asks for a write that must not be made, which shows that writes are possible and their conditions are kept. */
  const probe = async (): Promise<void> => {
    const key = places.keyOf(`/${probeName}`);
    try {
      await store.put(key, new Uint8Array(), newWrite(newMark(), undefined), { IfMatch: probeTag });
    } catch (error) {
      if (isLostRace(error) || isAbsent(error)) return;
      throw error;
    }
    await store.remove(key);
    throw new Error("it ignores the conditions of writes (If-Match), without which changes would be lost");
  };

  return {
    async start() {
      try {
        await store.list(places.keyOf("/"), { MaxKeys: 1 });
        await probe().catch((error: unknown) => {
          if (!isForbidden(error)) throw error; // a server that only reads needs no more
        });
      } catch (error) {
        throw new Error(`the bucket ${JSON.stringify(bucket)} cannot be used: ${reasonOf(error)}`, { cause: error });
      }
    },
    stat: (path) => statAt(places, path),
    recent: (path) => places.recentFile(path)?.object.stat,
    open: (path, purpose = "content") => reader.open(path, purpose),
    list: (path) => list(places, path),
    write: (path, content, how) => write(changes, path, content, how),
    append: (path, content, how) => append(changes, reader, path, content, how?.check),
    update: (path, edit) => update(changes, reader, path, edit),
    remove: (path, how) => remove(changes, path, how?.check),
    check: probe,
    observe(observer) {
      store.observers.add(observer);
      return () => void store.observers.delete(observer);
    },
    async close() {
      if (!options.client) (await connection)?.client.destroy();
    },
  };
}

/** Throws for options that cannot work, or that contradict each other. */
function requireSense({ client, bucket, prefix = "", ...own }: S3StorageOptions): void {
  const problem = (name: string, value: unknown, expected: string): Error =>
    new Error(`s3Storage: ${name} is ${JSON.stringify(value)}: expected ${expected}`);
  if (typeof bucket !== "string" || !/^[a-z\d][\w.-]{1,61}[a-z\d]$/i.test(bucket)) {
    throw problem("bucket", bucket, "the name of a bucket, such as site");
  }
  if (typeof prefix !== "string" || /^\/|\/\/|(?:^|\/)\.{1,2}(?:\/|$)/.test(prefix)) {
    throw problem("prefix", prefix, "what keys begin with, such as sites/docs");
  }
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

/** Loads the SDK, and makes the client where none was given. */
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
    maxAttempts,
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

function isForbidden(error: unknown): boolean {
  return error instanceof StorageError && error.code === "forbidden";
}

/** What an operator can do something about: the innermost error says it. */
function reasonOf(error: unknown): string {
  const cause = error instanceof StorageError ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return [cause.name, cause.message].filter((part) => part !== "" && part !== "Error").join(": ");
}
