import type { RelayError } from '#relay/canonical/relay-error.ts'
import { type Language, RELAY_ERRORS } from '#relay/canonical/relay-error-catalogue.ts'
import { errorBody, providerErrorBody } from '../openai-chat/error-body.ts'
import type { ErrorFormat } from '../wire-format.ts'

/** An error in the format that Anthropic's clients read. */
type AnthropicError = {
  readonly type: 'error'
  readonly error: { readonly type: string; readonly message: string }
  readonly request_id: string
}

/** The `type` of an error by its HTTP status, from Anthropic's documentation. */
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

export const ANTHROPIC_ERRORS: ErrorFormat = {
  errorBody: (error: RelayError, language: Language, call: string) => {
    const { status } = RELAY_ERRORS[error.code]
    const { message } = errorBody(error, language).body.error
    return { status, body: bodyOf(typeOf(status), message, call) }
  },
  // Clients read the type and the wording of Anthropic's errors to decide about retries.
  providerErrorBody: (bytes, status, options, call) => {
    const { type, message } = providerErrorBody(bytes, status, options).error
    return bodyOf(type === 'upstream_error' ? typeOf(status) : type, message, call)
  },
  errorEvent: (body) => `event: error\ndata: ${JSON.stringify(body)}\n\n`,
}
