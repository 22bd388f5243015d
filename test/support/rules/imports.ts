/** The imports of a file: by `import`, `export ... from`, `import()` and `import("...")` in a type. */
import { posix } from "node:path"
import { isNode, nodesOf, type Source, type SyntaxNode, stringOf } from "../sources.ts"

export interface Import {
  readonly from: Source
  /** As it is written. */
  readonly specifier: string
  /** The path of the file, where the specifier is relative. */
  readonly target: string | undefined
  /** Whether the compiler erases it with the types. */
  readonly typeOnly: boolean
}

const IMPORTING = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportAllDeclaration",
  "ImportExpression",
  "TSImportType",
])

export function importsOf(from: Source): Import[] {
  return nodesOf(from)
    .filter(({ type }) => IMPORTING.has(type))
    .flatMap((node) => {
      if (!isNode(node.source)) return []
      // A computed specifier could be anything, so it is kept in a form that no rule accepts.
      const specifier = stringOf(node.source) ?? "(computed)"
      const target = specifier.startsWith(".") ? posix.join(posix.dirname(from.path), specifier) : undefined
      return [{ from, specifier, target, typeOnly: isTypeOnly(node) }]
    })
}

export function allImports(sources: readonly Source[]): Import[] {
  return sources.flatMap(importsOf)
}

function isTypeOnly(node: SyntaxNode): boolean {
  if (node.type === "TSImportType") return true
  if (kindOf(node) === "type") return true
  const specifiers = Array.isArray(node.specifiers) ? node.specifiers.filter(isNode) : []
  return specifiers.length > 0 && specifiers.every((specifier) => kindOf(specifier) === "type")
}

function kindOf(node: SyntaxNode): unknown {
  return node.importKind ?? node.exportKind
}
