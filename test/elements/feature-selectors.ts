/** Selectors over all features of Selectors 4, for pages of any content. */
export const featureSelectors: readonly string[] = [
  // Types and the universal selector, in any case, with and without a namespace
  ...["*", "p", "DIV", "*|a", "|a", "*|*", "td, th", "ul, ol, dl", "linearGradient, foreignobject", "o\\:p, fb\\:like"],
  // Ids and classes
  ...["[id]", "#content, #main, #header, #footer", ".first, .last", ".clearfix.left, .active", "[class~=nav i]"],
  // Attributes: operators, flags, values without case in HTML
  ...["[href]", "[type=TEXT]", "[type='text' i]", "[rel~=stylesheet]", "[lang|=en]", "[href^=http]", "[src$='.gif' i]"],
  ...["[class*=' ']", "[title='']", "[*|href]", "[align=CENTER]", "[style*='display']", "[alt]:not([alt=''])"],
  // Combinators
  ...["body div", "body > div", "h2 + p", "h2 ~ p", "ul > li > a", "table tr td", "div > * + *", "html body > * a"],
  ...["div div div div a", "* > * > * > a", "li ~ li > a", "p + p + p", "div ~ div a", "head ~ body table td"],
  // Positions
  ...[":root", ":first-child", ":last-child", ":only-child", ":first-of-type", ":last-of-type", ":only-of-type"],
  ...[
    ":nth-child(2n+1)",
    ":nth-child(even)",
    ":nth-child(-n + 3)",
    ":nth-last-child(3n - 1)",
    "tr:nth-child(odd) > td",
  ],
  ...["li:nth-of-type(3)", ":nth-last-of-type(2)", "div:nth-of-type(4n)", "a:nth-child(2):nth-last-child(2)"],
  ...[":nth-child(2 of [class])", ":nth-last-child(1 of a, img)", "li:nth-child(odd of :not(.first))", ":empty"],
  // Combinations of selectors
  ...[
    ":is(ul, ol) > li",
    ":where(h1, h2, h3) a",
    ":not(div, span, a)",
    "a:not([href^='http']):not(.x)",
    ":is(:foo, td)",
  ],
  ...[
    ":not(:is(table *))",
    ":is(div p, td a) img",
    "p:not(td p)",
    ":not(:not(img))",
    ":is()",
    "a:not(:is(li a, p > a))",
  ],
  // Looking ahead
  ...[
    "div:has(> img)",
    "a:has(img)",
    "li:has(+ li)",
    "tr:has(~ tr td a)",
    "div:has(p, ul)",
    ":has(> :first-child > a)",
  ],
  ...["div:not(:has(div))", "ul:has(li:nth-child(3) a)", ":has(:is(td > a) img)", "body:has(form) p:has(a)"],
  // Links, forms and other states that the page itself is in
  ...[":link", ":any-link", ":enabled", ":disabled", ":checked", ":required", ":optional", ":read-only", ":read-write"],
  ...[":placeholder-shown", ":default", ":indeterminate", ":defined", ":open"],
  ...[
    "input:enabled:not(:checked)",
    "option:checked",
    "form :default",
    "select > option:not(:checked)",
    "a:link:not(li *)",
  ],
  // Language and direction
  ...[":lang(en)", ":lang(de)", "p:lang(en-US)", ":dir(ltr)", ":dir(rtl)", "div:not(:dir(ltr))"],
  // States that a document at rest is not in, pseudo-elements, shadow trees
  ...[
    ":hover",
    "a:visited",
    ":target",
    ":fullscreen",
    ":modal",
    "p::before",
    "a::after, a",
    "p:first-line",
    ":host, td",
  ],
  ...["::part(x)", "::slotted(a)", "::-webkit-scrollbar", "p::first-letter", ":not(:hover) > a:not(:active)"],
  // The scope
  ...[":scope", ":scope > body", "& > head", "a:not(& a)", ":root:scope"],
];
