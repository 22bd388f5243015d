/** Schemas as tables of fields, for people. */
import { type Html, html, prose } from "./html.ts"
import type { Schema } from "./openapi.ts"

interface Field {
  /** As in `retry.attempts` or `items[].input`. */
  readonly path: string
  readonly schema: Schema
  readonly isRequired: boolean
}

/** The type of a value in a few words. A record is a link to its table. */
export function typeOf(schema: Schema): Html {
  const { $ref, anyOf, items, type } = schema
  if ($ref !== undefined) {
    const name = nameOf($ref)
    return html`<a href="#record-${name}">${name}</a>`
  }
  if (schema.enum) return listed(schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`))
  if (anyOf) return listed(anyOf.map(typeOf))
  if (items) return html`array of ${typeOf(items)}`
  if (type === undefined) return html`any`
  const name = schema.format ?? (typeof type === "string" ? type : type.join(" or "))
  return html`${name}${rangeOf(schema)}`
}

/** The name at the end of a reference. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1)
}

/** A table of the fields of a schema, or of each schema that it may be. Empty for one without fields. */
export function fieldsTable(schema: Schema): Html {
  const tables = (schema.anyOf ?? [schema])
    .map((variant) => fieldsOf(variant, ""))
    .filter(({ length }) => length)
  const rows = tables.map((fields) => tableOf(fields))
  return html`${rows.map((table, at) => (at === 0 ? table : html`<p>or</p>${table}`))}`
}

/** A table of fields or parameters. */
export function tableOf(fields: readonly Field[]): Html {
  const rows = fields.map(
    ({ path, schema, isRequired }) => html`<tr>
<td><code>${path}</code></td>
<td>${typeOf(schema)}${isRequired ? ", required" : ""}</td>
<td>${prose(schema.description ?? "")}</td>
</tr>
`,
  )
  const titles = ["Name", "Type", "Meaning"].map((title) => html`<th scope="col">${title}</th>`)
  return html`<div class="wide" tabindex="0"><table>
<thead><tr>${titles}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>
`
}

/** The fields of a schema and of those inside it, but not those of records. */
function fieldsOf(schema: Schema, prefix: string): Field[] {
  const { anyOf, items, properties, required = [] } = schema
  if (anyOf) return anyOf.flatMap((variant) => fieldsOf(variant, prefix))
  if (items) return fieldsOf(items, `${prefix}[]`)
  return Object.entries(properties ?? {}).flatMap(([name, inner]) => {
    const path = prefix === "" ? name : `${prefix}.${name}`
    return [{ path, schema: inner, isRequired: required.includes(name) }, ...fieldsOf(inner, path)]
  })
}

function listed(parts: readonly Html[]): Html {
  return html`${parts.map((part, at) => (at === 0 ? part : html` or ${part}`))}`
}

function rangeOf({ minimum, maximum }: Schema): Html {
  if (minimum === undefined || maximum === undefined) return html``
  return html` from ${minimum} to ${maximum}`
}
