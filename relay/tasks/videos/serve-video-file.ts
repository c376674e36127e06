import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Dispatcher, request } from 'undici'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import { readVideoFile } from '#infra/http/signed-video-links.ts'
import { checkUrl, userPolicy } from '#infra/outbound/outbound-policy.ts'
import { type Exchange, headersOf } from '#relay/pipeline/http-exchange.ts'
import type { RelayChannel, RelayKey } from '#relay/views/channel-view.ts'
import { keysOfSubmitted } from '#relay/views/keys-that-may-own-submitted-work.ts'
import { relayError } from '../../canonical/relay-error.ts'
import {
  type ProviderTarget,
  providerRequest,
} from '../../providers/openai-compatible/provider-target.ts'
import { parsedObject } from '../read-task-request-body.ts'
import {
  addressTaskRequest,
  type ProviderRequest,
  sendTaskRequest,
} from '../send-request-to-task-provider.ts'
import { permitNames } from '../serve-task-image.ts'
import { base64TextIn } from '../shorten-texts-in-json-stream.ts'
import type { TaskDeps } from '../task-deps.ts'
import { fileExpiryOf, sendVideoError } from './render-video.ts'
import { providerRequestOf, vendorOf } from './select-channels-for-video.ts'

const TYPES = /^(?:video|image)\/[\w.+-]+(?:;|$)/i
/**
 * Matches the content types with which some storage servers send videos. Such a file is served as
 * `video/mp4`.
 */
const UNTYPED = /^(?:application|binary)\/octet-stream(?:;|$)/i
const STALL_MS = 30_000
/** The maximum time of one transfer in milliseconds. */
const TOTAL_MS = 1_800_000
const REDIRECTS_MAX = 3
const RANGE = /^bytes=\d{0,15}-\d{0,15}$/
/** The headers of the provider's response that are sent to the caller. */
const PASSED = ['content-length', 'content-range', 'accept-ranges', 'last-modified']

/**
 * Streams the file of a finished video from its provider to the caller. The provider chooses the
 * URL of the file. To protect the internal network, only public addresses and the provider's own
 * address are fetched, and only videos and pictures are forwarded.
 */
export async function serveVideoFile(
  deps: TaskDeps,
  exchange: Exchange,
  record: TaskRecord,
): Promise<void> {
  const { task } = record.submitted
  if (record.end === null) {
    return sendVideoError(exchange, relayError('video_not_ready', { subject: task }))
  }
  const channelsWithKeys = channelsWithKeysOf(deps, record)
  if (channelsWithKeys.length === 0) return nothingHere(exchange)
  const gone = new AbortController()
  exchange.response.once('close', () => gone.abort())
  const release = await deps.videoPermits.enter(permitNames(exchange, record), gone.signal)
  if (release === null) return sendVideoError(exchange, relayError('overloaded', { retryAfter: 2 }))
  try {
    await forwardFile(deps, exchange, { record, channelsWithKeys }, gone)
  } finally {
    release()
  }
}

const nothingHere = (exchange: Exchange): void =>
  sendVideoError(exchange, relayError('video_unavailable'))

/** Sends the error for a file that can't be fetched. It says so if the file has expired. */
async function sendUnavailable(
  deps: TaskDeps,
  exchange: Exchange,
  record: TaskRecord,
): Promise<void> {
  const expiresAt = await fileExpiryOf(deps, record)
  if (expiresAt === null || deps.now() < expiresAt) return nothingHere(exchange)
  sendVideoError(exchange, relayError('video_expired', { subject: record.submitted.task }))
}

type Source = Address | Inline

/**
 * A file that is a base64 text in the vendor's response to `question`. `member` is the name of the
 * text.
 */
type Inline = {
  readonly target: ProviderTarget
  readonly question: ProviderRequest
  readonly member: string
  readonly type: string
}

type Address = {
  readonly url: string
  /** The headers with the channel's key. They are sent only to the provider's own address. */
  readonly keyHeaders: Readonly<Record<string, string>>
  readonly origin: string
  readonly proxy: string | null
}

