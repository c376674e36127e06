import { parsedObject } from '#relay/canonical/json-values.ts'
import { type ErrorMeaning, meaningOf } from '#relay/canonical/provider-error-meaning.ts'
import { redact, redactMembers } from '#relay/canonical/redact-provider-texts.ts'
import type { RelayError } from '#relay/canonical/relay-error.ts'
import { type Language, RELAY_ERRORS } from '#relay/canonical/relay-error-catalogue.ts'
import type { ErrorFormat, ProviderErrorOptions } from '../error-format.ts'

/** An error in the format that OpenAI's clients read. */
export type ErrorBody = {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string | null
  }
}

/**
 * Renders an error in OpenAI's format and in the caller's language. `status` is the HTTP status of
 * the response.
 */
export function errorBody(
  error: RelayError,
  language: Language,
): { readonly status: number; readonly body: ErrorBody } {
  const { status, type, en, zh, code = error.code } = RELAY_ERRORS[error.code]
  const message = (language === 'zh' ? zh : en)
    .replace('{param}', () => error.params.param ?? '')
    .replace('{subject}', () => error.params.subject ?? '')
  return {
    status,
    body: { error: { message, type, param: error.params.param ?? null, code } },
  }
}

/** How many characters of a text in a provider's error are compared with known codes. */
const TEXT_MAX = 2_000

/**
 * Renders a provider's error in OpenAI's format: `{ error: { message, type, param, code } }`. If
 * `isHidden` is true, the provider's texts are left out. `confidential` contains the channel's
 * confidential texts, such as its key and host name.
 */
export function providerErrorBody(
  bytes: Buffer,
  status: number,
  { isHidden, confidential, hasGatewayStatus }: ProviderErrorOptions,
): ErrorBody {
  const error = isHidden ? {} : errorIn(bytes)
  const answered = hasGatewayStatus === true ? 'with an error' : `${status}`
  const message = textIn(error.message)
  const param = textIn(error.param)
  const code = textIn(error.code) ?? (typeof error.code === 'number' ? `${error.code}` : null)
  return {
    error: {
      message:
        message === null ? `The provider answered ${answered}.` : redact(message, confidential),
      type: redact(textIn(error.type) ?? 'upstream_error', confidential),
      param: param === null ? null : redact(param, confidential),
      code: code === null ? 'upstream_error' : redact(code, confidential),
    },
  }
}

/** How many details of a Google error are searched for reasons. */
const DETAILS_MAX = 16

/**
 * Returns the codes of a provider's error, such as `insufficient_quota`. These are its code or
 * type, and for a Google error its status and the reasons in its details. Alibaba's own format has
 * the code beside the message, without a member `error`. If an error has a code or type, a code
 * beside the error is not read, because a reseller may have added a general one there.
 */
export function providerErrorCodes(bytes: Buffer): readonly string[] {
  const { code, type, status, details } = errorIn(bytes)
  const reasons = (Array.isArray(details) ? details : [])
    .slice(0, DETAILS_MAX)
    .map((detail: unknown) => (detail as { readonly reason?: unknown } | null)?.reason)
  // A code beside the error, such as a reseller's own, must not hide the type in it.
  const ownCode = textIn(code) ?? textIn(type) ?? textIn(parsedObject(bytes)?.code)
  return [ownCode, textIn(status), ...reasons.map(textIn)].flatMap((text) =>
    text === null ? [] : [text.slice(0, TEXT_MAX)],
  )
}

/**
 * Returns the code, the type and the message of a provider's error. A missing text is returned as
 * an empty string.
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

/** The maximum number of names in the path of a fault: see `textOfDetail`. */
const PATH_LENGTH_MAX = 8

type LooseError = {
  message?: unknown
  type?: unknown
  param?: unknown
  code?: unknown
  status?: unknown
  details?: unknown
}

function errorIn(bytes: Buffer): LooseError {
  const { error, message, detail } = parsedObject(bytes) ?? {}
  if (typeof error === 'object' && error !== null) return error as LooseError
  return { message: typeof error === 'string' ? error : (message ?? textOfDetail(detail)) }
}

/**
 * Returns the text of the member `detail`, which servers written with FastAPI send. Its value is a
 * text or a list of faults. The first fault of a list is returned with its path.
 */
function textOfDetail(detail: unknown): unknown {
  if (!Array.isArray(detail)) return detail
  const { loc, msg } = (detail[0] ?? {}) as { readonly loc?: unknown; readonly msg?: unknown }
  const path = Array.isArray(loc) ? loc.slice(0, PATH_LENGTH_MAX).join('.') : ''
  return typeof msg === 'string' && path !== '' ? `${path}: ${msg}` : msg
}

const textIn = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

/**
 * Returns a provider's error in its own wording, without confidential texts and limited in length.
 * Clients decide by the wording of errors whether to retry. `call` replaces the provider's id of
 * the request. Returns null if the caller must not see the provider's texts, or if the provider's
 * response is not an error in the caller's format.
 */
export function ownErrorBody(
  bytes: Buffer,
  { isHidden, isOwnFormat, confidential }: ProviderErrorOptions,
  call: string,
): (Record<string, unknown> & { readonly error: object }) | null {
  if (isHidden || isOwnFormat !== true) return null
  const body = parsedObject(bytes)
  const error = body?.error
  if (body === null || typeof error !== 'object' || error === null) return null
  if (textIn((error as LooseError).message) === null) return null
  // Objects beside the error are dropped. They may hold answer text, which would not be billed.
  const plain = Object.entries(body).filter(([, value]) => typeof value !== 'object')
  const shown = redactMembers({ error, ...Object.fromEntries(plain) }, confidential, call)
  return { ...shown, error: shown.error as object }
}

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

const TYPES: Readonly<Record<ErrorMeaning, string>> = {
  'invalid-request': 'invalid_request_error',
  'context-length': 'invalid_request_error',
  authentication: 'authentication_error',
  billing: 'insufficient_quota',
  permission: 'permission_error',
  'not-found': 'invalid_request_error',
  'too-large': 'invalid_request_error',
  'rate-limit': 'rate_limit_error',
  overloaded: 'server_error',
  timeout: 'server_error',
  server: 'server_error',
}
/** The error codes that clients of OpenAI's formats look for. */
const CODES: Partial<Record<ErrorMeaning, string>> = {
  'context-length': 'context_length_exceeded',
  'rate-limit': 'rate_limit_exceeded',
  overloaded: 'server_is_overloaded',
}

/** Renders an error of a provider with another format as an error in OpenAI's format. */
function convertedErrorBody(bytes: Buffer, status: number, options: ProviderErrorOptions): object {
  const { error } = providerErrorBody(bytes, status, options)
  const meaning = providerErrorMeaning(bytes, status)
  return { error: { ...error, type: TYPES[meaning], code: CODES[meaning] ?? error.code } }
}

export const OPENAI_ERRORS: ErrorFormat = {
  errorBody,
  providerErrorBody: (bytes, status, options, call) =>
    ownErrorBody(bytes, options, call) ??
    (options.isHidden || options.isOwnFormat === true
      ? providerErrorBody(bytes, status, options)
      : convertedErrorBody(bytes, status, options)),
  errorEvent: (body) => `data: ${JSON.stringify(body)}\n\n`,
}
