import type { Readable } from 'node:stream'
import { type Dispatcher, request } from 'undici'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import { checkUrl, userPolicy } from '#infra/outbound/outbound-policy.ts'
import { retryAfterOf } from '#relay/pipeline/read-retry-delay-and-request-id.ts'
import type { RelayDeps } from '#relay/pipeline/relay-deps.ts'

const REDIRECTS_MAX = 3
const RANGE = /^bytes=\d{0,15}-\d{0,15}$/
/** The headers of the provider's response that are sent to the caller. */
const PASSED = ['content-length', 'content-range', 'accept-ranges', 'last-modified']

/** A file whose transfer from its provider has begun. */
export type ProviderFile = {
  readonly status: number
  readonly type: string
  /** The headers of the file that may be sent to the caller, as a list of names and values. */
  readonly headers: readonly string[]
  readonly body: Readable
}

/**
 * The result of opening a file. `gone`: the provider definitely has no such file any more, or the
 * gateway must not fetch it. `unsatisfiable`: the file does not have the requested range. `failed`:
 * the file may be available later. `retryAfterMs` is 0 if the provider names no time.
 */
export type FileOutcome =
  | { readonly kind: 'open'; readonly file: ProviderFile }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unsatisfiable'; readonly contentRange: string | null }
  | { readonly kind: 'failed'; readonly retryAfterMs: number }

export const GONE: FileOutcome = { kind: 'gone' }
export const FAILED: FileOutcome = { kind: 'failed', retryAfterMs: 0 }

/** The address of a file, as the provider has named it. */
export type FileAddress = {
  readonly url: string
  /** The headers with the channel's key. They are sent only to the provider's own address. */
  readonly keyHeaders: Readonly<Record<string, string>>
  /** True if a refusal with 400, 401 or 403 may concern the key. See `isGone`. */
  readonly isKeyDoubtful: boolean
  /** The origin of the provider, which may be at a private address. Null if it is unknown. */
  readonly origin: string | null
  readonly proxy: string | null
}

/**
 * Returns the value of a `Range` header if it names one range of bytes. Otherwise, returns
 * undefined.
 */
export const byteRange = (header: string | undefined): string | undefined =>
  header !== undefined && RANGE.test(header) ? header : undefined

/** `waitMs` is the maximum time between two parts of the provider's response, in milliseconds. */
export type OpenOptions = {
  readonly range: string | undefined
  readonly signal: AbortSignal
  readonly waitMs: number
}

type Connecting = Pick<RelayDeps, 'publicOutbound'> & { readonly pictureOutbound: Outbound }

/**
 * Opens the file at an address that a provider has named. To protect the internal network, only
 * public addresses and the provider's own address are fetched.
 */
export async function openProviderFile(
  deps: Connecting,
  address: FileAddress,
  options: OpenOptions,
): Promise<FileOutcome> {
  const answer = await follow(deps, address, options)
  if ('kind' in answer) return answer
  const { statusCode: status, headers: given, body } = answer
  if (status === 200 || status === 206) {
    const headers = PASSED.flatMap((name) => {
      const value = given[name]
      return typeof value === 'string' ? [name, value] : []
    })
    const file = { status, type: String(given['content-type'] ?? ''), headers, body }
    return { kind: 'open', file }
  }
  discard(body)
  if (status === 416) {
    const { 'content-range': contentRange } = given
    return { kind: 'unsatisfiable', contentRange: String(contentRange ?? '') || null }
  }
  if (isGone(status, address.isKeyDoubtful)) return GONE
  return { kind: 'failed', retryAfterMs: retryAfterOf(given['retry-after'], Date.now()) }
}

/** Ends the transfer of a response whose body is not needed. */
export const discard = (body: Readable): void => {
  body.on('error', () => {}).destroy()
}

/**
 * Reports whether a status means that the file no longer exists. Storage servers answer a signed
 * link that has expired with 400, 401 or 403. If `isKeyDoubtful` is true, the request had a key
 * that is not known to be valid, so these statuses may concern the key instead.
 */
export const isGone = (status: number, isKeyDoubtful: boolean): boolean =>
  status === 404 || status === 410 || (!isKeyDoubtful && [400, 401, 403].includes(status))

/**
 * Requests a file and follows redirects. The key is sent only to the provider's own address.
 * Returns a `FileOutcome` if there is no final response.
 */
async function follow(
  deps: Connecting,
  { url: first, keyHeaders, origin, proxy }: FileAddress,
  { range, signal, waitMs }: OpenOptions,
): Promise<Dispatcher.ResponseData | FileOutcome> {
  let url = first
  for (let left = REDIRECTS_MAX; left >= 0; left -= 1) {
    if (!URL.canParse(url)) return GONE
    const isOwn = new URL(url).origin === origin
    if (!isOwn && !checkUrl(url, userPolicy).isAllowed) return GONE
    const { dispatcher } = isOwn ? deps.pictureOutbound.via(proxy) : deps.publicOutbound
    const headers = {
      ...(isOwn ? keyHeaders : {}),
      ...{ 'accept-encoding': 'identity', 'user-agent': 'tallygate' },
      ...(range === undefined ? {} : { range }),
    }
    const times = { headersTimeout: waitMs, bodyTimeout: waitMs }
    const answer = await request(url, { dispatcher, signal, headers, ...times }).catch(() => null)
    if (answer === null) return FAILED
    if (answer.statusCode < 300 || answer.statusCode > 399) return answer
    discard(answer.body)
    const { location } = answer.headers
    if (typeof location !== 'string' || !URL.canParse(location, url)) return FAILED
    url = new URL(location, url).href
  }
  return FAILED
}
