import { describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { type SecurityHeadersOptions, securityHeaders } from "../../src/plugins/security-headers.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";

const names = [
  ...["content-security-policy", "strict-transport-security", "x-frame-options", "referrer-policy"],
  ...["permissions-policy", "cross-origin-opener-policy", "cross-origin-resource-policy"],
];

async function fieldsAt(url: string, options?: SecurityHeadersOptions): Promise<Record<string, string>> {
  const storage = memoryStorage({ "/a.txt": "a", "/directory/b.txt": "b" });
  const files = createFileServer({ storage, plugins: [securityHeaders(options)] });
  const { headers } = await files.fetch(new Request(url, { headers: { accept: "text/html" } }));
  await files.close();
  return Object.fromEntries([...headers].filter(([name]) => names.includes(name)));
}

const usual = {
  "x-frame-options": "SAMEORIGIN",
  "referrer-policy": "strict-origin-when-cross-origin",
  "cross-origin-opener-policy": "same-origin",
};

describe("securityHeaders", () => {
  it("adds what protects pages and breaks none", async () => {
    expect(await fieldsAt("http://localhost/a.txt")).toEqual(usual);
  });

  it("tells browsers to stay with HTTPS, over HTTPS only", async () => {
    const hsts = "strict-transport-security";
    expect(await fieldsAt("https://localhost/a.txt")).toEqual({ ...usual, [hsts]: "max-age=31536000" });
    const headers = { "Strict-Transport-Security": "max-age=60; preload" };
    expect(await fieldsAt("http://localhost/a.txt", { headers })).toEqual(usual);
    expect(await fieldsAt("https://localhost/a.txt", { headers })).toEqual({ ...usual, [hsts]: "max-age=60; preload" });
    expect(await fieldsAt("https://localhost/a.txt", { headers: { [hsts]: false } })).toEqual(usual);
  });

  it("sends what it is given, and leaves out what is switched off", async () => {
    const options = {
      headers: {
        "Content-Security-Policy": "default-src 'self'",
        "x-frame-options": "DENY",
        "Referrer-Policy": false,
        "permissions-policy": "camera=()",
        "cross-origin-opener-policy": false,
        "cross-origin-resource-policy": "same-site",
      },
    } as const;
    expect(await fieldsAt("http://localhost/a.txt", options)).toEqual({
      "content-security-policy": "default-src 'self'",
      "x-frame-options": "DENY",
      "permissions-policy": "camera=()",
      "cross-origin-resource-policy": "same-site",
    });
  });

  it("is on errors, too", async () => {
    expect(await fieldsAt("http://localhost/none")).toMatchObject(usual);
  });

  it("leaves replies the policy of their own", async () => {
    const { "content-security-policy": own } = await fieldsAt("http://localhost/directory/", {
      headers: { "content-security-policy": "default-src *" },
    });
    expect(own).toContain("default-src 'none'");
  });

  it.each([
    [{ "x-frame-options": "a\nb" }, "headers.x-frame-options is"],
    [{ "referrer-policy": "" }, "headers.referrer-policy is"],
    [{ "a b": "c" }, "headers.a b: expected the name of a header field"],
  ])("refuses values that no header field can have: %j", (headers, problem) => {
    expect(() => securityHeaders({ headers })).toThrow(`securityHeaders: ${problem}`);
  });
});
