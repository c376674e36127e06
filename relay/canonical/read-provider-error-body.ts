import { type JsonObject, listOf, objectOrEmpty, parsedObject, scalarText } from './json-values.ts'
import { type ErrorMeaning, meaningOf } from './provider-error-meaning.ts'

/** The number of characters that are read of each text in a provider's error. */
const TEXT_MAX = 2_000

/** The number of details of a Google error that are searched for reasons. */
const DETAILS_MAX = 16

/**
 * Returns the codes of a provider's error, such as `insufficient_quota`. These are the error's
 * code, or its type if it has no code, and for a Google error also its status and the reasons in
 * its details. Only texts count as codes. If the error has neither a code nor a type, the top-level
 * member `code` is read instead, as in Alibaba's own format, or else `statusText`, as in FastGPT's.
 * A top-level `code` beside a code or type of the error is ignored, because a reseller may have
 * added a general code there.
 */
export function providerErrorCodes(bytes: Buffer): readonly string[] {
  const { code, type, status, details } = errorIn(bytes)
  const reasons = (Array.isArray(details) ? details : [])
    .slice(0, DETAILS_MAX)
    .map((detail: unknown) => (detail as { readonly reason?: unknown } | null)?.reason)
  const top = objectOrEmpty(parsedObject(bytes))
  const ownCode = textIn(code) ?? textIn(type) ?? textIn(top.code) ?? textIn(top.statusText)
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
 * Returns the member `error` of a provider's answer, or its first element if it is a list. If this
 * is not an object, returns an error with only a message: `error` if it is a text, or else the
 * message at the top level (see `topMessageIn`). If there is no message either, returns the first
 * element of the list `errors`, which Cloudflare sends. An answer that is not JSON is itself the
 * message if it is plain text.
 */
export function errorIn(bytes: Buffer): LooseError {
  const body = parsedObject(bytes)
  if (body === null) return { message: plainTextIn(bytes) }
  const error = firstOf(body.error)
  if (typeof error === 'object' && error !== null) return error as LooseError
  const message = typeof error === 'string' ? error : topMessageIn(body)
  const first = message === null ? firstOf(listOf(body.errors)) : null
  return typeof first === 'object' && first !== null ? first : { message: message ?? first }
}

const firstOf = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value)

/**
 * Returns the message of an error without the member `error`: the top-level `message`, `msg` or
 * `error_msg`, or the text of `detail`. Mistral sends `detail` inside `message`.
 */
function topMessageIn({ message, msg, error_msg: words, detail }: JsonObject): string | null {
  const texts = [message, msg, words, objectOrEmpty(message).detail, detail]
  return texts.map((value) => textIn(textOfDetail(value))).find((text) => text !== null) ?? null
}

/** Matches a line of an event stream, a page or JSON, and the bytes of a compressed body. */
const NOT_PLAIN_TEXT = /^[ \t]*(?:[<[{"]|(?:data|event|id|retry)[ \t]*:)|\ufffd|(?!\s)\p{Cc}/mu

/**
 * Returns an error that is plain text, such as xAI's for an invalid request. Returns null for any
 * other body. A long text is not returned, because it is probably a log.
 */
function plainTextIn(bytes: Buffer): string | null {
  if (bytes.length > TEXT_MAX) return null
  const text = bytes.toString('utf8').trim()
  return NOT_PLAIN_TEXT.test(text) ? null : text
}

/** Matches the codes with which vendors report a success. */
const SUCCESS_CODE = /^(?:0*|200|ok|success)$/i

/**
 * Reports whether an answer with a success status, or an event of a stream, is an error in a
 * vendor's own format, such as `{"code":50501,"message":"System error"}`. It must mark itself as an
 * error, or contain a code of an error. A message alone is not enough, because it may be the text
 * of an answer, which is not billed.
 */
export function isVendorError({ success, errors, object, type, code }: JsonObject): boolean {
  const isMarked = success === false || object === 'error' || type === 'error'
  return isMarked || listOf(errors).length > 0 || !SUCCESS_CODE.test(scalarText(code))
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
