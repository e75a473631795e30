import { describe, expect, it } from "vitest";
import { bodyOf } from "../reading.ts";

describe("a table", () => {
  it.each([
    ["<tr><td>a<td>b<tr><th>c", "<tbody><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></tbody>"],
    ["<td>a", "<tbody><tr><td>a</td></tr></tbody>"],
    [
      "<thead><tr><td>a<tbody><tr><td>b<tfoot>",
      "<thead><tr><td>a</td></tr></thead><tbody><tr><td>b</td></tr></tbody><tfoot></tfoot>",
    ],
    ["<caption>a<tr><td>b", "<caption>a</caption><tbody><tr><td>b</td></tr></tbody>"],
    [
      "<caption><p>a</caption> <col><tr>",
      "<caption><p>a</p></caption> <colgroup><col></colgroup><tbody><tr></tr></tbody>",
    ],
    [
      "<colgroup> <col></colgroup> <col><template></template><td>",
      "<colgroup> <col></colgroup> <colgroup><col><template></template></colgroup><tbody><tr><td></td></tr></tbody>",
    ],
    [" \n<!--a--><script>b</script><style>c</style>", " \n<!--a--><script>b</script><style>c</style>"],
    ["<input type=Hidden><form a=b><tr>", '<input type="Hidden"><form a="b"></form><tbody><tr></tr></tbody>'],
    [
      "<tr><td><table><td>a</table>b",
      "<tbody><tr><td><table><tbody><tr><td>a</td></tr></tbody></table>b</td></tr></tbody>",
    ],
    ["<tr><td>a</th>b</body>c</table>", "<tbody><tr><td>abc</td></tr></tbody>"],
    ["<tr></td></tbody><td>a", "<tbody><tr></tr></tbody><tbody><tr><td>a</td></tr></tbody>"],
    ["</tr></caption></td><tr></html>", "<tbody><tr></tr></tbody>"],
  ])("with %j", async (html, content) => {
    expect(await bodyOf(`<table>${html}`)).toBe(`<table>${content}</table>`);
  });

  it("ends with another one", async () => {
    expect(await bodyOf("<table><tr><table><td>a")).toBe(
      "<table><tbody><tr></tr></tbody></table><table><tbody><tr><td>a</td></tr></tbody></table>",
    );
  });

  it.each([
    ["<table>a<tr>b<td>c</table>d", "ab<table><tbody><tr><td>c</td></tr></tbody></table>d"],
    ["<table> a <tr>", " a <table><tbody><tr></tr></tbody></table>"],
    ["<table><p>a<tr>", "<p>a</p><table><tbody><tr></tr></tbody></table>"],
    ["<table><tr><div>a<td>b</div>c", "<div>a</div><table><tbody><tr><td>bc</td></tr></tbody></table>"],
    ["<table><b>a<tr>b<td>c", "<b>a</b><b>b</b><table><tbody><tr><td>c</td></tr></tbody></table>"],
    ["<table><input><tr>", "<input><table><tbody><tr></tr></tbody></table>"],
    ["<table>&#32;<tr>", "<table> <tbody><tr></tr></tbody></table>"],
    ["<table>\0 \0<tr>", "<table> <tbody><tr></tr></tbody></table>"],
    ["<table><colgroup>a", "a<table><colgroup></colgroup></table>"],
    ["<table><col>&\n<td>", "&amp;\n<table><colgroup><col></colgroup><tbody><tr><td></td></tr></tbody></table>"],
    ["<table><col> a&#32;<tr>", "a <table><colgroup><col> </colgroup><tbody><tr></tr></tbody></table>"],
    ["<table></p>", "<p></p><table></table>"],
  ])("puts before it what does not belong into it: %j", async (html, body) => {
    expect(await bodyOf(html)).toBe(body);
  });
});
