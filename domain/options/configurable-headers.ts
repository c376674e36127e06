/**
 * The headers that carry credentials or that belong to the connection. The gateway itself sets
 * these headers.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...['authorization', 'proxy-authorization', 'api-key', 'x-api-key', 'x-goog-api-key', 'cookie'],
  ...['set-cookie', 'host', 'connection', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect'],
  ...['transfer-encoding', 'content-length', 'content-type', 'content-encoding', 'accept-encoding'],
  ...['forwarded', 'x-request-id', 'user-agent'],
])
const RESERVED_PREFIX = /^(?:x-forwarded-|x-amz-|proxy-)/

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,1000}[\x21-\x7e])?$/

/** Reports whether an admin may set this header in requests to providers. */
export function isConfigurableHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return NAME.test(lower) && !RESERVED.has(lower) && !RESERVED_PREFIX.test(lower)
}

/**
 * Reports whether a text consists of 1 to 1 002 visible ASCII characters, with spaces only between
 * them. Other characters, such as line breaks, could inject headers.
 */
export const isHeaderValue = (text: string): boolean => VALUE.test(text)
