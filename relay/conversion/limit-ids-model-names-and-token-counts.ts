import { textOf } from '#relay/canonical/json-values.ts'

/** The maximum lengths of ids and model names. Longer ones from a provider are cut. */
const ANSWER_ID_LENGTH_MAX = 128
const CALL_ID_LENGTH_MAX = 256
const MODEL_LENGTH_MAX = 256

/**
 * Returns the id of an answer, cut to its maximum length. Returns an empty string if there is none.
 */
export const readAnswerId = (value: unknown): string =>
  (textOf(value) ?? '').slice(0, ANSWER_ID_LENGTH_MAX)

/**
 * Returns the id of a tool call, cut to its maximum length. Returns an empty string if there is
 * none.
 */
export const readCallId = (value: unknown): string =>
  (textOf(value) ?? '').slice(0, CALL_ID_LENGTH_MAX)

/**
 * Returns the name of the model that answered, cut to its maximum length. Returns an empty string
 * if there is none.
 */
export const readModel = (value: unknown): string =>
  (textOf(value) ?? '').slice(0, MODEL_LENGTH_MAX)

/**
 * The maximum of a token count in a provider's usage. It equals the largest count that is billed.
 */
export const TOKEN_COUNT_MAX = 10_000_000

/**
 * Returns a token count as an integer from 0 to `TOKEN_COUNT_MAX`. A fraction is rounded up. A
 * number in a string is accepted if it consists of at most 16 digits. Any other value becomes 0.
 */
export function tokenCountOf(value: unknown): number {
  const count = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value
  if (typeof count !== 'number' || Number.isNaN(count)) return 0
  return Math.min(Math.ceil(Math.max(count, 0)), TOKEN_COUNT_MAX)
}

const DIGITS = /^\d{1,16}$/
