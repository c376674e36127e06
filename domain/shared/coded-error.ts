/**
 * The values in an error's message, such as a field name, a limit or an id. They are never free
 * text.
 */
export type ErrorParams = Readonly<Record<string, string | number>>

/**
 * An expected error, returned as a value and never thrown. The meaning of a `code` never changes.
 * The error catalogue defines the HTTP status and message of each code. `retryAfter` is in seconds.
 */
export type CodedError<Code extends string = string, Params extends object = ErrorParams> = {
  readonly code: Code
  readonly params: Params
  readonly retryAfter?: number
}

export const codedError = <Code extends string>(
  code: Code,
  params: ErrorParams = {},
): CodedError<Code> => ({ code, params })

export const isCodedError = <E extends CodedError>(outcome: readonly unknown[] | E): outcome is E =>
  !Array.isArray(outcome)

const SHOWN_MAX = 3

/** Shortens a list of names for an error message. `more` is the number of omitted names. */
export function truncateNames(names: readonly string[]): { names: string; more?: number } {
  const listed = names.slice(0, SHOWN_MAX).join(', ')
  const more = names.length - SHOWN_MAX
  return more > 0 ? { names: listed, more } : { names: listed }
}
