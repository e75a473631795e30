import type { Readable } from "node:stream";
import type {
  $Command,
  ListObjectsV2CommandInput,
  PutObjectCommandInput,
  S3Client,
  S3ClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes,
} from "@aws-sdk/client-s3";
import { type ByteSpan, StorageError } from "../storage.ts";
import { asStorageError, isAbsent } from "./store-error.ts";
import { type NewWrite, objectOf, propertiesWith, type StoredObject, writtenObject } from "./stored-object.ts";

export type Sdk = typeof import("@aws-sdk/client-s3");

export interface Connection {
  readonly sdk: Sdk;
  readonly client: Pick<S3Client, "send" | "destroy">;
  /** Whether the client is of the user's making, and has time limits of its own. */
  readonly isGiven: boolean;
}

/** What a change requires of the object that it replaces: that version of it, or that it does not exist. */
export type Condition = { readonly IfMatch: string } | { readonly IfNoneMatch: "*" };

export interface ListedObject {
  readonly key: string;
  readonly modified: Date;
  readonly size: number;
  readonly etag: string;
}

export interface KeyPage {
  readonly objects: readonly ListedObject[];
  readonly prefixes: readonly string[];
  readonly next: string | undefined;
}

export type ListOptions = Pick<ListObjectsV2CommandInput, "MaxKeys" | "Delimiter" | "StartAfter" | "ContinuationToken">;

export interface Part {
  readonly PartNumber: number;
  readonly ETag: string | undefined;
  readonly ChecksumCRC32: string | undefined;
}

/** An upload in parts; one that is checked has a checksum of the whole. */
export interface BegunUpload {
  readonly id: { readonly Bucket: string; readonly Key: string; readonly UploadId: string };
  readonly isChecked: boolean;
}

/** How long the store has to answer, in milliseconds, before it is asked again. Content may take longer. */
const maxAnswerMs = 10_000;
const copyMs = 300_000;
/** Bytes in a millisecond that a slow line carries at least: content that is sent counts extra. */
const slowBytesPerMs = 200;

/** The objects of a bucket: each method is one request, retried by the client as long as that can help. */
export class ObjectStore {
  readonly bucket: string;
  readonly #connect: () => Promise<Connection>;
  readonly #answerMs: number;
  readonly #patienceMs: number;
  /** Until when all requests may take together. */
  #limit: { at: number } | undefined;
  /** What is known of the store, also by those that {@link timed} gives. */
  #known = { hasWritten: false, checksCopies: true };

  /** `patienceMs` is how long a look, or a change, may take with all of its requests and their retries. */
  constructor(bucket: string, connect: () => Promise<Connection>, patienceMs: number) {
    this.bucket = bucket;
    this.#connect = connect;
    this.#answerMs = Math.min(maxAnswerMs, patienceMs);
    this.#patienceMs = patienceMs;
  }

