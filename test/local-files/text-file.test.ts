import { execFileSync } from "node:child_process";
import { chmod, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readTextFile, TextFileError } from "../../src/local-files/text-file.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

/** The message with which a file is refused. */
async function refusal(path: string): Promise<string> {
  const error = await readTextFile(path).then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(TextFileError);
  return (error as Error).message;
}

describe("readTextFile", () => {
  it("gives the text of a file", async () => {
    const path = join(await temporaryDirectory({ "a.html": "<p>Grüße\r\n" }), "a.html");
    expect(await readTextFile(path)).toBe("<p>Grüße\r\n");
  });

  it("drops a byte order mark", async () => {
    const path = join(await temporaryDirectory({ "a.html": "\ufeff<p>" }), "a.html");
    expect(await readTextFile(path)).toBe("<p>");
  });

  it("takes 5 MiB, and characters that lie across the pieces in which it reads", async () => {
    const path = join(await temporaryDirectory(), "a.html");
    const text = `a${"ü".repeat((5 * 1024 * 1024 - 2) / 2)}a`;
    await writeFile(path, text);
    expect((await readTextFile(path)) === text).toBe(true);
  });

  it("refuses a byte more", async () => {
    const path = join(await temporaryDirectory({ "a.html": "" }), "a.html");
    await truncate(path, 5 * 1024 * 1024 + 1);
    expect(await refusal(path)).toBe("it is larger than 5 MiB: expected a smaller file");
  });

  it("refuses what is not UTF-8", async () => {
    const path = join(await temporaryDirectory({ "a.html": Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65]) }), "a.html");
    expect(await refusal(path)).toBe("it is not UTF-8: expected a text in this encoding");
  });

  it("refuses a file that is not there", async () => {
    const directory = await temporaryDirectory({ "a.txt": "" });
    const expected = "the file does not exist: expected a file";
    expect(await refusal(join(directory, "missing.html"))).toBe(expected);
    expect(await refusal(join(directory, "a.txt", "below.html"))).toBe(expected);
  });

  it("refuses a FIFO without waiting for somebody who writes into it", { tags: ["mkfifo"] }, async () => {
    const path = join(await temporaryDirectory(), "fifo");
    execFileSync("mkfifo", [path]);
    expect(await refusal(path)).toBe("it is not a regular file: expected a file");
  });

  it("names any other reason", { tags: ["posix"] }, async () => {
    const directory = await temporaryDirectory();
    await symlink("loop", join(directory, "loop"));
    expect(await refusal(join(directory, "loop"))).toBe("it cannot be read (ELOOP): expected a file");
  });

  it("refuses what it may not read", { tags: ["unprivileged", "posix"] }, async () => {
    const directory = await temporaryDirectory({ "closed/a.html": "a" });
    await chmod(join(directory, "closed/a.html"), 0);
    expect(await refusal(join(directory, "closed/a.html"))).toMatch("it may not be read");
  });
});
