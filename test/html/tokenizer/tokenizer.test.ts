import { describe, expect, it, vi } from "vitest";
import { readAttributes } from "../../../src/html/tokenizer/attributes.ts";
import type { Doctype } from "../../../src/html/tokenizer/doctype.ts";
import { Tokenizer } from "../../../src/html/tokenizer/tokenizer.ts";
import type { ContentModel, Tag, TokenSink, Unfinished } from "../../../src/html/tokenizer/tokens.ts";
import { type TokenCase, tokenCases } from "../html5lib.ts";

/** The tokens of a source in the form of the html5lib tests. */
class TokenList implements TokenSink {
  readonly tokens: unknown[][] = [];
  readonly unfinishedAt: [Unfinished, number][] = [];
  allowsCdata = false;
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  text(start: number, end: number): void {
    this.characters(this.#source.slice(start, end));
  }

  characters(data: string): void {
    const last = this.tokens.at(-1);
    if (last?.[0] === "Character") last[1] += data;
    else this.tokens.push(["Character", data]);
  }

  nul(): void {
    this.characters("\0");
  }

  startTag({ name, start, isSelfClosing }: Tag): void {
    const attributes = { ...readAttributes(this.#source, start) };
    this.tokens.push(["StartTag", name.name, attributes, ...(isSelfClosing ? [true] : [])]);
  }

  endTag({ name }: Tag): void {
    this.tokens.push(["EndTag", name.name]);
  }

  comment(data: string): void {
    this.tokens.push(["Comment", data]);
  }

  doctype({ name, publicId, systemId, forcesQuirks }: Doctype): void {
    this.tokens.push(["DOCTYPE", name, publicId, systemId, !forcesQuirks]);
  }

  end(): void {}

  unfinished(what: Unfinished, start: number): void {
    this.unfinishedAt.push([what, start]);
  }
}

function read(source: string, content: ContentModel = "data", elementName = ""): TokenList {
  const list = new TokenList(source);
  const tokenizer = new Tokenizer(source, list);
  tokenizer.enter(content, elementName);
  while (!tokenizer.isDone) tokenizer.advance();
  return list;
}

/** Tokens as one reads them. */
function brief(tokens: readonly unknown[][]): string {
  const written: Readonly<Record<string, (data: unknown, closes: boolean) => string>> = {
    Character: (data) => `${data}`,
    StartTag: (name, closes) => `<${name}${closes ? "/" : ""}>`,
    EndTag: (name) => `</${name}>`,
    Comment: (data) => `<!--${data}-->`,
    DOCTYPE: (name) => `<!${name}>`,
  };
  return tokens.map(([kind, data, , closes]) => written[String(kind)]?.(data, closes === true)).join(" ");
}

const contentModels: Readonly<Record<string, ContentModel>> = {
  "Data state": "data",
  "RCDATA state": "rcdata",
  "RAWTEXT state": "rawtext",
  "Script data state": "script",
  "PLAINTEXT state": "plaintext",
  "CDATA section state": "cdata",
};

/** `script data` is entered by a `script` only; here it is told to end at another tag. */
const impossible = new Set(["lowercase endtags: Script data state"]);

describe("Tokenizer", () => {
  it.each([
    ["a<b>c</b>", "a <b> c </b>"],
    ["<br/>&amp;\r\n\0", "<br/> &\n\0"],
    ["1 < 2 </", "1 < 2 </"],
    ["</><!x><?y></ z><!--a--!><!-->", "<!--x--> <!--?y--> <!-- z--> <!--a--> <!---->"],
    ["<!--a--", "<!--a-->"],
    ["<!DocType html>", "<!html>"],
    ["a<b c='", "a"],
    ["<![CDATA[x]]>", "<!--[CDATA[x]]-->"],
  ])("reads %j", (source, tokens) => {
    expect(brief(read(source).tokens)).toBe(tokens);
  });

  it("reads long comments of all kinds, in stretches with whole line ends", () => {
    const [advance, long] = [vi.spyOn(Tokenizer.prototype, "advance"), ` ${"-\r\n".repeat(50_000)}`];
    const texts = [`<!--x${long}-->`, `<!x${long}>`, `<?x${long}>`].map((source) => String(read(source).tokens));
    const expected = ["x", "x", "?x"].map((name) => `Comment,${name}${long.replaceAll("\r", "")}`);
    expect([texts.join() === expected.join(), advance.mock.calls.length]).toEqual([true, 12]);
    advance.mockRestore();
  });

  it("reads a CDATA section where there may be one", () => {
    const list = new TokenList("<![CDATA[a<b>]]>c");
    list.allowsCdata = true;
    const tokenizer = new Tokenizer("<![CDATA[a<b>]]>c", list);
    while (!tokenizer.isDone) tokenizer.advance();
    expect(list.tokens).toEqual([["Character", "a<b>c"]]);
  });

  it.each<[string, ContentModel, string]>([
    ["a<b>&lt;</title>c", "rcdata", "a<b>< </title> c"],
    ["a<b>&lt;\0</title>c", "rawtext", "a<b>&lt;\ufffd </title> c"],
    ["a</title>", "plaintext", "a</title>"],
  ])("reads %j as %s", (source, content, tokens) => {
    expect(brief(read(source, content, "title").tokens)).toBe(tokens);
  });

  it.each<[string, [Unfinished, number][]]>([
    ["a<", [["tag name", 1]]],
    ["a</", [["tag name", 1]]],
    ["</>", [["end tag name", 0]]],
    ["a<b c", [["tag", 1]]],
    ["a<!--b", [["comment", 1]]],
    ["<!doctype", [["doctype", 0]]],
    ["a<b>c</b>", []],
  ])("tells what %j is in the middle of", (source, expected) => {
    expect(read(source).unfinishedAt).toEqual(expected);
  });

  it("asks about a long name before it reads the rest", () => {
    const asked: number[] = [];
    const sink = new TokenList("");
    const tokenizer = new Tokenizer(
      `<${"x".repeat(1_000_000)}>`,
      Object.assign(sink, {
        checkTag(_attributes: number, nameLength: number): void {
          asked.push(nameLength);
          throw new Error("too long");
        },
      }),
    );
    expect(() => tokenizer.advance()).toThrow("too long");
    expect(asked).toEqual([65_537]);
  });

  it("reads what html5lib expects", { tags: ["html5lib"] }, () => {
    const failed: [TokenCase, string, unknown][] = [];
    let count = 0;
    for (const each of tokenCases()) {
      for (const state of each.initialStates ?? ["Data state"]) {
        const { tokens } = read(each.input, contentModels[state], each.lastStartTag);
        count += 1;
        if (impossible.has(`${each.description}: ${state}`)) continue;
        if (JSON.stringify(tokens) !== JSON.stringify(merged(each.output))) failed.push([each, state, tokens]);
      }
    }
    expect(failed.slice(0, 12)).toEqual([]);
    expect(count).toBeGreaterThan(2700);
  });
});

/** Neighbouring characters are one token. */
function merged(output: readonly unknown[]): unknown[][] {
  const tokens: unknown[][] = [];
  for (const token of output as unknown[][]) {
    const last = tokens.at(-1);
    if (token[0] === "Character" && last?.[0] === "Character") last[1] = `${last[1]}${token[1]}`;
    else tokens.push([...token]);
  }
  return tokens;
}