  /** This store for one look, or change, whose requests share a time; content that is sent, and copies, extend it. */
  timed(): ObjectStore {
    const timed = new ObjectStore(this.bucket, this.#connect, this.#patienceMs);
    timed.#limit = { at: performance.now() + this.#patienceMs };
    timed.#known = this.#known;
    return timed;
  }

  /** Whether the last request that writes was answered, and not refused for want of rights or space. */
  get hasWritten(): boolean {
    return this.#known.hasWritten;
  }

  async head(key: string): Promise<StoredObject | undefined> {
    const answer = await this.#request((sdk) => new sdk.HeadObjectCommand(this.#at(key))).catch(unlessAbsent);
    return answer && objectOf(answer, answer.ContentLength ?? 0, key);
  }

  async get(key: string): Promise<{ readonly object: StoredObject; readonly body: Readable } | undefined> {
    const input = { ...this.#at(key), ChecksumMode: "ENABLED" } as const;
    const answer = await this.#request((sdk) => new sdk.GetObjectCommand(input)).catch(unlessAbsent);
    // On Node the body is a stream of Node.
    return answer && { object: objectOf(answer, answer.ContentLength ?? 0, key), body: answer.Body as Readable };
  }

  /** A part of one version of an object. Throws where that is not stored any more. */
  async getSpan(key: string, { start, end }: ByteSpan, { etag }: StoredObject): Promise<Readable> {
    const input = { ...this.#at(key), Range: `bytes=${start}-${end}`, IfMatch: etag };
    const { Body } = await this.#request((sdk) => new sdk.GetObjectCommand(input));
    return Body as Readable;
  }

  async put(key: string, content: Uint8Array, write: NewWrite, condition: Condition): Promise<StoredObject> {
    const input = { ...this.#at(key), ...contentFields(content), ...propertiesWith(write, key), ...condition };
    const { ETag = "" } = await this.#request((sdk) => new sdk.PutObjectCommand(input), this.#timeFor(content), true);
    return writtenObject(write, ETag, content.byteLength);
  }

  async remove(key: string, seen?: StoredObject): Promise<void> {
    const input = { ...this.#at(key), ...(seen && { IfMatch: seen.etag }) };
    await this.#request((sdk) => new sdk.DeleteObjectCommand(input));
  }

  async list(Prefix: string, how: ListOptions): Promise<KeyPage> {
    const input = { Bucket: this.bucket, Prefix, ...how };
    const answer = await this.#request((sdk) => new sdk.ListObjectsV2Command(input));
    const { Contents = [], CommonPrefixes = [], IsTruncated = false, NextContinuationToken } = answer;
    return {
      objects: Contents.map(({ Key = "", LastModified = new Date(0), Size = 0, ETag = "" }) => {
        return { key: Key, modified: LastModified, size: Size, etag: ETag };
      }),
      prefixes: CommonPrefixes.flatMap((each) => each.Prefix ?? []),
      next: IsTruncated ? NextContinuationToken : undefined,
    };
  }

  /** Begins an upload. `hasCopies`: it may get copied parts, so it has no checksum where the store refuses both. */
  async beginUpload(key: string, write: NewWrite, hasCopies: boolean): Promise<BegunUpload> {
    const isChecked = !hasCopies || this.#known.checksCopies;
    const input = { ...this.#at(key), ...propertiesWith(write, key), ...(isChecked && uploadChecksum) };
    const { UploadId = "" } = await this.#request((sdk) => new sdk.CreateMultipartUploadCommand(input));
    return { id: { ...this.#at(key), UploadId }, isChecked };
  }

  async uploadPart({ id, isChecked }: BegunUpload, PartNumber: number, content: Uint8Array): Promise<Part> {
    const input = { ...id, PartNumber, ...contentFields(content, isChecked) };
    const answer = await this.#request((sdk) => new sdk.UploadPartCommand(input), this.#timeFor(content), true);
    return { PartNumber, ETag: answer.ETag, ChecksumCRC32: answer.ChecksumCRC32 };
  }

  /** Makes a part of a version of the object itself. Throws where that is not stored any more. */
  async copyPart({ id }: BegunUpload, PartNumber: number, from: StoredObject): Promise<Part> {
    const CopySource = `${this.bucket}/${id.Key.split("/").map(encodeURIComponent).join("/")}`;
    const input = { ...id, PartNumber, CopySource, CopySourceIfMatch: from.etag };
    const answer = await this.#request((sdk) => new sdk.UploadPartCopyCommand(input), copyMs);
    const { ETag, ChecksumCRC32 } = answer.CopyPartResult ?? {};
    return { PartNumber, ETag, ChecksumCRC32 };
  }

  /** Makes the object of its parts, if what is there meets the condition; gives its tag. */
  async completeUpload({ id, isChecked }: BegunUpload, parts: readonly Part[], condition: Condition): Promise<string> {
    const checksum = isChecked && { ChecksumType: uploadChecksum.ChecksumType };
    const input = { ...id, MultipartUpload: { Parts: [...parts] }, ...checksum, ...condition };
    const { ETag = "" } = await this.#request((sdk) => new sdk.CompleteMultipartUploadCommand(input), copyMs, true);
    return ETag;
  }

  async abortUpload({ id }: BegunUpload): Promise<void> {
    await this.#request((sdk) => new sdk.AbortMultipartUploadCommand(id));
  }

  /** Learns from a copied part whether the store takes one into an upload with a checksum. MinIO does not. */
  async learnOfCopies(copying: Promise<Part>): Promise<void> {
    this.#known.checksCopies = await copying.then(
      () => true,
      (error: unknown) => error instanceof StorageError && Promise.reject(error),
    );
  }

  #at(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.bucket, Key: key };
  }

  #timeFor(content: Uint8Array): number {
    return this.#answerMs + content.byteLength / slowBytesPerMs;
  }

  async #request<Input extends ServiceInputTypes, Answer extends ServiceOutputTypes>(
    command: Make<Input, Answer>,
    requestTimeout: number = this.#answerMs,
    storesContent: boolean = false,
  ): Promise<Answer> {
    const { sdk, client, isGiven } = await this.#connect();
    const since = performance.now();
    const limit = this.#limit ?? { at: since + this.#patienceMs };
    limit.at += requestTimeout - this.#answerMs;
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(), Math.max(1, limit.at - since)).unref();
    try {
      const how = { abortSignal: ending.signal, ...(!isGiven && { requestTimeout }) };
      const answer = await client.send(command(sdk), how);
      if (storesContent) this.#known.hasWritten = true;
      return answer;
    } catch (error) {
      const known = asStorageError(error);
      if (storesContent && known instanceof StorageError) this.#known.hasWritten = false;
      throw known;
    } finally {
      clearTimeout(timer); // or it would cut off content that is still on its way
    }
  }
}

function unlessAbsent(error: unknown): undefined {
  if (!isAbsent(error)) throw error;
}

type Make<Input extends ServiceInputTypes, Answer extends ServiceOutputTypes> = (
  sdk: Sdk,
) => $Command<Input, Answer, S3ClientResolvedConfig, ServiceInputTypes, ServiceOutputTypes>;

function contentFields(
  content: Uint8Array,
  isChecked = true,
): Pick<PutObjectCommandInput, "Body" | "ContentLength" | "ChecksumAlgorithm"> {
  return { Body: content, ContentLength: content.byteLength, ...(isChecked && { ChecksumAlgorithm: "CRC32" }) };
}

/** One checksum of the whole object, which a reader can check, rather than one of checksums. */
const uploadChecksum = { ChecksumAlgorithm: "CRC32", ChecksumType: "FULL_OBJECT" } as const;
