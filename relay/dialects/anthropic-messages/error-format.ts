import type { ErrorMeaning } from '#relay/canonical/provider-error-meaning.ts'
import { providerErrorMeaning } from '#relay/canonical/read-provider-error-body.ts'
import type { RelayError } from '#relay/canonical/relay-error.ts'
import { httpStatusOf, type Language } from '#relay/canonical/relay-error-catalogue.ts'
import type { ErrorFormat } from '../error-format.ts'
import { errorBody, ownErrorBody, providerErrorBody } from '../openai-chat/error-format.ts'

/** An error in the format that Anthropic's clients read. */
type AnthropicError = {
  readonly type: 'error'
  readonly error: { readonly type: string; readonly message: string }
  readonly request_id: string
}

/** The `type` of an error for each HTTP status, from Anthropic's documentation. */
const TYPES: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])

const typeOf = (status: number): string =>
  TYPES.get(status) ?? (status < 500 ? 'invalid_request_error' : 'api_error')

const bodyOf = (type: string, message: string, call: string): AnthropicError => ({
  type: 'error',
  error: { type, message },
  request_id: call,
})

/** The `type` that is written for each meaning of an error from a provider with another format. */
const TYPE_OF: Readonly<Record<ErrorMeaning, string>> = {
  'invalid-request': 'invalid_request_error',
  'context-length': 'invalid_request_error',
  authentication: 'authentication_error',
  billing: 'billing_error',
  permission: 'permission_error',
  'not-found': 'not_found_error',
  'too-large': 'request_too_large',
  'rate-limit': 'rate_limit_error',
  overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  server: 'api_error',
}
/** Matches the wording by which clients recognize that the input is too long. */
const TOO_LONG = /prompt is too long/i

export const ANTHROPIC_ERRORS: ErrorFormat = {
  errorBody: (error: RelayError, language: Language, call: string) => {
    const status = httpStatusOf(error)
    const { message } = errorBody(error, language).body.error
    return { status, body: bodyOf(typeOf(status), message, call) }
  },
  providerErrorBody: (bytes, status, options, call) => {
    const own = ownErrorBody(bytes, options, call)
    // An error in Anthropic's own format keeps its type and wording, because clients decide by the
    // type and the wording whether to retry.
    if (own !== null) return { ...own, type: 'error', request_id: call }
    const { message } = providerErrorBody(bytes, status, options).error
    if (options.isHidden) return bodyOf(typeOf(status), message, call)
    const meaning = providerErrorMeaning(bytes, status)
    const isUnknown = meaning === 'context-length' && !TOO_LONG.test(message)
    return bodyOf(TYPE_OF[meaning], isUnknown ? `prompt is too long: ${message}` : message, call)
  },
  overloadedStatus: 529,
  requestIdHeader: 'Request-Id',
  errorEvent: (body) => `event: error\ndata: ${JSON.stringify(body)}\n\n`,
}