type ChannelWithKey = { readonly channel: RelayChannel; readonly key: RelayKey }

/** Returns the channel of a task, once with each of the keys that may have access to the file. */
function channelsWithKeysOf({ views }: TaskDeps, { place }: TaskRecord): readonly ChannelWithKey[] {
  const channel = place === null ? undefined : views.channels.find(place.channelId)
  if (place === null || channel === undefined) return []
  return keysOfSubmitted(views.channels, place).map((key) => ({ channel, key }))
}

async function sourceOf(
  deps: TaskDeps,
  record: TaskRecord,
  at: ChannelWithKey,
): Promise<Source | null> {
  const { end, place, submitted } = record
  if (end === null || !('result' in end) || end.result === null || place === null) return null
  const text = await deps.vault.open(submitted.userId, end.result)
  const { file } = readVideoFile(text) ?? {}
  const vendor = vendorOf(at.channel)
  if (vendor === null || file === undefined) return null
  const { target } = at.key
  const { origin, proxy, address } = target
  const source = vendor.source(place.upstreamId, file)
  if (source.kind === 'vendor') {
    const { url, headers } = providerRequest(target, source.path, { isUnversioned: false })
    return { url, keyHeaders: headers, origin, proxy }
  }
  if (source.kind === 'address') {
    const { headers } = providerRequest(target, '/', { isUnversioned: false })
    return { url: source.url, keyHeaders: source.needsKey ? headers : {}, origin, proxy }
  }
  const question = providerRequestOf(vendor, source.call, address.key, deps.now())
  if (source.kind === 'inline') {
    const { member, type } = source
    return { target, question, member, type }
  }
  const answered = await sendTaskRequest(deps.providerOutbound, target, question)
  const answer = answered.kind === 'plain' ? parsedObject(answered.body) : null
  const url = answer === null ? null : source.addressIn(answer)
  return url === null ? null : { url, keyHeaders: {}, origin, proxy }
}

/**
 * Requests a file and follows redirects. The key is sent only to the provider's own address.
 * Returns null if the request fails or a redirect is not allowed.
 */
