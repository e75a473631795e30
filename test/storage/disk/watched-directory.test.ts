import { describe, expect, it } from "vitest";
import { WatchedDirectory } from "../../../src/storage/disk/watched-directory.ts";

/** A directory below another, really there or behind a link to `real`. */
function below(parent: WatchedDirectory, name: string, real = `${parent.real}/${name}`): WatchedDirectory {
  const directory = new WatchedDirectory(name, parent);
  directory.real = real;
  parent.directories.set(name, directory);
  return directory;
}

function root(): WatchedDirectory {
  const directory = new WatchedDirectory("", undefined);
  directory.real = "/srv";
  return directory;
}

describe("a watched directory", () => {
  it("knows its path and those of the names in it", () => {
    const top = root();
    const inner = below(below(top, "a"), "b");
    expect([top.path, inner.path]).toEqual(["/", "/a/b"]);
    expect([top.pathOf("x"), inner.pathOf("x")]).toEqual(["/x", "/a/b/x"]);
  });

  it("finds those below it by path", () => {
    const top = root();
    const inner = below(below(top, "a"), "b");
    expect(top.find("/a/b")).toBe(inner);
    expect(top.find("/a/b/")).toBe(inner);
    expect([top.find(""), top.find("/")]).toEqual([top, top]);
    expect(top.find("/a/c/b")).toBeUndefined();
  });

  it("may hold what really lies in it", () => {
    expect(root().mayHold("a", "/srv/a")).toBe(true);
  });

  it("may hold what a link leads to, but not a directory that holds the link", () => {
    const inner = below(root(), "a");
    expect(inner.mayHold("link", "/srv/b")).toBe(true);
    expect(inner.mayHold("link", "/srv/ab")).toBe(true);
    expect(inner.mayHold("link", "/srv/a")).toBe(false);
    expect(inner.mayHold("link", "/srv")).toBe(false);
    expect(inner.mayHold("link", "/")).toBe(false);
  });

  it("may not hold a link back to a directory on its path", () => {
    const inner = below(below(root(), "a"), "to-b", "/srv/b");
    expect(inner.mayHold("to-c", "/srv/c")).toBe(true);
    expect(inner.mayHold("to-a", "/srv/a")).toBe(false);
    expect(inner.mayHold("to-b", "/srv/b")).toBe(false);
  });

  it("may not hold a third link on one path", () => {
    const first = below(root(), "one", "/srv/x");
    const second = below(below(first, "directory"), "two", "/srv/y");
    expect(first.mayHold("two", "/srv/y")).toBe(true);
    expect(second.mayHold("directory", "/srv/y/directory")).toBe(true);
    expect(second.mayHold("three", "/srv/z")).toBe(false);
  });

  it("is forgotten with those above it when nothing is left in them", () => {
    const top = root();
    const middle = below(top, "a");
    const inner = below(middle, "b");
    middle.files.set("file", "1");
    inner.prune();
    expect(middle.directories.size).toBe(0);
    expect(top.directories.size).toBe(1);
    middle.files.clear();
    middle.prune();
    expect(top.directories.size).toBe(0);
  });
});
