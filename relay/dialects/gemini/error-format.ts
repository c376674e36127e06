import { objectOrEmpty, parsedObject } from '#relay/canonical/json-values.ts'
import type { ErrorMeaning } from '#relay/canonical/provider-error-meaning.ts'
import { providerErrorMeaning } from '#relay/canonical/read-provider-error-body.ts'
import type { RelayError } from '#relay/canonical/relay-error.ts'
import {
  httpStatusOf,
  type Language,
  RELAY_ERRORS,
} from '#relay/canonical/relay-error-catalogue.ts'
import { retryDelayIn } from '#relay/canonical/retry-delay-and-list-form-of-google-errors.ts'
import type { ErrorFormat, ProviderErrorOptions } from '../error-format.ts'
import { errorBody, ownErrorBody, providerErrorBody } from '../openai-chat/error-format.ts'

/** An error in the envelope of Google's APIs. */
type GoogleError = {
  readonly error: {
    readonly code: number
    readonly message: string
    readonly status: string
    readonly details?: readonly object[]
  }
}

/** The `status` of an error for each HTTP status, from Google's table of error codes. */
const STATUSES: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [402, 'FAILED_PRECONDITION'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [405, 'UNIMPLEMENTED'],
  [409, 'ABORTED'],
  [413, 'INVALID_ARGUMENT'],
  [429, 'RESOURCE_EXHAUSTED'],
  [499, 'CANCELLED'],
  [500, 'INTERNAL'],
  [501, 'UNIMPLEMENTED'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
  [529, 'UNAVAILABLE'],
])

const KNOWN_STATUSES: ReadonlySet<string> = new Set([
  ...STATUSES.values(),
  ...['OUT_OF_RANGE', 'ALREADY_EXISTS', 'DATA_LOSS', 'UNKNOWN'],
])

/** Returns the `status` of Google's errors for an HTTP status. */
export const googleStatusOf = (code: number): string =>
  STATUSES.get(code) ?? (code < 500 ? 'INVALID_ARGUMENT' : 'UNKNOWN')

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo'
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo'
const retryInfo = (retryDelay: string) => ({ '@type': RETRY_INFO, retryDelay })

/**
 * Matches the names and numbers of Google Cloud projects in a message, because they identify the
 * operator's account.
 */
const ACCOUNTS = /\bproject(?:s\/|_number:|[ _-]?(?:number|id)?[ :=']*)(?=[\w-]*\d)[\w-]+/gi

/**
 * The HTTP status that is assumed for an error in a stream, because such an error has no status.
 */
const IN_STREAM = 502

/**
 * The codes for errors that a provider of another format sends in a stream. Clients decide by the
 * code whether to retry.
 */
const CODES: ReadonlyMap<ErrorMeaning, number> = new Map([
  ['rate-limit', 429],
  ['overloaded', 503],
  ['timeout', 504],
])

const codeInStream = (bytes: Buffer, { isHidden }: ProviderErrorOptions): number =>
  (isHidden ? undefined : CODES.get(providerErrorMeaning(bytes, IN_STREAM))) ?? IN_STREAM

export const GEMINI_ERRORS: ErrorFormat = {
  errorBody: (error: RelayError, language: Language): { status: number; body: GoogleError } => {
    const { code: shown = error.code } = RELAY_ERRORS[error.code]
    const code = httpStatusOf(error)
    const { message } = errorBody(error, language).body.error
    const info = { '@type': ERROR_INFO, reason: shown.toUpperCase(), domain: 'tallygate' }
    const { retryAfter } = error
    const details = retryAfter === undefined ? [info] : [info, retryInfo(`${retryAfter}s`)]
    return {
      status: code,
      body: { error: { code, message, status: googleStatusOf(code), details } },
    }
  },
  // Clients decide by the status and the delay of Google's errors whether and when to retry.
  providerErrorBody: (bytes, httpStatus, options, call) => {
    const ownBody = ownErrorBody(bytes, options, call)
    if (ownBody !== null) return ownBody
    const { message } = providerErrorBody(bytes, httpStatus, options).error
    const { status, retryDelay, code: own } = options.isHidden ? NOTHING : fieldsOf(bytes)
    const code = httpStatus === IN_STREAM ? (own ?? codeInStream(bytes, options)) : httpStatus
    const error = {
      code,
      message: message.replace(ACCOUNTS, '***'),
      status: status ?? googleStatusOf(code),
    }
    return { error: retryDelay === null ? error : { ...error, details: [retryInfo(retryDelay)] } }
  },
  // NOTE: the error is written twice. Google writes an error in a stream outside of the events,
  // where its own clients look for it. Other clients read only events. Each kind of client ignores
  // the other form.
  errorEvent: (body) => {
    const json = JSON.stringify(body)
    return `data: ${json}\n\n${json}\n`
  },
}

type Fields = {
  readonly status: string | null
  readonly retryDelay: string | null
  readonly code: number | null
}
const NOTHING: Fields = { status: null, retryDelay: null, code: null }
/**
 * Reports whether a code may be shown to the caller. Only the codes in `STATUSES` may, except 401
 * to 403, which concern the operator's key or account.
 */
const isForCaller = (code: unknown): code is number =>
  typeof code === 'number' && STATUSES.has(code) && (code < 401 || code > 403)
/** Returns the fields of a provider's error that contain no free text. */
function fieldsOf(bytes: Buffer): Fields {
  const { status, details, code } = objectOrEmpty(parsedObject(bytes)?.error)
  const isStatus = typeof status === 'string' && KNOWN_STATUSES.has(status)
  return {
    status: isStatus ? status : null,
    retryDelay: retryDelayIn(details),
    code: isForCaller(code) ? code : null,
  }
}
