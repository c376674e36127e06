import { parsedObject } from '#relay/canonical/json-values.ts'
import type { ErrorMeaning } from '#relay/canonical/provider-error-meaning.ts'
import {
  errorIn,
  type LooseError,
  providerErrorMeaning,
  textIn,
} from '#relay/canonical/read-provider-error-body.ts'
import { redact, redactMembers } from '#relay/canonical/redact-provider-texts.ts'
import type { RelayError } from '#relay/canonical/relay-error.ts'
import {
  httpStatusOf,
  type Language,
  RELAY_ERRORS,
} from '#relay/canonical/relay-error-catalogue.ts'
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
  const { type, en, zh, code = error.code } = RELAY_ERRORS[error.code]
  const message = (language === 'zh' ? zh : en)
    .replace('{param}', () => error.params.param ?? '')
    .replace('{subject}', () => error.params.subject ?? '')
  return {
    status: httpStatusOf(error),
    body: { error: { message, type, param: error.params.param ?? null, code } },
  }
}

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

/**
 * Returns a provider's error in the provider's wording, without confidential texts and limited in
 * length. Clients decide by the wording of errors whether to retry. `call` replaces the provider's
 * id of the request. Returns null if the caller must not see the provider's texts, or if the
 * provider's response is not an error in the caller's format.
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
  // Objects beside the error are dropped, because they may contain answer text, which would not be
  // billed.
  const plain = Object.entries(body).filter(([, value]) => typeof value !== 'object')
  const shown = redactMembers({ error, ...Object.fromEntries(plain) }, confidential, call)
  return { ...shown, error: shown.error as object }
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
