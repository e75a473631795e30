import { expect, it, vi } from "vitest";
import type { Journal } from "../../../src/plugins/history/journal.ts";
import { Recorder } from "../../../src/plugins/history/recorder.ts";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";
import { content, slowContent } from "../../storage/content.ts";

it("copies what there is room for while files are stored, and reads the others again, before their next change", async () => {
  const noted: string[] = [];
  const add: Journal["add"] = async ({ summary }, { length }) => void noted.push(`${summary} ${length}`);
  const [report, storage, maxFileBytes] = [vi.fn(), memoryStorage(), 2 ** 24];
  const others = { covers: () => true, isFull: async () => false, report, maxFileBytes };
  const recorder = new Recorder({ journal: { add } as Journal, ...others });
  const wrapped = recorder.wrap(storage);
  const record = ({ stat }: Awaited<ReturnType<typeof wrapped.write>>, path: string) => {
    const change = { kind: "replaced", method: "PUT", path, etag: `"${stat.version}"`, size: stat.size } as const;
    return recorder.record({ ...change, host: "*", requestId: "", time: "2026-11-28" }, { site: "*" });
  };
  const uploads = Array.from({ length: 6 }, () => slowContent(Buffer.alloc(15 * 2 ** 20)));
  const writes = uploads.map(({ slow }, n) => wrapped.write(`/${n}`, slow));
  await Promise.all(uploads.map(({ hasBegun }) => hasBegun));
  for (const { finish } of uploads) finish();
  const results = await Promise.all(writes);
  const open = vi.spyOn(storage, "open");
  const recorded = results.map((result, n) => record(result, `/${n}`));
  expect(open).toHaveBeenCalledTimes(2);
  recorded.push(record(await wrapped.write("/5", content("small")), "/5"));
  await Promise.all(recorded);
  expect(noted.slice(-3)).toEqual(["PUT /4 15728640", "PUT /5 15728640", "PUT /5 5"]);
  expect([noted.length, report.mock.calls]).toEqual([7, []]);
  const bytes = () => Promise.reject(new Error("EIO"));
  open.mockImplementationOnce(async () => ({ ...results[0], bytes, close: async () => {} }) as never);
  const unread = results.slice(0, 1).map((result) => record(result, "/0"));
  await Promise.all([...unread, record(await wrapped.write("/0", content("next")), "/0")]);
  expect([noted.at(-1), report.mock.calls.length]).toEqual(["PUT /0 4", 2]);
});
