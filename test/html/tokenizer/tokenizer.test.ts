import { describe, expect, it } from "vitest";
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
  it.each<[string, unknown[][]]>([
    [
      "a<b>c</b>",
      [
        ["Character", "a"],
        ["StartTag", "b", {}],
        ["Character", "c"],
        ["EndTag", "b"],
      ],
    ],
    [
      "<br/>&amp;\r\n\0",
      [
        ["StartTag", "br", {}, true],
        ["Character", "&\n\0"],
      ],
    ],
    ["1 < 2 </", [["Character", "1 < 2 </"]]],
    [
      "</><!x><?y></ z><!--a--!><!-->",
      [
        ["Comment", "x"],
        ["Comment", "?y"],
        ["Comment", " z"],
        ["Comment", "a"],
        ["Comment", ""],
      ],
    ],
    ["<!--a--", [["Comment", "a"]]],
    ["<!DocType html>", [["DOCTYPE", "html", null, null, true]]],
    ["a<b c='", [["Character", "a"]]],
    ["<![CDATA[x]]>", [["Comment", "[CDATA[x]]"]]],
  ])("reads %j", (source, tokens) => {
    expect(read(source).tokens).toEqual(tokens);
  });

  it("reads a CDATA section where there may be one", () => {
    const list = new TokenList("<![CDATA[a<b>]]>c");
    list.allowsCdata = true;
    const tokenizer = new Tokenizer("<![CDATA[a<b>]]>c", list);
    while (!tokenizer.isDone) tokenizer.advance();
    expect(list.tokens).toEqual([["Character", "a<b>c"]]);
  });

  it.each<[string, ContentModel, unknown[][]]>([
    [
      "a<b>&lt;</title>c",
      "rcdata",
      [
        ["Character", "a<b><"],
        ["EndTag", "title"],
        ["Character", "c"],
      ],
    ],
    [
      "a<b>&lt;\0</title>c",
      "rawtext",
      [
        ["Character", "a<b>&lt;\ufffd"],
        ["EndTag", "title"],
        ["Character", "c"],
      ],
    ],
    ["a</title>", "plaintext", [["Character", "a</title>"]]],
  ])("reads %j as %s", (source, content, tokens) => {
    expect(read(source, content, "title").tokens).toEqual(tokens);
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

  it("stops between any two tokens", () => {
    const list = new TokenList("a<b>c");
    const tokenizer = new Tokenizer("a<b>c", list);
    const counts: number[] = [];
    while (!tokenizer.isDone) {
      tokenizer.advance();
      counts.push(list.tokens.length);
    }
    expect(counts).toEqual([2, 3, 3]);
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
