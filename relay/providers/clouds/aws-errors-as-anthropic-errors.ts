import { type JsonObject, parsedObject } from '#relay/canonical/json-values.ts'

/** Anthropic's error types that correspond to the names of AWS exceptions, in lower case. */
const ERROR_TYPES: ReadonlyMap<string, string> = new Map([
  ['accessdeniedexception', 'permission_error'],
  ['expiredtokenexception', 'authentication_error'],
  ['invalidsignatureexception', 'authentication_error'],
  ['modelnotreadyexception', 'overloaded_error'],
  ['modeltimeoutexception', 'timeout_error'],
  ['resourcenotfoundexception', 'not_found_error'],
  ['servicequotaexceededexception', 'rate_limit_error'],
  ['serviceunavailableexception', 'overloaded_error'],
  ['throttlingexception', 'rate_limit_error'],
  ['unrecognizedclientexception', 'authentication_error'],
  ['validationexception', 'invalid_request_error'],
])

/**
 * Converts the body of an AWS error to Anthropic's format, so that it is read like all other
 * errors. `exception` is the value of the header `x-amzn-errortype`. A body that contains an object
 * `error` (an error of the model's server) or is not a JSON object is returned unchanged.
 */
export function anthropicErrorBody(body: Buffer, exception: unknown): Buffer {
  const error = parsedObject(body)
  if (error === null || typeof error.error === 'object') return body
  const [name = ''] = (typeof exception === 'string' ? exception : '').split(':')
  return Buffer.from(JSON.stringify(anthropicError(name, messageIn(error))))
}

/**
 * Returns an error in Anthropic's format. `exception` is the name of an AWS exception, such as
 * `ThrottlingException`.
 */
export function anthropicError(exception: string, message: string): object {
  const code = /^[A-Za-z]{1,64}$/.test(exception) ? exception : 'Exception'
  const type = ERROR_TYPES.get(code.toLowerCase()) ?? 'api_error'
  return { type: 'error', error: { type, code, message } }
}

/** Returns the message of an AWS error, or an empty string if it has none. */
export function messageIn(error: JsonObject | null): string {
  const { message, Message, originalMessage } = error ?? {}
  const texts = [message, Message, originalMessage]
  return texts.find((text): text is string => typeof text === 'string') ?? ''
}
