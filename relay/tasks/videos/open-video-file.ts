import { Readable } from 'node:stream'
import { request } from 'undici'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import { readVideoFile, type VideoFile } from '#infra/http/signed-video-links.ts'
import type { AttemptEnd } from '#relay/pipeline/attempt-end-types.ts'
import { retryAfterOf } from '#relay/pipeline/read-retry-delay-and-request-id.ts'
import type { RelayChannel, RelayKey } from '#relay/views/channel-view.ts'
import { keysOfSubmitted } from '#relay/views/submission-checks-and-key-retries.ts'
import { type ProviderTarget, providerRequest } from '../../providers/profiles/provider-target.ts'
import type { ExpiredFile } from '../look-up-expired-file-addresses.ts'
import {
  discard,
  FAILED,
  type FileAddress,
  type FileOutcome,
  GONE,
  isGone,
  type OpenOptions,
  openProviderFile,
} from '../open-provider-file.ts'
import { parsedShallowObject } from '../parse-provider-json.ts'
import {
  addressTaskRequest,
  type ProviderRequest,
  sendTaskRequest,
} from '../send-request-to-task-provider.ts'
import { base64TextIn } from '../shorten-or-decode-texts-in-json-stream.ts'
import type { TaskDeps } from '../task-deps.ts'
import { providerRequestOf, vendorOf } from './select-channels-and-build-video-request.ts'
import type { FileSource, VideoVariant, VideoVendor } from './video-vendor.ts'

/** The maximum time in milliseconds to ask a vendor for the new link to a file. */
const LOOKUP_MS = 20_000

/** A finished video: the vendor's id of its task, its file, and the channel of the task. */
export type FinishedVideo = {
  readonly task: string
  readonly userId: number
  readonly upstreamId: string
  readonly stored: VideoFile
  readonly channel: RelayChannel
  readonly vendor: VideoVendor
  /** The keys that may have access to the file. */
  readonly keys: readonly RelayKey[]
}

/** Returns the finished video of a task, or null if the task has no file that can be fetched. */
export async function finishedVideoOf(
  { vault, views }: Pick<TaskDeps, 'vault' | 'views'>,
  { submitted, end, place }: TaskRecord,
): Promise<FinishedVideo | null> {
  if (end === null || !('result' in end) || end.result === null || place === null) return null
  const channel = views.channels.find(place.channelId)
  const vendor = channel === undefined ? null : vendorOf(channel)
  const text = await vault.open(submitted.userId, end.result)
  const stored = readVideoFile(text)
  if (channel === undefined || vendor === null || stored === null) return null
  const keys = keysOfSubmitted(views.channels, place)
  const { task, userId } = submitted
  return { task, userId, upstreamId: place.upstreamId, stored, channel, vendor, keys }
}

/** Returns the variants of a video's file that can be fetched. */
export const variantsOf = ({ stored, vendor }: FinishedVideo): readonly VideoVariant[] => [
  'video',
  ...(vendor.otherVariants ?? []),
  ...(stored.cover === undefined ? [] : (['thumbnail'] as const)),
]

/**
 * Tries the keys in their order and opens the file with the first key that has access. If no key
 * has access, returns the last failure that may be temporary. If no failure was temporary, returns
 * that the file does not exist.
 */
export async function openVideoFile(
  deps: TaskDeps,
  video: FinishedVideo,
  variant: VideoVariant,
  options: OpenOptions,
): Promise<FileOutcome> {
  let outcome = GONE
  for (const key of video.keys) {
    if (options.signal.aborted) return FAILED
    const opened = await openWithKey(deps, video, { key, variant }, options)
    if (opened.kind === 'open' || opened.kind === 'unsatisfiable') return opened
    if (opened.kind === 'failed') outcome = opened
  }
  return outcome
}

type KeyAndVariant = { readonly key: RelayKey; readonly variant: VideoVariant }

/**
 * Opens the file with one key. Vendors sign links to files for some hours. If the link has expired,
 * the vendor is asked for the task once more, because its answer may have a new link. See
 * `FileAddressLookups` for the limits.
 */
async function openWithKey(
  deps: TaskDeps,
  video: FinishedVideo,
  { key, variant }: KeyAndVariant,
  options: OpenOptions,
): Promise<FileOutcome> {
  const { upstreamId, stored, vendor } = video
  const file = locationIn(vendor, stored, variant)
  if (file === null) return GONE
  const source: FileSource = isCover(vendor, variant)
    ? { kind: 'address', url: file }
    : vendor.source(upstreamId, file, variant)
  const opened = await openSource(deps, vendor, { source, key }, options)
  if (opened.kind !== 'gone' || source.kind !== 'address') return opened
  const { task, userId } = video
  const expired: ExpiredFile = { userId, name: `${task} ${variant} ${key.keyRef}`, old: file }
  const fresh = await deps.fileLookups.find(expired, () =>
    askForLink(deps, video, { key, variant }),
  )
  if (typeof fresh !== 'string') return fresh
  const again = { source: { ...source, url: fresh }, key }
  const outcome = await openSource(deps, vendor, again, options)
  if (outcome.kind === 'gone') deps.fileLookups.forget(expired)
  return outcome
}

/** Reports whether the variant is a picture at an address that the vendor reports. */
const isCover = (vendor: VideoVendor, variant: VideoVariant): boolean =>
  variant === 'thumbnail' && vendor.otherVariants?.includes(variant) !== true

