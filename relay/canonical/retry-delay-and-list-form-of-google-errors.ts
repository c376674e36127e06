import { listOf, objectOf, parsedObject } from './json-values.ts'

/** The number of details of an error that are searched for a delay. */
const DETAILS_MAX = 16
/** Matches a duration in the JSON of Google's APIs, such as `36s` or `1.5s`. */
const DELAY = /^(\d{1,6}(?:\.\d{1,9})?)s$/
/**
 * The maximum length in bytes of a body that is searched for a delay. Google's errors are shorter.
 */
const BODY_BYTES_MAX = 65_536
/** The longest delay, in milliseconds, that a provider may request. */
const DELAY_MS_MAX = 3_600_000

/**
 * Returns the delay before a retry, such as `36s`, from the details of a Google error
 * (`RetryInfo`). Returns null if the details contain none.
 */
export function retryDelayIn(details: unknown): string | null {
  for (const detail of listOf(details).slice(0, DETAILS_MAX)) {
    const delay = objectOf(detail)?.retryDelay
    if (typeof delay === 'string' && DELAY.test(delay)) return delay
  }
  return null
}

/**
 * Reads the delay before a retry from the body of a provider's error, because Google's APIs do not
 * send `Retry-After`. Returns the delay in milliseconds, at most one hour. Returns 0 if the body
 * contains none.
 */
export function retryAfterInBody(body: Buffer): number {
  if (body.length > BODY_BYTES_MAX || !body.includes('"retryDelay"')) return 0
  const delay = retryDelayIn(objectOf(parsedObject(body)?.error)?.details) ?? '0s'
  const seconds = Number(DELAY.exec(delay)?.[1])
  return Math.min(Math.ceil(seconds * 1_000), DELAY_MS_MAX)
}

const OPEN_BRACKET = 91

/**
 * If a body is a list with one error as its only element, returns this element as a body. Google's
 * streaming methods send errors in such a list. Returns any other body unchanged.
 */
export function errorOutOfList(body: Buffer): Buffer {
  if (body.subarray(0, 16).toString('latin1').trimStart().charCodeAt(0) !== OPEN_BRACKET)
    return body
  try {
    const [first, ...others] = listOf(JSON.parse(body.toString('utf8')))
    const isError = others.length === 0 && objectOf(objectOf(first)?.error) !== null
    return isError ? Buffer.from(JSON.stringify(first)) : body
  } catch {
    return body
  }
}
