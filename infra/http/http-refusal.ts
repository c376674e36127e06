import type { Words } from './language.ts'

/**
 * A request that is answered with an error of the envelope: thrown by hooks and handlers, worded
 * by the error handler in the caller's language. `code` is stable, for programs.
 */
export class HttpRefusal extends Error {
  readonly status: number
  readonly code: string
  readonly words: Words
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    words: Words,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(`${code}: ${words.en}`)
    this.name = 'HttpRefusal'
    this.status = status
    this.code = code
    this.words = words
    this.headers = headers
  }
}
