import { describe, expect, it } from "vitest";
import { s3Storage } from "../../../src/storage/s3/s3-storage.ts";
import type { Content } from "../../../src/storage/storage.ts";
import { faultyProxy } from "../../helpers/faulty-proxy.ts";
import { storeRequests } from "../../helpers/store-requests.ts";
import { testBucket } from "../../helpers/test-bucket.ts";
import { content, textAt } from "../content.ts";

const mebibyte = 1024 * 1024;
/** Two parts and a bit, of bytes that differ from part to part. */
const long = Buffer.alloc(17 * mebibyte, "0123456789 of a part that is long and never begins with the same byte,");

async function* inPieces(bytes: Uint8Array, pieceBytes = mebibyte): Content {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

async function bytesAt(storage: ReturnType<typeof s3Storage>, path: string): Promise<Uint8Array | undefined> {
  const file = await storage.open(path);
  const bytes = await file?.bytes();
  await file?.close();
  return bytes;
}

async function inBucket(files: Readonly<Record<string, string | Uint8Array>> = {}) {
  const { options, keys, unfinished } = await testBucket(files);
  const way = await faultyProxy(options.endpoint);
  const storage = s3Storage({ ...options, endpoint: way.url });
  const sent = storeRequests();
  const names = (): string[] => sent.map(({ name }) => name);
  return { storage, way, names, keys, unfinished };
}

describe("long content in an S3 storage", { tags: ["versitygw"] }, () => {
  it("is sent in parts while it arrives, and told of by stat as by the write", async () => {
    const { storage, names, unfinished } = await inBucket();
    const { created, stat } = await storage.write("/a.bin", inPieces(long));
    expect({ created, size: stat.size }).toEqual({ created: true, size: long.length });
    expect(names().filter((name) => name === "upload-part")).toHaveLength(3);
    expect({ ...(await storage.stat("/a.bin")) }).toEqual({ ...stat });
    expect(Buffer.compare((await bytesAt(storage, "/a.bin")) ?? long.subarray(1), long)).toBe(0);
    expect(await unfinished()).toBe(0);
  });

  it("is given up where it breaks off, where a check forbids it, and where a file came first", async () => {
    const { storage, keys, unfinished } = await inBucket({ "/there.bin": "old" });
    const error = new Error("the client left");
    async function* broken(): Content {
      yield* inPieces(long);
      throw error;
    }
    const forbid = (): never => {
      throw error;
    };
    await expect(storage.write("/a.bin", broken())).rejects.toBe(error);
    await expect(storage.write("/a.bin", inPieces(long), { check: forbid })).rejects.toBe(error);
    const exclusive = storage.write("/there.bin", inPieces(long), { exclusive: true });
    await expect(exclusive).rejects.toMatchObject({ code: "exists" });
    await expect(storage.append("/there.bin", broken())).rejects.toBe(error);
    expect([await keys(), await unfinished(), await textAt(storage, "/there.bin")]).toEqual([["/there.bin"], 0, "old"]);
  });

  it("takes the place of what was stored meanwhile, and then the check sees that", { tags: ["campaign"] }, async () => {
    const { storage, unfinished } = await inBucket({ "/a.bin": "old" });
    const seen: (number | undefined)[] = [];
    async function* overtaken(): Content {
      yield* inPieces(long);
      await storage.write("/a.bin", content("in between"));
    }
    await storage.write("/a.bin", overtaken(), { check: (current) => void seen.push(current?.size) });
    expect(seen).toEqual([10]);
    expect([(await storage.stat("/a.bin"))?.size, await unfinished()]).toEqual([long.length, 0]);
  });

  it("is completed once where the answer to that was lost", async () => {
    const { storage, way, unfinished } = await inBucket({ "/a.bin": "old" });
    way.fail({ cutAnswer: /^POST \S*uploadId=/ });
    const { stat } = await storage.write("/a.bin", inPieces(long));
    expect({ ...(await storage.stat("/a.bin")) }).toEqual({ ...stat });
    expect([way.failures, stat.size, await unfinished()]).toEqual([1, long.length, 0]);
  });
});

describe("an append in an S3 storage", { tags: ["versitygw"] }, () => {
  it("has the store copy what is long, and sends what is short again", async () => {
    const { storage, names } = await inBucket({ "/long.log": long, "/short.log": "short" });
    await storage.append("/short.log", content(" and more"));
    expect([await textAt(storage, "/short.log"), names().includes("begin-upload")]).toEqual(["short and more", false]);
    const { stat } = await storage.append("/long.log", content("more"));
    expect(stat.size).toBe(long.length + 4);
    expect({ ...(await storage.stat("/long.log")) }).toEqual({ ...stat });
    expect([names().includes("copy-part"), names().filter((name) => name === "get")]).toEqual([true, ["get"]]);
    const bytes = (await bytesAt(storage, "/long.log")) ?? new Uint8Array();
    expect(Buffer.compare(bytes, Buffer.concat([long, Buffer.from("more")]))).toBe(0);
  });

  it("copies without a checksum in stores that have none of copied parts, such as MinIO", async () => {
    const { options, client, unfinished } = await testBucket({ "/long.log": long });
    let isChecked = false;
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName === "CreateMultipartUploadCommand") isChecked = "ChecksumAlgorithm" in args.input;
          const answer = await next(args); // a condition is looked at first
          if (commandName === "UploadPartCopyCommand" && isChecked) throw new Error("InvalidArgument");
          return answer;
        },
      { step: "initialize" },
    );
    const storage = s3Storage({ client, bucket: options.bucket, prefix: options.prefix });
    await storage.start?.();
    await storage.append("/long.log", inPieces(long));
    const bytes = (await bytesAt(storage, "/long.log")) ?? new Uint8Array();
    expect([Buffer.compare(bytes, Buffer.concat([long, long])), await unfinished()]).toEqual([0, 0]);
  });

  it("adds long content to short files and to long ones", { tags: ["campaign"] }, async () => {
    const { storage, unfinished } = await inBucket({ "/long.log": long, "/short.log": "short" });
    for (const [path, before] of [
      ["/short.log", Buffer.from("short")],
      ["/long.log", long],
    ] as const) {
      await storage.append(path, inPieces(long));
      const bytes = (await bytesAt(storage, path)) ?? new Uint8Array();
      expect([path, Buffer.compare(bytes, Buffer.concat([before, long]))]).toEqual([path, 0]);
    }
    expect(await unfinished()).toBe(0);
  });

  it("loses none to long files where others append as well", { tags: ["campaign"] }, async () => {
    const { storage } = await inBucket({ "/long.log": long.subarray(0, 5 * mebibyte) });
    const lines = Array.from({ length: 5 }, (_, index) => `line ${index}\n`);
    await Promise.all(lines.map((line) => storage.append("/long.log", content(line))));
    const bytes = (await bytesAt(storage, "/long.log")) ?? new Uint8Array();
    const added = Buffer.from(bytes.subarray(5 * mebibyte)).toString();
    expect(added.split(/(?<=\n)/).sort()).toEqual(lines);
  });
});
