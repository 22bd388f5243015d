/** A generated file: its path and its content. */
export interface Page {
  readonly path: string
  readonly text: string
}

/** An option, its documented default, and the name of that default. */
export interface DocumentedOption {
  readonly path: string
  readonly said: string | undefined
  readonly governs: string | undefined
}

/** Every page, and the public names and members without documentation. */
export interface Reference {
  readonly pages: Page[]
  readonly unsaid: string[]
}

export function readReference(): Promise<Reference>
export function generateReference(): Promise<void>
export function documentedOptions(): Promise<DocumentedOption[]>
