/** An example of a request for a route, as a command of curl. */
import type { ApiDocument, Operation, Schema } from "./openapi.ts"

/** Only what the route requires is in it. `$CARILLON` and `$TOKEN` are for the reader to set. */
export function curlOf(document: ApiDocument, method: string, path: string, operation: Operation): string {
  const { parameters = [], requestBody } = operation
  const required = parameters.filter((parameter) => parameter.required)
  const query = required.filter((parameter) => parameter.in === "query")
  const asked = query.map(({ name, schema }) => `${name}=${exampleOf(schema)}`).join("&")
  const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)
  const address = `"$CARILLON/${document.servers[0].url}${place}${asked === "" ? "" : `?${asked}`}"`
  const body = requestBody && Object.values(requestBody.content)[0]?.schema
  const headers = required.filter((parameter) => parameter.in === "header")
  return [
    method === "get" ? `curl ${address}` : `curl -X ${method.toUpperCase()} ${address}`,
    '-H "Authorization: Bearer $TOKEN"',
    ...headers.map(({ name, schema }) => `-H ${quoted(`${name}: ${exampleOf(schema)}`)}`),
    ...(body ? ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(exampleOf(body)))}`] : []),
  ].join(" \\\n  ")
}

/** The least that the schema takes. */
export function exampleOf(schema: Schema): unknown {
  const { example, anyOf, items, properties = {}, required = [], minimum = 0 } = schema
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (example !== undefined) return example
  if (schema.enum) return schema.enum[0]
  if (anyOf?.[0]) return exampleOf(anyOf[0])
  if (type === "array") return items ? [exampleOf(items)] : []
  if (type === "boolean") return true
  if (type === "integer" || type === "number") return minimum
  if (type === "string") return "..."
  return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] ?? {})]))
}

/** A text in single quotes, which a shell does not read. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
