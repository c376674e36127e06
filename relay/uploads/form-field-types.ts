import type { SpooledFile } from './spooled-file.ts'

/** The fields of a form whose types the relay must know. All other fields are texts. */
export type FormRules = {
  /** The fields that hold files. A name with `[]` at its end may occur several times. */
  readonly files: readonly string[]
  /** The fields that hold numbers. */
  readonly numbers: readonly string[]
  /** The fields that hold `true` or `false`. */
  readonly flags: readonly string[]
  /** The fields with one text each, which may not be written as a list or an object. */
  readonly texts: readonly string[]
  /** Measures a file. The results become members of the file in the document of the form. */
  readonly measure?: (file: SpooledFile) => Promise<Readonly<Record<string, number>>>
  /** True if a request may also have a JSON body. */
  readonly isJsonAccepted?: true
}

/** A form as one JSON document, with the files to which the document refers by their ids. */
export type Form = {
  readonly document: Buffer
  readonly files: ReadonlyMap<string, SpooledFile>
}
