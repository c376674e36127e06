import { type JsonObject, objectsOf, parsedObject } from '#relay/canonical/json-values.ts'

/** Reports whether the value of a member `error` is an error. */
export const isErrorValue = (error: unknown): boolean =>
  typeof error === 'string' ? error !== '' : typeof error === 'object' && error !== null

/**
 * Returns the error of a choice that failed, in the form of an error response's body. Returns null
 * if no choice failed. OpenRouter reports the failure of a provider in `choices[].error`, with the
 * finish reason `error`. Mistral and vLLM send only this finish reason.
 */
export function errorOfChoices(choices: unknown): JsonObject | null {
  const isFailed = ({ error, finish_reason: reason }: JsonObject): boolean =>
    isErrorValue(error) || reason === 'error'
  const failed = objectsOf(choices).find(isFailed)
  if (failed === undefined) return null
  return { error: isErrorValue(failed.error) ? failed.error : {} }
}

const MARK = Buffer.from('"error"')

/**
 * Returns the error of a complete answer that failed although it has choices, in the form of an
 * error response's body. Returns null for any other answer. Quotes inside of texts are escaped, so
 * only an answer with a member or a value `error` is parsed.
 */
export function errorInChoices(body: Buffer): JsonObject | null {
  if (!body.includes(MARK)) return null
  const { error, choices } = parsedObject(body) ?? {}
  if (objectsOf(choices).length === 0) return null
  return isErrorValue(error) ? { error } : errorOfChoices(choices)
}
