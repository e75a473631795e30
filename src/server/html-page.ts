import { escapeHtml } from "../http/escape-html.ts";

/** A page of the server itself. `style` and `body` are CSS and HTML, as is `icon`: by default the page has none. */
export function htmlPage(title: string, style: string, body: string, icon = '<link rel="icon" href="data:,">'): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
${icon}
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}
