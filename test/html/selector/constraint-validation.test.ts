import { describe, expect, it } from "vitest";
import { select } from "../../elements/selecting.ts";

describe(":invalid", () => {
  it.each([
    ...["<input required>", "<input type=checkbox required>", "<input type=file required>", "<textarea required>"],
    ...["<select required><option value=''>choose</select>", "<select required></select>"],
    ...["<input type=email value=x>", "<input type=email value='a@b_c'>", "<input type=email multiple value='a@b,'>"],
    ...[
      "<input type=url value=nope>",
      "<input type=number min=1 max=5 value=9>",
      "<input type=number step=2 min=1 value=4>",
    ],
    ...["<input type=date min=2020-01-01 value=2019-05-05>", "<input type=month max=2020-01 value=2020-02>"],
    ...["<input type=week max=2020-W10 value=2020-W11>", "<input type=time min=22:00 max=02:00 value=12:00>"],
    ...["<input type=date required value=2020-02-30>", "<input type=week required value=2021-W53>"],
    ...["<input type=number required value=abc>"],
  ])("it finds %s", async (html) => {
    const [name = ""] = /\w+/.exec(html) ?? [];
    expect(await select(html, ":invalid")).toEqual([name]);
    expect(await select(html, ":valid")).toEqual([]);
  });

  it.each(["url", "email"])("takes no host name of thousands of letters for a valid %s", async (type) => {
    const hostName = "\u5b57".repeat(1_000_000);
    const value = type === "url" ? `http://${hostName}/` : `a@${hostName}`;
    expect(await select(`<input type=${type} value="${value}">`, ":invalid")).toEqual(["input"]);
  });

  it("finds one radio group in which nothing is chosen", async () => {
    const html = "<input type=radio name=g id=a required><input type=radio name=g id=b><input type=radio required>";
    expect(await select(html, ":invalid")).toEqual(["a", "b"]);
  });

  it("finds the forms and fieldsets around", async () => {
    const html = "<form id=f><fieldset id=s><input id=i required></fieldset><fieldset></fieldset></form><form></form>";
    expect(await select(html, ":invalid")).toEqual(["f", "s", "i"]);
  });
});

describe(":valid", () => {
  it.each([
    ...[
      "<input>",
      "<input required value=' '>",
      "<input type=email value=' a@b '>",
      "<input type=email value='a@é.fr'>",
    ],
    ...["<input type=email multiple value='a@b , c@d'>", "<input type=url value='http://x'>", "<button>", "<select>"],
    ...["<select required><option>x</select>", "<select required><optgroup><option value=''>x</select>"],
    ...[
      "<input type=range max=5 value=9>",
      "<input type=number value=1.5>",
      "<input type=number step=any min=0 value=1.5>",
    ],
    ...[
      "<input type=number step=0.1 value=0.3 min=0>",
      "<input type=week value=2020-W53>",
      "<input pattern=a value=b>",
    ],
    ...[
      "<input type=time min=22:00 max=02:00 value=23:00>",
      "<input type=datetime-local value='2020-01-01 10:00' required>",
    ],
  ])("it finds %s", async (html) => {
    const [name = ""] = /\w+/.exec(html) ?? [];
    expect(await select(html, ":valid")).toEqual([name]);
  });

  it.each([
    ...[
      "<input disabled required>",
      "<input readonly required>",
      "<input type=hidden required>",
      "<button type=button>",
    ],
    ...["<datalist><input required></datalist>", "<input type=reset>", "<output>", "<p required>"],
  ])("it is not asked of %s", async (html) => {
    expect(await select(html, ":valid, :invalid")).toEqual([]);
  });
});

describe(":in-range and :out-of-range", () => {
  it.each([
    ["<input type=number min=1 value=3>", 1, 0],
    ["<input type=number min=1 value=0>", 0, 1],
    ["<input type=number value=3>", 0, 0],
    ["<input type=number>", 1, 0],
    ["<input type=number min=1 value=0 readonly>", 0, 0],
    ["<input min=1 value=0>", 0, 0],
  ])("they divide %s", async (html, inside, outside) => {
    expect(await select(html, ":in-range")).toHaveLength(inside);
    expect(await select(html, ":out-of-range")).toHaveLength(outside);
  });
});

describe(":placeholder-shown, :required, :read-write", () => {
  it.each([
    [
      ":placeholder-shown",
      "<input id=a placeholder=x><input placeholder=x value=y><input type=radio placeholder=x>",
      ["a"],
    ],
    [":placeholder-shown", "<textarea id=a placeholder=x>\n</textarea><textarea placeholder=x>y</textarea>", ["a"]],
    [":placeholder-shown", "<input id=a type=number placeholder=x value=abc>", ["a"]],
    [":required", "<input id=a required><input type=range required><button required></button>", ["a"]],
    ["body :optional", "<input type=range id=a required><input required><button id=b></button>", ["a", "b"]],
    [":read-write", "<input id=a><input readonly><input disabled><input type=radio><textarea id=b>", ["a", "b"]],
    [":read-write", "<p id=a contenteditable><i contenteditable=false></i><b id=b></b><svg></svg>", ["a", "b"]],
    ["body :read-only", "<p id=a contenteditable></p><p id=b></p><svg></svg>", ["b"]],
  ])("%s goes by the attributes in %s", async (selector, html, expected) => {
    expect(await select(html, selector)).toEqual(expected);
  });
});