async function open(
  deps: TaskDeps,
  { url: first, keyHeaders, origin, proxy }: Address,
  range: string | undefined,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData | null> {
  let url = first
  for (let left = REDIRECTS_MAX; left >= 0; left -= 1) {
    if (!URL.canParse(url)) return null
    const isOwn = new URL(url).origin === origin
    if (!isOwn && !checkUrl(url, userPolicy).isAllowed) return null
    const { dispatcher } = isOwn ? deps.pictureOutbound.via(proxy) : deps.publicOutbound
    const headers = {
      ...(isOwn ? keyHeaders : {}),
      ...{ 'accept-encoding': 'identity', 'user-agent': 'tallygate' },
      ...(range === undefined ? {} : { range }),
    }
    const answer = await request(url, { dispatcher, signal, headers }).catch(() => null)
    if (answer === null || answer.statusCode < 300 || answer.statusCode > 399) return answer
    answer.body.on('error', () => {}).destroy()
    const { location } = answer.headers
    if (typeof location !== 'string' || !URL.canParse(location, url)) return null
    url = new URL(location, url).href
  }
  return null
}

type VideoStream = {
  readonly status: number
  readonly type: string
  /** The headers of the file that are sent to the caller, as a flat list of names and values. */
  readonly headers: readonly string[]
  readonly body: Readable
}

/**
 * Opens a file that is a base64 text in the vendor's response. Range requests are not supported for
 * it. Returns null if the response contains no file.
 */
async function openInline(
  deps: TaskDeps,
  { target, question, member, type }: Inline,
  signal: AbortSignal,
): Promise<VideoStream | null> {
  const { method, body = null } = question
  const connections = deps.pictureOutbound.via(target.proxy)
  const { dispatcher } = connections
  const answer = await addressTaskRequest(target, question, connections)
    .then(({ url, headers: own }) => {
      const headers = { ...own, 'content-type': 'application/json' }
      return request(url, { dispatcher, method, headers, body, signal })
    })
    .catch(() => null)
  if (answer === null) return null
  if (answer.statusCode !== 200) {
    if (answer.statusCode === 401) target.cloud?.dropCredentials()
    answer.body.on('error', () => {}).destroy()
    return null
  }
  const parts = base64TextIn(answer.body, member)
  // The first bytes are read before the response to the caller begins. If there are none, the
  // caller receives an error response.
  const first = await parts.next().catch(() => null)
  if (first === null || first.done) {
    answer.body.on('error', () => {}).destroy()
    return null
  }
  return { status: 200, type, headers: [], body: Readable.from(rejoined(first.value, parts)) }
}

async function* rejoined(first: Buffer, others: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* others
}

async function openAddress(
  deps: TaskDeps,
  source: Address,
  range: string | undefined,
  signal: AbortSignal,
): Promise<VideoStream | null> {
  const answer = await open(deps, source, range, signal)
  if (answer === null) return null
  const { statusCode: status, headers: given, body } = answer
  if (status !== 200 && status !== 206) {
    body.on('error', () => {}).destroy()
    return null
  }
  const headers = PASSED.flatMap((name) => {
    const value = given[name]
    return typeof value === 'string' ? [name, value] : []
  })
  return { status, type: String(given['content-type'] ?? ''), headers, body }
}

type FileOfTask = {
  readonly record: TaskRecord
  readonly channelsWithKeys: readonly ChannelWithKey[]
}

/**
 * Tries the keys in their order and opens the file with the first key that has access. Returns null
 * if no key has access.
 */
async function openFirst(
  deps: TaskDeps,
  { record, channelsWithKeys }: FileOfTask,
  range: string | undefined,
  signal: AbortSignal,
): Promise<VideoStream | null> {
  for (const channelWithKey of channelsWithKeys) {
    if (signal.aborted) return null
    const source = await sourceOf(deps, record, channelWithKey)
    if (source === null) continue
    const file =
      'member' in source
        ? await openInline(deps, source, signal)
        : await openAddress(deps, source, range, signal)
    if (file !== null) return file
  }
  return null
}

async function forwardFile(
  deps: TaskDeps,
  exchange: Exchange,
  fileOfTask: FileOfTask,
  gone: AbortController,
): Promise<void> {
  const { response, request: callerRequest } = exchange
  const { range: requestedRange } = callerRequest.headers
  const range =
    requestedRange !== undefined && RANGE.test(requestedRange) ? requestedRange : undefined
  const stalled = setTimeout(() => gone.abort(), STALL_MS)
  const late = setTimeout(() => gone.abort(), TOTAL_MS)
  try {
    const { signal } = gone
    const file = await openFirst(deps, fileOfTask, range, signal)
    if (file === null) return await sendUnavailable(deps, exchange, fileOfTask.record)
    const { status, headers, body } = file
    const type = UNTYPED.test(file.type) ? 'video/mp4' : file.type
    if (!TYPES.test(type)) {
      body.on('error', () => {}).destroy()
      return nothingHere(exchange)
    }
    response.writeHead(status, [
      ...[...headersOf(exchange), 'Content-Type', type, ...headers],
      ...['Cache-Control', 'private, max-age=3600', 'X-Content-Type-Options', 'nosniff'],
      ...['Content-Security-Policy', "default-src 'none'; sandbox"],
      ...['Cross-Origin-Resource-Policy', 'cross-origin'],
    ])
    const watched = new Transform({
      transform: (part: Buffer, _encoding, done) => {
        stalled.refresh()
        done(null, part)
      },
    })
    await pipeline(body, watched, response, { signal }).catch(() => response.destroy())
  } finally {
    clearTimeout(stalled)
    clearTimeout(late)
  }
}
