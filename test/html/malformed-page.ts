/** What malformed pages are made of. */
const parts = [
  ..."<b>|</b>|<i>|</i>|<a href=x>|</a>|<font size=1>|<font size=2>|</font>|<nobr>|</nobr>|<code>|</code>".split("|"),
  ..."<p>|</p>|<div>|</div>|<h1>|</h1>|<h2>|<pre>\n|</pre>|<ul>|<li>|</ul>|<dl>|<dt>|<dd>|<center>|</center>".split(
    "|",
  ),
  ..."<table>|</table>|<caption>|<col>|<colgroup>|<tbody>|<tr>|</tr>|<td>|</td>|<th>|<form>|</form>|<form id=f>".split(
    "|",
  ),
  ..."<select>|</select>|<option>|</option>|<optgroup>|</optgroup>|<hr>|<input>|<input type=hidden>|<button>".split(
    "|",
  ),
  ..."</button>|<textarea>\n|</textarea>|<title>|</title>|<style>|</style>|<noscript>|</noscript>|<xmp>|</xmp>".split(
    "|",
  ),
  ..."<svg>|</svg>|<g>|<path/>|<foreignObject>|</foreignObject>|<desc>|<math>|</math>|<mi>|<mglyph>|<x-y>".split("|"),
  ..."<annotation-xml encoding=text/html>|<annotation-xml>|<![CDATA[x]]>|<template>|</template>|<ruby>|<rt>|<rp>".split(
    "|",
  ),
  ..."<body a=b>|<html c=d>|</body>|</html>|<head>|</head>|<frameset>|<frame>|</frameset>|<object>|</object>".split(
    "|",
  ),
  ..."<!--c-->|<!doctype html>|</ x>|<!x>|text|x y| |\n|\r\n|\0|&amp;|&copy|&#13;|<br>|</br>|<img>|<image>".split("|"),
];

/** A page of up to 20 tags, texts and comments in any order. */
export function malformedPage(random: () => number): string {
  const length = 1 + Math.floor(random() * 20);
  return Array.from({ length }, () => parts[Math.floor(random() * parts.length)] ?? "").join("");
}

/** What pages about one thing are made of: the parser's rules that meet there are rare in random parts. */
const themes = [
  "table tbody thead tr td th caption colgroup col template",
  "template template tr td col caption table p",
  "select option optgroup hr input button p b textarea",
  "a b i nobr font code p div table object",
  "svg math g foreignObject desc title mi mo annotation-xml mglyph font p b",
  "html head body frameset frame noframes meta script style p",
  "p div ul li dl dt dd h1 h2 pre form button address",
  "title textarea style script xmp iframe noembed p plaintext",
  "applet marquee object ruby rb rt rp rtc button b",
].map((names) => names.split(" "));
const attributes =
  " id=x| size=1| type=hidden| encoding=text/html| a='&amp;&copy=1'| href=x a=\"y\r\nz\"| a=1 a=2|/".split("|");
const texts = "x| | y |\n|\r\n|\r|\t|\0|a b|&amp;|&copy|&|&n|&#13;|&#32;|&#10;|&notit;|&nbsp;|</>|3 > 2".split("|");
const marks =
  "<!--c-->|<!-->|<!--a--!>|<!--|-->|<!doctype html>|<!doctype>|</ x>|<!x>|<![CDATA[x]]>|]]>|</p>|</br>|<!--<script>".split(
    "|",
  );

/** A page of up to 30 tags, texts and comments, most tags of one or two kinds of content. */
export function pageOfTheme(random: () => number): string {
  const pick = (items: readonly string[]): string => items[Math.floor(random() * items.length)] ?? "";
  const names = [0, 1].flatMap(() => themes[Math.floor(random() * themes.length)] ?? []);
  const part = (): string => {
    const die = random();
    if (die < 0.3) return pick(texts);
    if (die < 0.36) return pick(marks);
    if (die < 0.6) return `</${pick(names)}>`;
    return `<${pick(names)}${random() < 0.2 ? pick(attributes) : ""}>`;
  };
  return Array.from({ length: 1 + Math.floor(random() * 30) }, part).join("");
}
