import { S3Client } from "@aws-sdk/client-s3";
import { vi } from "vitest";

/** A request to a store of S3. */
export interface StoreRequest {
  readonly name: string;
  readonly retries: number;
  /** Of the answer; `undefined` where there was none. */
  readonly status: number | undefined;
}

const names: Readonly<Record<string, string>> = {
  AbortMultipartUploadCommand: "abort-upload",
  CompleteMultipartUploadCommand: "complete-upload",
  CreateMultipartUploadCommand: "begin-upload",
  DeleteObjectCommand: "delete",
  GetObjectCommand: "get",
  HeadObjectCommand: "head",
  ListObjectsV2Command: "list",
  PutObjectCommand: "put",
  UploadPartCommand: "upload-part",
  UploadPartCopyCommand: "copy-part",
};

const send = S3Client.prototype.send as (...values: readonly unknown[]) => Promise<unknown>;

/** What all clients of the library ask of their stores from now on, in the order in which it ends. */
export function storeRequests(): StoreRequest[] {
  const requests: StoreRequest[] = [];
  const note = (command: object, { $metadata: told }: { $metadata?: { attempts?: number; httpStatusCode?: number } }) =>
    requests.push({
      name: names[command.constructor.name] ?? command.constructor.name,
      retries: (told?.attempts ?? 1) - 1,
      status: told?.httpStatusCode,
    });
  vi.spyOn(S3Client.prototype, "send").mockImplementation(async function (this: S3Client, ...values: unknown[]) {
    const command = values[0] as object;
    try {
      const answer = await send.apply(this, values);
      note(command, answer as object);
      return answer;
    } catch (error) {
      note(command, error as object);
      throw error;
    }
  });
  return requests;
}
