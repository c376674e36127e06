import type { SpooledFile } from './spooled-file.ts'

/**
 * The rules by which a form is read: the fields whose types the relay must know, how files are
 * measured, and whether JSON is accepted. All other fields are texts.
 */
export type FormRules = {
  /** The fields that hold files. A name with `[]` at its end may occur several times. */
  readonly files: readonly string[]
  /** The fields that hold numbers. */
  readonly numbers: readonly string[]
  /** The fields that hold `true` or `false`. */
  readonly flags: readonly string[]
  /**
   * The text fields that have a single value. For such a field `n`, names such as `n[]` and `n[0]`
   * are refused.
   */
  readonly texts: readonly string[]
  /**
   * Measures a file, for example its duration. The results are added to the object of the file in
   * the JSON document of the form.
   */
  readonly measure?: (file: SpooledFile) => Promise<Readonly<Record<string, number>>>
  /** True if a request may also have a JSON body. */
  readonly isJsonAccepted?: true
}

/**
 * A form that was converted to a JSON document. The document refers to the files by their ids,
 * which are the keys of `files`.
 */
export type Form = {
  readonly document: Buffer
  readonly files: ReadonlyMap<string, SpooledFile>
}
