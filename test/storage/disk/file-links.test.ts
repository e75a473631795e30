import { describe, expect, it } from "vitest";
import { FileLinks } from "../../../src/storage/disk/file-links.ts";

describe("the links to files", () => {
  it("are found by what they lead to", () => {
    const links = new FileLinks();
    links.note("/a", "/srv/a", "/srv/file");
    links.note("/b", "/srv/b", "/srv/file");
    links.note("/c", "/srv/c", "/srv/other");
    expect([...links.to("/srv/file")]).toEqual(["/a", "/b"]);
    expect([...links.to("/srv/a")]).toEqual([]);
  });

  it("are none where a file lies at its own place", () => {
    const links = new FileLinks();
    links.note("/a", "/srv/a", "/srv/a");
    expect([...links.to("/srv/a")]).toEqual([]);
  });

  it.each(["/srv/a", "/srv/other", undefined])("are forgotten when they lead to %s instead", (real) => {
    const links = new FileLinks();
    links.note("/a", "/srv/a", "/srv/file");
    links.note("/a", "/srv/a", real);
    expect([...links.to("/srv/file")]).toEqual([]);
  });
});
