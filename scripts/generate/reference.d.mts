/** A generated file: where it belongs, and what should be in it. */
export interface Page {
  readonly path: string
  readonly text: string
}

/** An option, the default that its documentation says, and the name of the default behind it. */
export interface DocumentedOption {
  readonly path: string
  readonly said: string | undefined
  readonly governs: string | undefined
}

/** Every page, and the public names and members that no sentence is said about. */
export interface Reference {
  readonly pages: Page[]
  readonly unsaid: string[]
}

export function readReference(): Promise<Reference>
export function generateReference(): Promise<void>
export function documentedOptions(): Promise<DocumentedOption[]>
