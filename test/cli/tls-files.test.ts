import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readTlsFiles } from "../../src/cli/tls-files.ts";
import { encryptKey, makeCertificate } from "../helpers/certificate.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

describe("certificate and key", { tags: ["openssl"] }, () => {
  it("are read as they are in their files", async () => {
    const files = await makeCertificate(await temporaryDirectory(), "own");
    const { cert, key } = await readTlsFiles(files);
    expect([String(cert), String(key)]).toEqual([
      expect.stringMatching(/^-----BEGIN CERTIFICATE-----/),
      expect.stringMatching(/^-----BEGIN PRIVATE KEY-----/),
    ]);
  });

  it("are refused in one line that names the file where one is missing", async () => {
    const { cert, key } = await makeCertificate(await temporaryDirectory(), "own");
    await expect(readTlsFiles({ cert: `${cert}.no`, key })).rejects.toThrow(/^--cert cannot be read: .*own\.crt\.no'$/);
    await expect(readTlsFiles({ cert, key: `${key}.no` })).rejects.toThrow(/^--key cannot be read: .*own\.key\.no'$/);
  });

  it("are refused where they are something else, or each other", async () => {
    const directory = await temporaryDirectory();
    const { cert, key } = await makeCertificate(directory, "own");
    const junk = join(directory, "junk");
    await writeFile(junk, "junk");
    const noCertificate = (file: string): string => `--cert ${file} holds no certificate in PEM`;
    await expect(readTlsFiles({ cert: junk, key })).rejects.toThrow(noCertificate(junk));
    await expect(readTlsFiles({ cert: key, key: cert })).rejects.toThrow(noCertificate(key));
    await expect(readTlsFiles({ cert, key: junk })).rejects.toThrow(`--key ${junk} holds no private key in PEM`);
  });

  it("are refused where they do not belong together", async () => {
    const directory = await temporaryDirectory();
    const { cert } = await makeCertificate(directory, "one");
    const { key } = await makeCertificate(directory, "two");
    await expect(readTlsFiles({ cert, key })).rejects.toThrow(`--key ${key} is not the key of --cert ${cert}`);
  });

  it("are refused where the key asks for a passphrase", async () => {
    const files = await makeCertificate(await temporaryDirectory(), "own");
    await encryptKey(files.key);
    const message = `--key ${files.key} is encrypted: expected one without a passphrase`;
    await expect(readTlsFiles(files)).rejects.toThrow(message);
  });
});
