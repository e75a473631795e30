import { describe, expect, it } from "vitest";
import { HttpError } from "../../src/http/http-error.ts";
import { RequestBody, refuseEncodedContent } from "../../src/server/request-body.ts";

/** A body that arrives in pieces, and how many of them were asked for. */
function arriving(pieces: readonly (string | Error)[], maxFileSize = 10) {
  const asked = { pieces: 0, isReleased: false };
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      for (const piece of pieces) {
        asked.pieces += 1;
        if (piece instanceof Error) throw piece;
        yield Buffer.from(piece);
      }
    } finally {
      asked.isReleased = true;
    }
  }
  return { asked, body: new RequestBody({ content }, maxFileSize) };
}

async function piecesOf(body: RequestBody): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of body) pieces.push(Buffer.from(piece).toString());
  return pieces;
}

const tooLarge = expect.objectContaining({ status: 413, code: "FILE_TOO_LARGE" });

describe("the content of a request", () => {
  it("comes in the pieces in which it arrives", async () => {
    const { body } = arriving(["ab", "", "cd"]);
    expect(await piecesOf(body)).toEqual(["ab", "", "cd"]);
  });

  it("comes as one piece on demand", async () => {
    const { body } = arriving(["ab", "cd"]);
    expect(Buffer.from(await body.bytes()).toString()).toBe("abcd");
  });

  it("is no bytes where there is none", async () => {
    const { body } = arriving([]);
    expect(await body.bytes()).toHaveLength(0);
    expect(await piecesOf(arriving([]).body)).toEqual([]);
  });

  it("may fill its limit to the last byte", async () => {
    expect(await arriving(["12345", "67890"]).body.bytes()).toHaveLength(10);
    expect(await piecesOf(arriving(["1234567890", ""]).body)).toHaveLength(2);
  });

  it("fails with 413 at the first byte too many, and is asked for no more", async () => {
    const { asked, body } = arriving(["12345", "678901", "never"]);
    await expect(piecesOf(body)).rejects.toEqual(tooLarge);
    expect(asked).toEqual({ pieces: 2, isReleased: true });
  });

  it("hands on what came before the byte too many, and nothing of the piece that holds it", async () => {
    const { body } = arriving(["12345", "678901"]);
    const pieces: string[] = [];
    const reading = (async () => {
      for await (const piece of body) pieces.push(Buffer.from(piece).toString());
    })();
    await expect(reading).rejects.toEqual(tooLarge);
    expect(pieces).toEqual(["12345"]);
  });

  it("keeps to a limit below the server's own, and tells the client of that", async () => {
    const { asked, body } = arriving(["123", "456", "never"]);
    const error = await body.bytes(5).catch((thrown: unknown) => thrown);
    expect(error).toEqual(tooLarge);
    expect((error as HttpError).message).toContain("5 bytes");
    expect(asked).toEqual({ pieces: 2, isReleased: true });
  });

  it("keeps to the server's limit whatever other limit is asked for", async () => {
    const { body } = arriving(["123456", "789012"]);
    await expect(body.bytes(1000)).rejects.toEqual(tooLarge);
  });

  it("fails with what its source fails with", async () => {
    const cut = new HttpError(400, "INCOMPLETE_BODY", "Cut.");
    await expect(arriving(["12", cut]).body.bytes()).rejects.toBe(cut);
    await expect(piecesOf(arriving(["12", cut]).body)).rejects.toBe(cut);
  });

  it("lets go of its source when a reader breaks off", async () => {
    const { asked, body } = arriving(["12", "34"]);
    for await (const piece of body) {
      expect(Buffer.from(piece).toString()).toBe("12");
      break;
    }
    expect(asked).toEqual({ pieces: 1, isReleased: true });
  });

  it("is not asked for before somebody reads", () => {
    const { asked } = arriving(["12"]);
    expect(asked.pieces).toBe(0);
  });
});

describe("encoded content", () => {
  it.each([{}, { "content-encoding": "identity" }, { "content-encoding": " IDENTITY " }])(
    "passes with %o",
    (headers) => {
      expect(() => refuseEncodedContent(headers)).not.toThrow();
    },
  );

  it.each(["gzip", "", "identity, gzip"])("is refused as %j", (coding) => {
    expect(() => refuseEncodedContent({ "content-encoding": coding })).toThrow(
      expect.objectContaining({
        status: 415,
        code: "UNSUPPORTED_ENCODING",
        headers: { "accept-encoding": "identity" },
      }),
    );
  });
});
