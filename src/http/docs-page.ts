/** The page of the documentation, written from the document. It has no script and loads nothing. */
import { createHash } from "node:crypto"
import { curlOf } from "./docs-example.ts"
import { fieldsTable, nameOf, tableOf, typeOf } from "./docs-fields.ts"
import { DOCS_STYLE } from "./docs-style.ts"
import { type Html, html, prose } from "./html.ts"
import type { ApiDocument, Content, Operation, Schema } from "./openapi.ts"

/** The page may use its own style, and nothing else. */
export function docsPolicy(): string {
  const hash = createHash("sha256").update(DOCS_STYLE).digest("base64")
  const others = ["base-uri", "form-action", "frame-ancestors"].map((name) => `${name} 'none'`)
  return ["default-src 'none'", `style-src 'sha256-${hash}'`, ...others].join("; ")
}

export function renderDocs(document: ApiDocument): string {
  const { info, tags, components } = document
  const nouns = tags.map(({ name }) => html`<a href="#noun-${name}">${name}</a>\n`)
  const records = Object.entries(components.schemas)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} HTTP API</title>
<style>${{ html: DOCS_STYLE }}</style>
</head>
<body>
<header>
<h1>${info.title} HTTP API</h1>
<p>Version ${info.version}. ${prose(info.description)}</p>
<p>The same for programs: <a href="openapi.json">openapi.json</a>.
In the examples <code>$CARILLON</code> is the address of this page without <code>/docs</code>,
and <code>$TOKEN</code> is a token.</p>
<nav aria-label="Nouns">
${nouns}<a href="#records">records</a>
<a href="#errors">errors</a>
</nav>
</header>
<main>
${tags.map(({ name }) => nounOf(document, name))}
<section>
<h2 id="records">records</h2>
${records.map(recordOf)}
</section>
<section>
<h2 id="errors">errors</h2>
${errorsOf(document)}
</section>
</main>
</body>
</html>
`.html
}

function nounOf(document: ApiDocument, noun: string): Html {
  const routes = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { tags }]) => tags[0] === noun)
      .map(([method, operation]) => routeOf(document, method, path, operation)),
  )
  return html`<section>
<h2 id="noun-${noun}">${noun}</h2>
${routes}
</section>
`
}

function routeOf(document: ApiDocument, method: string, path: string, operation: Operation): Html {
  const { operationId, summary, description, requestBody } = operation
  return html`<article id="${operationId}">
<h3><a href="#${operationId}"><b>${method.toUpperCase()}</b> ${path}</a></h3>
<p>${prose(summary)} ${prose(description)}</p>
${parametersOf(operation)}
${requestBody && html`<h4>Body</h4>${contentOf(requestBody.content)}`}
<h4>Answers</h4>
${answersOf(operation)}
<pre tabindex="0">${curlOf(document, method, path, operation)}</pre>
</article>
`
}

function parametersOf({ parameters = [] }: Operation): Html | undefined {
  if (parameters.length === 0) return undefined
  const fields = parameters.map(({ name, in: place, required = false, schema }) => ({
    path: place === "query" ? `?${name}` : place === "path" ? `{${name}}` : name,
    schema,
    isRequired: required,
  }))
  return html`<h4>Parameters</h4>${tableOf(fields)}`
}

function answersOf({ responses }: Operation): Html {
  const all = Object.entries(responses)
  const answers = all.flatMap(([status, { $ref, content }]) =>
    $ref === undefined
      ? [html`<li><b>${status}</b> ${content ? contentOf(content) : "without a body"}</li>\n`]
      : [],
  )
  const errors = all.flatMap(([status, { $ref }]) =>
    $ref === undefined ? [] : [html` <a href="#error-${nameOf($ref)}">${status}</a>`],
  )
  return html`<ul>
${answers}</ul>
<p>Errors:${errors}</p>`
}

/** The type of a body, and the fields of one that is not a record. */
function contentOf(content: Content): readonly Html[] {
  return Object.values(content).map(
    ({ schema }) => html`${isPlain(schema) ? undefined : typeOf(schema)}${fieldsTable(schema)}`,
  )
}

/** The table of an object says all about it. */
function isPlain({ type, properties, anyOf }: Schema): boolean {
  return (type === "object" && properties !== undefined) || (anyOf?.every(isPlain) ?? false)
}

function recordOf([name, schema]: readonly [string, Schema]): Html {
  return html`<article id="record-${name}">
<h3><a href="#record-${name}">${name}</a></h3>
${fieldsTable(schema)}
</article>
`
}

function errorsOf({ components }: ApiDocument): Html {
  const rows = Object.entries(components.responses).map(
    ([name, { description }]) =>
      html`<li id="error-${name}"><b>${name.replace("Problem", "")}</b> ${prose(description)}</li>\n`,
  )
  return html`<p>Each is a <a href="#record-Problem">Problem</a> as <code>application/problem+json</code>.</p>
<ul>
${rows}</ul>
`
}
