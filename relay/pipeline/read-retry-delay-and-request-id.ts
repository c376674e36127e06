/** The headers of a provider's answer, by their names in lower case. */
export type ProviderHeaders = Readonly<Record<string, string | string[] | undefined>>

/** The longest delay, in seconds, that a provider may request. */
const RETRY_AFTER_S_MAX = 3_600
const DECIMAL = /^\d{1,10}(?:\.\d{1,6})?$/

/**
 * Returns the delay in milliseconds that the provider requests before a retry, from 0 (no delay
 * requested) to one hour. `Retry-After-Ms` is more exact than `Retry-After` and takes precedence.
 */
export function retryAfterIn(headers: ProviderHeaders, now: number): number {
  const { 'retry-after': delay, 'retry-after-ms': exact, date } = headers
  if (typeof exact === 'string' && DECIMAL.test(exact)) return delayMs(Number(exact) / 1_000)
  // A date in `Retry-After` is compared with the provider's own `Date`, so that a difference
  // between the clocks does not matter.
  const providersNow = typeof date === 'string' ? Date.parse(date) : Number.NaN
  return retryAfterOf(delay, Number.isFinite(providersNow) ? providersNow : now)
}

/**
 * Returns the delay of a `Retry-After` header (seconds or a date) in milliseconds, from 0 to one
 * hour.
 */
export function retryAfterOf(header: string | string[] | undefined, now: number): number {
  if (typeof header !== 'string') return 0
  return delayMs(DECIMAL.test(header) ? Number(header) : (Date.parse(header) - now) / 1_000)
}

const delayMs = (seconds: number): number =>
  Number.isFinite(seconds) && seconds > 0
    ? Math.ceil(Math.min(seconds, RETRY_AFTER_S_MAX) * 1_000)
    : 0

const REQUEST_ID_HEADERS = [
  'request-id',
  'x-request-id',
  'apim-request-id',
  'x-amzn-requestid',
  'x-goog-request-id',
  'x-ms-request-id',
  'mistral-correlation-id',
  'x-tt-logid',
  'cf-ray',
]

/** Returns the request id in a provider's response headers, or null if they contain none. */
export function requestIdHeaderIn(headers: ProviderHeaders): string | null {
  for (const name of REQUEST_ID_HEADERS) {
    const id = headers[name]
    if (typeof id === 'string') return id
  }
  return null
}
