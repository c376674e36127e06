import { randomUUID } from 'node:crypto'
import { type Dispatcher, request } from 'undici'
import { checkUrl, userPolicy } from '#infra/outbound/outbound-policy.ts'
import {
  type JsonObject,
  objectOrEmpty,
  parsedObject,
  textOf,
} from '#relay/canonical/json-values.ts'
import type { ProviderTarget } from '../providers/profiles/provider-target.ts'
import type { ClosingContext } from './conclude-answered-and-failed-calls.ts'
import { setNameListHeader } from './http-exchange.ts'
import type { Candidate } from './prepare-request-for-channel.ts'
import type { RelayDeps } from './relay-deps.ts'
import { ANSWER_BYTES_MAX } from './upstream-attempt.ts'

/**
 * The maximum total size of all images of one answer, in bytes. Encoded as base64, this number of
 * bytes fits into an answer.
 */
const BYTES_MAX = (ANSWER_BYTES_MAX / 4) * 3
const TOTAL_MS = 30_000
/** Matches the content types of images. Some object stores send only a general binary type. */
const TYPES = /^(?:image\/[\w.+-]{1,64}|(?:application|binary)\/octet-stream)(?:;|$)/i

/** The number of bytes that are left for the images of an answer. */
type Budget = { bytesLeft: number }
type InlinedAnswer = { readonly candidate: Candidate; readonly body: Buffer }

/**
 * Replaces the image URLs in a provider's answer by the data of the images, for a caller that
 * expects data. An image that already has data is kept. If an image can't be downloaded, the answer
 * keeps all URLs. `response_format` is then recorded as a loss of the call and listed in
 * the header `X-Conversion-Loss`. The bill does not depend on the download, because the billed
 * usage is read from the provider's own answer. Never throws.
 */
export async function inlineImages(
  { deps, exchange, call }: Pick<ClosingContext, 'deps' | 'exchange' | 'call'>,
  candidate: Candidate,
  body: Buffer,
): Promise<InlinedAnswer> {
  const isComplete = !body.includes('"url"')
  if (isComplete || call.isCallerGone || call.readsForUsageOnly) return { candidate, body }
  const aborter = new AbortController()
  const signal = AbortSignal.any([aborter.signal, AbortSignal.timeout(TOTAL_MS)])
  call.onAbort = () => aborter.abort()
  try {
    const answer = parsedObject(body.toString('utf8'))
    if (!Array.isArray(answer?.data)) throw new Error('the answer has no list of images')
    const budget = { bytesLeft: BYTES_MAX }
    const load = (url: string) => imageAt(url, deps, candidate.channel.target, signal, budget)
    const images = await Promise.all(
      answer.data.map(async (image) => {
        const { url, ...others } = objectOrEmpty(image)
        if (textOf(others.b64_json)) return { others, data: null }
        if (typeof url !== 'string') throw new Error('an image has neither data nor an address')
        return { others, data: await load(url) }
      }),
    )
    return { candidate, body: withImageData(answer, images) }
  } catch (err) {
    deps.log.debug({ err, call: exchange.call }, 'an image could not be downloaded')
    const losses = [...candidate.losses, 'response_format']
    setNameListHeader(exchange, 'X-Conversion-Loss', losses)
    return { candidate: { ...candidate, losses }, body }
  } finally {
    call.onAbort = null
    // Ends the other downloads after a failure.
    aborter.abort()
  }
}

type LoadedImage = { readonly others: JsonObject; readonly data: string | null }

/**
 * Serializes an answer with the data of the images. The data is inserted only after the
 * serialization, which would otherwise search the data for characters to escape.
 */
function withImageData(answer: JsonObject, images: readonly LoadedImage[]): Buffer {
  const mark = randomUUID()
  const data = images.map((image) =>
    image.data === null ? image.others : { ...image.others, b64_json: mark },
  )
  const loaded = images.flatMap((image) => image.data ?? [])
  const texts = JSON.stringify({ ...answer, data }).split(mark)
  const parts = texts.flatMap((text, index) => [
    Buffer.from(text),
    Buffer.from(loaded[index] ?? '', 'latin1'),
  ])
  return Buffer.concat(parts)
}

const DATA_URL = /^data:image\/[\w.+-]{1,64};base64,/

/** Returns the data of the image at an address, as base64. */
async function imageAt(
  url: string,
  deps: RelayDeps,
  target: ProviderTarget | null,
  signal: AbortSignal,
  budget: Budget,
): Promise<string> {
  const [start] = DATA_URL.exec(url) ?? []
  // Decoding and encoding the data again leaves only base64 characters.
  if (start !== undefined) {
    const data = Buffer.from(url.slice(start.length), 'base64').toString('base64')
    if (data === '') throw new Error('the address of an image has no data')
    return data
  }
  const dispatcher = dispatcherFor(deps, target, url)
  if (dispatcher === null) throw new Error('the address of an image is not allowed')
  return (await download(url, dispatcher, signal, budget)).toString('base64')
}

/**
 * Returns the dispatcher for the download of an image, or null if the URL is not allowed. The
 * provider chooses the URL, so only public addresses and the channel's own address are allowed.
 */
function dispatcherFor(
  { outbound, publicOutbound }: RelayDeps,
  target: ProviderTarget | null,
  url: string,
): Dispatcher | null {
  if (target !== null && URL.parse(url)?.origin === target.origin) {
    return outbound.via(target.proxy).dispatcher
  }
  return checkUrl(url, userPolicy).isAllowed ? publicOutbound.dispatcher : null
}

/** Downloads an image. Redirects are not followed, because they could lead to any address. */
async function download(
  url: string,
  dispatcher: Dispatcher,
  signal: AbortSignal,
  budget: Budget,
): Promise<Buffer> {
  const headers = { 'accept-encoding': 'identity', 'user-agent': 'tallygate' }
  // Only the signal limits the time of a download.
  const timeouts = { headersTimeout: 0, bodyTimeout: 0 }
  const {
    statusCode,
    headers: answered,
    body,
  } = await request(url, { dispatcher, signal, headers, ...timeouts })
  const isPlain = (answered['content-encoding'] ?? 'identity') === 'identity'
  if (statusCode !== 200 || !isPlain || !TYPES.test(String(answered['content-type'] ?? ''))) {
    throw new Error(`an image download returned the status ${statusCode}`)
  }
  const parts: Buffer[] = []
  for await (const part of body as AsyncIterable<Buffer>) {
    budget.bytesLeft -= part.length
    if (budget.bytesLeft < 0) throw new Error('the images are too large')
    parts.push(part)
  }
  if (parts.length === 0) throw new Error('a downloaded image is empty')
  return Buffer.concat(parts)
}
