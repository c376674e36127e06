import {
  type JsonObject,
  objectOrEmpty,
  objectsOf,
  parsedObject,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'

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

/**
 * The finish reasons of choices that a provider could not complete: those of Zhipu, of DeepSeek,
 * and of vLLM and SGLang (the last two). Such a choice may have content, which is charged.
 */
export const INTERRUPTIONS: ReadonlySet<string> = new Set([
  ...['network_error', 'insufficient_system_resource', 'abort', 'aborted'],
])

const isEmptyValue = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0)

function hasNoContent({ message, delta, text }: JsonObject): boolean {
  const members = [message, delta].flatMap((part) => Object.entries(objectOrEmpty(part)))
  return (
    isEmptyValue(text) && members.every(([key, value]) => key === 'role' || isEmptyValue(value))
  )
}

/** Reports whether a choice was interrupted and has no content. */
export const isEmptyInterruption = (choice: JsonObject): boolean =>
  INTERRUPTIONS.has(textOrEmpty(choice.finish_reason)) && hasNoContent(choice)

/** Reports whether a choice of a stream only announces content, for example by its role. */
export const isAnnouncement = (choice: JsonObject): boolean =>
  isEmptyValue(choice.finish_reason) && hasNoContent(choice)

const MARKS = ['error', ...INTERRUPTIONS].map((text) => Buffer.from(JSON.stringify(text)))

/**
 * Returns the error of a complete answer that failed although it has choices, in the form of an
 * error response's body. An answer whose choices were all interrupted without any content has
 * failed as well. Returns null for any other answer. Quotes inside of texts are escaped, so only an
 * answer with a member or a value in `MARKS` is parsed.
 */
export function errorInChoices(body: Buffer): JsonObject | null {
  if (!MARKS.some((mark) => body.includes(mark))) return null
  const { error, choices } = parsedObject(body) ?? {}
  const list = objectsOf(choices)
  if (list.length === 0) return null
  if (isErrorValue(error)) return { error }
  return errorOfChoices(choices) ?? (list.every(isEmptyInterruption) ? { error: {} } : null)
}