const locationIn = (
  vendor: VideoVendor,
  { file, cover }: VideoFile,
  variant: VideoVariant,
): string | null => (isCover(vendor, variant) ? (cover ?? null) : file)

/** Asks the vendor for the current link to the file. Returns a `FileOutcome` if there is none. */
async function askForLink(
  deps: TaskDeps,
  { upstreamId, vendor }: FinishedVideo,
  { key: { target }, variant }: KeyAndVariant,
): Promise<string | FileOutcome> {
  const query = providerRequestOf(vendor, vendor.query(upstreamId), target.address.key, deps.now())
  const end = await ask(deps, target, query)
  if (end.kind !== 'plain') return outcomeOf(end)
  const answer = parsedShallowObject(end.body)
  const report = answer === null ? null : vendor.readReport(answer)
  if (report === null) return FAILED
  const { file = null, cover = null } = report
  if (report.status !== 'SUCCESS' || file === null) return GONE
  return locationIn(vendor, { file, ...(cover === null ? {} : { cover }) }, variant) ?? GONE
}

const ask = (
  { providerOutbound }: TaskDeps,
  target: ProviderTarget,
  question: ProviderRequest,
  signal?: AbortSignal,
): Promise<AttemptEnd> => {
  const inTime = AbortSignal.timeout(LOOKUP_MS)
  const end = signal === undefined ? inTime : AbortSignal.any([signal, inTime])
  return sendTaskRequest(providerOutbound, target, question, end)
}

/** Returns the outcome if a vendor was asked for the link to a file and did not name one. */
function outcomeOf(end: AttemptEnd): FileOutcome {
  if (end.kind !== 'failed') return FAILED
  if (end.status !== null && isGone(end.status, true)) return GONE
  return { kind: 'failed', retryAfterMs: end.retryAfterMs }
}

async function openSource(
  deps: TaskDeps,
  vendor: VideoVendor,
  { source, key }: { readonly source: FileSource; readonly key: RelayKey },
  options: OpenOptions,
): Promise<FileOutcome> {
  const { target } = key
  const { origin, proxy, address } = target
  const at = (file: Pick<FileAddress, 'url' | 'keyHeaders' | 'isKeyDoubtful'>) =>
    openProviderFile(deps, { ...file, origin, proxy }, options)
  if (source.kind === 'vendor') {
    const { url, headers } = providerRequest(target, source.path, { isUnversioned: false })
    return at({ url, keyHeaders: headers, isKeyDoubtful: true })
  }
  if (source.kind === 'address') {
    const { headers } = providerRequest(target, '/', { isUnversioned: false })
    // If the address refuses the request, the vendor is asked for a new address with the same key.
    // This shows whether the key is valid.
    const keyHeaders = source.needsKey ? headers : {}
    return at({ url: source.url, keyHeaders, isKeyDoubtful: false })
  }
  const question = providerRequestOf(vendor, source.call, address.key, deps.now())
  if (source.kind === 'inline') {
    const { member, type } = source
    return openInline(deps, { target, question, member, type }, options)
  }
  const end = await ask(deps, target, question, options.signal)
  if (end.kind !== 'plain') return outcomeOf(end)
  const answer = parsedShallowObject(end.body)
  const url = answer === null ? null : source.addressIn(answer)
  return url === null ? FAILED : at({ url, keyHeaders: {}, isKeyDoubtful: false })
}

/**
 * A file that is a base64 text in the vendor's response to `question`. `member` is the name of the
 * member with the text.
 */
type Inline = {
  readonly target: ProviderTarget
  readonly question: ProviderRequest
  readonly member: string
  readonly type: string
}

/**
 * Opens a file that is a base64 text in the vendor's response. Range requests are not supported for
 * such a file.
 */
async function openInline(
  deps: TaskDeps,
  { target, question, member, type }: Inline,
  { signal, waitMs }: OpenOptions,
): Promise<FileOutcome> {
  const { method, body = null } = question
  const connections = deps.pictureOutbound.via(target.proxy)
  const { dispatcher } = connections
  const answer = await addressTaskRequest(target, question, connections)
    .then(({ url, headers: own }) => {
      const headers = { ...own, 'content-type': 'application/json' }
      const times = { headersTimeout: waitMs, bodyTimeout: waitMs }
      return request(url, { dispatcher, method, headers, body, signal, ...times })
    })
    .catch(() => null)
  if (answer === null) return FAILED
  const { statusCode, headers: given } = answer
  if (statusCode !== 200) {
    if (statusCode === 401) target.cloud?.dropCredentials()
    discard(answer.body)
    if (isGone(statusCode, true)) return GONE
    return { kind: 'failed', retryAfterMs: retryAfterOf(given['retry-after'], deps.now()) }
  }
  const parts = base64TextIn(answer.body, member)
  // The first bytes are read before the response to the caller begins. If there are none, the
  // caller receives an error response.
  const first = await parts.next().catch(() => null)
  if (first === null || first.done) {
    discard(answer.body)
    return first === null ? FAILED : GONE
  }
  const stream = Readable.from(rejoined(first.value, parts))
  return { kind: 'open', file: { status: 200, type, headers: [], body: stream } }
}

async function* rejoined(first: Buffer, others: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* others
}
