import { type PassThrough, Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { attachment } from "../http/file-name.ts";
import type { Reply, ReplyHeaders } from "../server/reply.ts";
import type { FileOptions } from "../server/site.ts";
import type { StoredStat } from "../storage/storage.ts";
import { type FileRequest, siteTitle } from "./file-request.ts";
import { ClientSlice, type TreeLimits, unlessInSight, visibleTree } from "./visible-entries.ts";

const defaultLimits: TreeLimits = { maxEntries: 10_000, maxBytes: 4 * 1024 ** 3 };

// To compress again what is compressed costs time and saves nothing.
const isCompressed =
  /^(?:audio|video)\/(?!.*wav)|^image\/(?!svg|bmp|tiff|x-icon|vnd\.microsoft)|^font\/woff|\b(?:zip|gzip|zstd|x-7z-compressed|x-bzip2?|x-xz|x-rar-compressed|java-archive|pdf)\b|^application\/vnd\.(?:openxmlformats|oasis)/i;

// What one system or another does not take in the name of a file, or would show in another order.
const unusualInName = /[/\\:*?"<>|\p{Cc}\p{Bidi_Control}]|[. ]+$/gu;

/** What an archive of a directory may hold; `undefined` where there are no archives. */
export function zipLimits({ listing }: Pick<FileOptions, "listing">): TreeLimits | undefined {
  const zip = typeof listing === "object" && listing.zip;
  if (!zip) return undefined;
  return zip === true ? defaultLimits : { ...defaultLimits, ...zip };
}

/** A directory as a `.zip`: within the limits before anything is sent, then sent file by file. */
export async function zipDirectory(request: FileRequest, limits: TreeLimits): Promise<Reply> {
  const { exchange, path: top, stat, contentTypeOf } = request;
  const slice = new ClientSlice(exchange.signal);
  const tree = await visibleTree(request, limits, meantBy(exchange.search), slice);

  // All lies in one directory, so that nothing is strewn about where it is unpacked.
  const name = (top.split("/").at(-2) || siteTitle(request)).replace(unusualInName, "_");
  const headers: ReplyHeaders = {
    "content-type": "application/zip",
    "content-disposition": attachment(`${name}.zip`),
    "accept-ranges": "none",
    "cache-control": "no-cache",
    vary: "authorization",
  };
  // As a stream, because that of GET has no known length either.
  if (exchange.method === "HEAD") return { status: 200, headers, body: Readable.from([]) };
  const { ZipFile } = await import("yazl");
  const zip = new ZipFile();
  const output = zip.outputStream as PassThrough;
  const fail = (error: Error): unknown => output.destroy(error);
  output.on("error", () => {}); // a plugin may drop the reply: a failure after that must not end the process
  zip.on("error", fail);
  let source: Readable | undefined;
  output.once("close", () => source?.destroy()); // the archive is no longer wanted
  fill().catch(fail);
  return { status: 200, headers, body: output };

  /** Adds entry by entry. Throws if a file cannot be sent whole: without its end, what was sent is not an archive. */
  async function fill(): Promise<void> {
    let bytes = 0;
    if (stat) zip.addEmptyDirectory(name, { mtime: archivedDate(stat) });
    for (const entry of tree) {
      if (slice.isOver) await slice.renew();
      if (output.destroyed) return;
      const target = `${name}/${entry.path.slice(top.length)}`;
      if (entry.type === "directory") {
        const measured = await request.storage.stat(entry.path).catch(unlessInSight);
        if (measured) zip.addEmptyDirectory(target, { mtime: archivedDate(measured) });
        continue;
      }
      const file = await request.storage.open(entry.path).catch(unlessInSight);
      if (!file) continue;
      try {
        const { size } = file.stat;
        bytes += size;
        if (bytes > limits.maxBytes) throw new Error("files that grew made the archive too large");
        source = file.stream();
        if (output.destroyed) source.destroy();
        const compress = !isCompressed.test(contentTypeOf(target));
        zip.addReadStream(source, target, { mtime: archivedDate(file.stat), size, compress });
        await finished(source);
      } finally {
        await file.close();
      }
    }
    zip.end();
  }
}

/** Of a date before 1970, yazl throws where the process would end. */
function archivedDate({ modified }: StoredStat): Date {
  return new Date(Math.max(0, modified.getTime()));
}

/** With `name`, which may be there several times, an archive holds only what is called so, and what is in that. */
function meantBy(search: string): { readonly isMeant?: (path: string) => boolean } {
  const names = new URLSearchParams(search).getAll("name").map((name) => `${name.replace(/\/$/, "")}/`);
  if (names.length === 0) return {};
  return { isMeant: (path) => names.some((name) => `${path}/`.startsWith(name) || name.startsWith(`${path}/`)) };
}
