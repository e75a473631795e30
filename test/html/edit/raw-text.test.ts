import { describe, expect, it } from "vitest";
import { parseRawText } from "../../../src/html/edit/raw-text.ts";

const textOf = (text: string, element: string): string =>
  parseRawText(text, element)
    .steps.map(({ data }) => data)
    .join("");

describe("parseRawText", () => {
  it.each([
    ["if (a < b) x('<p>')", "script", "if (a < b) x('<p>')"],
    ["a > b {} </b>", "style", "a > b {} </b>"],
    ["a & <b> &amp;", "title", "a & <b> &"],
    ["</div>\r\n", "textarea", "</div>\n"],
    ["x</scripts>", "script", "x</scripts>"],
  ])("takes %s as text of a %s", (text, element, read) => {
    expect(textOf(text, element)).toBe(read);
  });

  it.each([
    ["x</script>", "script"],
    ["x</SCRIPT >", "script"],
    ["x</style ", "style"],
    ["x</title/", "title"],
    ["x\n</textarea>", "textarea"],
  ])("refuses %s, which would end a %s early", (text, element) => {
    expect(() => parseRawText(text, element)).toThrow(`it would end the <${element}> early`);
  });
});
