import { parsedObject, scalarText } from './json-values.ts'
import { type ErrorMeaning, meaningOf } from './provider-error-meaning.ts'

/** The number of characters that are read of each text in a provider's error. */
const TEXT_MAX = 2_000

/** The number of details of a Google error that are searched for reasons. */
const DETAILS_MAX = 16

/**
 * Returns the codes of a provider's error, such as `insufficient_quota`. These are the error's
 * code, or its type if it has no code, and for a Google error also its status and the reasons in
 * its details. Only texts count as codes. If the error has neither a code nor a type, the top-level
 * member `code` is read instead, as in Alibaba's own format. A top-level `code` beside a code or
 * type of the error is ignored, because a reseller may have added a general code there.
 */
export function providerErrorCodes(bytes: Buffer): readonly string[] {
  const { code, type, status, details } = errorIn(bytes)
  const reasons = (Array.isArray(details) ? details : [])
    .slice(0, DETAILS_MAX)
    .map((detail: unknown) => (detail as { readonly reason?: unknown } | null)?.reason)
  const ownCode = textIn(code) ?? textIn(type) ?? textIn(parsedObject(bytes)?.code)
  return [ownCode, textIn(status), ...reasons.map(textIn)].flatMap((text) =>
    text === null ? [] : [text.slice(0, TEXT_MAX)],
  )
}

/**
 * Returns the code, the type and the message of a provider's error. A numeric code is returned as a
 * string. A missing value is returned as an empty string.
 */
export function providerErrorFields(bytes: Buffer): {
  readonly code: string
  readonly type: string
  readonly message: string
} {
  const { code, type, message } = errorIn(bytes)
  const fieldOf = (value: unknown): string => (textIn(value) ?? '').slice(0, TEXT_MAX)
  return {
    code: typeof code === 'number' ? `${code}` : fieldOf(code),
    type: fieldOf(type),
    message: fieldOf(message),
  }
}

/**
 * The maximum number of names that are read of the path to an invalid value (see `textOfDetail`).
 */
const PATH_LENGTH_MAX = 8

/** A provider's error. Each member may have any value. */
export type LooseError = {
  message?: unknown
  type?: unknown
  param?: unknown
  code?: unknown
  status?: unknown
  details?: unknown
}

/**
 * Returns the member `error` of a provider's answer. If this member is not an object, returns an
 * error with only a message. The message is `error` if it is a string, or else the top-level
 * `message` or `detail`.
 */
export function errorIn(bytes: Buffer): LooseError {
  const { error, message, detail } = parsedObject(bytes) ?? {}
  if (typeof error === 'object' && error !== null) return error as LooseError
  return { message: typeof error === 'string' ? error : (message ?? textOfDetail(detail)) }
}

/**
 * Returns the text of the member `detail`, which servers written with FastAPI send. `detail` is a
 * text or a list of faults. For a list, returns the message of the first fault, preceded by the
 * path of the invalid value if the fault has a path.
 */
function textOfDetail(detail: unknown): unknown {
  if (!Array.isArray(detail)) return detail
  const { loc, msg } = (detail[0] ?? {}) as { readonly loc?: unknown; readonly msg?: unknown }
  const path = Array.isArray(loc) ? loc.slice(0, PATH_LENGTH_MAX).map(scalarText).join('.') : ''
  return typeof msg === 'string' && path !== '' ? `${path}: ${msg}` : msg
}

/** Returns the value if it is a text that is not empty, and otherwise null. */
export const textIn = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

/** Returns what a provider's error means. `status` is 502 for an error in a stream. */
export function providerErrorMeaning(bytes: Buffer, status: number): ErrorMeaning {
  const { type, code, status: name, message } = errorIn(bytes)
  return meaningOf({
    type: textIn(type),
    code: textIn(code),
    name: textIn(name),
    message: textIn(message)?.slice(0, TEXT_MAX) ?? null,
    status,
  })
}
