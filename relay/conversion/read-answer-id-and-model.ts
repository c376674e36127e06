import { textOf } from './json-fields.ts'

/** The maximum lengths of ids and model names. A provider may send longer ones, which are cut. */
const ANSWER_ID_LENGTH_MAX = 128
const CALL_ID_LENGTH_MAX = 256
const MODEL_LENGTH_MAX = 256

/** Reads the id of an answer. It is '' if there is none. */
export const readAnswerId = (value: unknown): string =>
  (textOf(value) ?? '').slice(0, ANSWER_ID_LENGTH_MAX)

/** Reads the id of a tool call. It is '' if there is none. */
export const readCallId = (value: unknown): string =>
  (textOf(value) ?? '').slice(0, CALL_ID_LENGTH_MAX)

/** Reads the name of the model that answered. It is '' if there is none. */
export const readModel = (value: unknown): string =>
  (textOf(value) ?? '').slice(0, MODEL_LENGTH_MAX)
