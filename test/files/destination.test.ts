import { describe, expect, it } from "vitest";
import { destinationOf } from "../../src/files/destination.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Asked, fileRequest } from "../helpers/file-request.ts";

async function destination(headers: Readonly<Record<string, string>>, asked: Asked = {}) {
  const storage = memoryStorage({ "/a.txt": "a", "/b.txt": "b", "/dir/": "" });
  return destinationOf(await fileRequest(storage, "/a.txt", { method: "COPY", headers, ...asked }));
}

describe("a destination", () => {
  it.each([
    ["/new%20name.txt", "/new name.txt", ""],
    ["http://example.com/x/../n.txt", "/n.txt", ""],
    ["https://EXAMPLE.com:8443/n.txt", "/n.txt", ""],
    ["/wiki/n.txt", "/n.txt", "/wiki"],
    ["http://example.com/wiki/n.txt", "/n.txt", "/wiki"],
  ])("is read from a path or a URL of the same host: %s", async (sent, path, mount) => {
    expect(await destination({ destination: sent }, { mount })).toMatchObject({ path, stat: undefined });
  });

  it.each([
    [{}, 400, "INVALID_PATH"],
    [{ destination: "n.txt" }, 400, "INVALID_PATH"],
    [{ destination: "/%2e%2e/n.txt" }, 400, "INVALID_PATH"],
    [{ destination: "http://other.example/n.txt" }, 403, "FORBIDDEN_PATH"],
    [{ destination: "/.env" }, 403, "FORBIDDEN_PATH"],
    [{ destination: "/a.txt" }, 403, "FORBIDDEN_PATH"],
    [{ destination: "/dir" }, 409, "FILE_EXISTS"],
    [{ destination: "/new/" }, 409, "FILE_EXISTS"],
    [{ destination: "/b.txt", overwrite: "F" }, 412, "PRECONDITION_FAILED"],
  ])("is refused for what it says: %j", async (headers, status, code) => {
    await expect(destination(headers as never)).rejects.toMatchObject({ status, code });
  });

  it("is refused outside of the mount, and behind other plugins than the source", async () => {
    const headers = { destination: "/n.txt" };
    await expect(destination(headers, { mount: "/wiki" })).rejects.toMatchObject({ status: 403 });
    await expect(destination(headers, { isGuardedAlike: () => false })).rejects.toMatchObject({ status: 403 });
  });

  it("takes the right to create what is new, and to overwrite what is there", async () => {
    const may = (right: string) => ({ permits: (each: string) => each === right });
    expect(await destination({ destination: "/n.txt" }, may("create"))).toMatchObject({ path: "/n.txt" });
    expect(await destination({ destination: "/b.txt" }, may("overwrite"))).toMatchObject({ path: "/b.txt" });
    await expect(destination({ destination: "/b.txt" }, may("create"))).rejects.toMatchObject({ status: 401 });
    await expect(destination({ destination: "/n.txt" }, may("overwrite"))).rejects.toMatchObject({ status: 401 });
    await expect(destination({ destination: "/n.txt" }, may("read"))).rejects.toMatchObject({ status: 401 });
  });
});
