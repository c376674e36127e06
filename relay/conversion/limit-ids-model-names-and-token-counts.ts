import { textOf } from '#relay/canonical/json-values.ts'

/**
 * The maximum lengths of ids and model names. A provider may send longer ones, which are cut off.
 */
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
