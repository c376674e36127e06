import type { TaskRecord } from '#domain/tasks/decide.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import { watchAccess } from '#relay/pipeline/current-caller.ts'
import { type Exchange, queryIn } from '#relay/pipeline/http-exchange.ts'
import { type RelayError, relayError } from '../../canonical/relay-error.ts'
import {
  fileError,
  openInTime,
  sendFile,
  sendUnsatisfiableRange,
  VIDEO_TRANSFER,
} from '../forward-provider-file.ts'
import { byteRange, discard, type FileOutcome } from '../open-provider-file.ts'
import { callerPermitNames, permitNames } from '../serve-drawing-file.ts'
import type { TaskDeps } from '../task-deps.ts'
import {
  type FinishedVideo,
  finishedVideoOf,
  openVideoFile,
  variantsOf,
} from './open-video-file.ts'
import { fileExpiryOf } from './render-video-json.ts'
import { sendVideoError } from './send-video-errors.ts'
import type { VideoVariant } from './video-vendor.ts'

const TYPES = /^(?:video|image)\/[\w.+-]+(?:;|$)/i
/**
 * Matches the content types with which some storage servers send videos. Such a file is served as
 * `video/mp4`, or as `image/jpeg` if a picture was requested.
 */
const UNTYPED = /^(?:application|binary)\/octet-stream(?:;|$)/i
const HOUR_S = 3_600

/**
 * Streams the file of a finished video from its provider to the caller. The provider chooses the
 * URL of the file. To protect the internal network, only public addresses and the provider's own
 * address are fetched, and only videos and pictures are forwarded. `caller` is null if the request
 * has a signed link and no key. A caller with a key who loses access gets no more of the file. The
 * query parameter `variant` selects the video or a picture of it.
 */
export async function serveVideoFile(
  deps: TaskDeps,
  exchange: Exchange,
  record: TaskRecord,
  caller: Caller | null,
): Promise<void> {
  const { task } = record.submitted
  if (record.end === null) {
    return sendVideoError(exchange, relayError('video_not_ready', { subject: task }))
  }
  const video = await finishedVideoOf(deps, record)
  if (video === null) return nothingHere(exchange)
  const offered = variantsOf(video)
  const requested = queryIn(exchange.request.url).get('variant') ?? 'video'
  const variant = offered.find((one) => one === requested)
  if (variant === undefined) {
    const subject = offered.join(', ')
    return sendVideoError(
      exchange,
      relayError('video_option_invalid', { param: 'variant', subject }),
    )
  }
  const gone = new AbortController()
  exchange.response.once('close', () => gone.abort())
  const names = caller === null ? permitNames(exchange, record) : callerPermitNames(record)
  const release = await deps.videoPermits.enter(names, gone.signal)
  if (release === null) return sendVideoError(exchange, relayError('overloaded', { retryAfter: 5 }))
  const onLost = (error: RelayError): void => {
    sendVideoError(exchange, error)
    gone.abort()
  }
  const endWatch = caller === null ? () => {} : watchAccess(deps, caller, exchange, onLost)
  try {
    await forwardFile(deps, exchange, { record, video, variant }, gone)
  } finally {
    endWatch()
    release()
  }
}

const nothingHere = (exchange: Exchange): void =>
  sendVideoError(exchange, relayError('video_unavailable'))

/**
 * Returns the error for a file that could not be opened. Once the vendor no longer keeps the file,
 * each failure counts as an expired file. Vendors answer requests for expired files in many ways,
 * and the caller would otherwise retry forever.
 */
async function unopenedFileError(
  deps: TaskDeps,
  record: TaskRecord,
  outcome: Exclude<FileOutcome, { readonly kind: 'open' }>,
): Promise<RelayError> {
  const expiresAt = await fileExpiryOf(deps, record)
  const hasExpired = expiresAt !== null && deps.now() >= expiresAt
  if (!hasExpired) return fileError(outcome, relayError('video_unavailable'))
  return relayError('video_expired', { subject: record.submitted.task })
}

type RequestedFile = {
  readonly record: TaskRecord
  readonly video: FinishedVideo
  readonly variant: VideoVariant
}

async function forwardFile(
  deps: TaskDeps,
  exchange: Exchange,
  { record, video, variant }: RequestedFile,
  gone: AbortController,
): Promise<void> {
  const range = byteRange(exchange.request.headers.range)
  const outcome = await openInTime(VIDEO_TRANSFER, gone, (options) =>
    openVideoFile(deps, video, variant, { range, ...options }),
  )
  if (outcome.kind === 'unsatisfiable') {
    return sendUnsatisfiableRange(exchange, outcome.contentRange)
  }
  if (outcome.kind !== 'open') {
    deps.log.debug({ outcome, channelId: video.channel.channelId }, 'a video could not be fetched')
    return sendVideoError(exchange, await unopenedFileError(deps, record, outcome))
  }
  const { file } = outcome
  const untyped = variant === 'video' ? 'video/mp4' : 'image/jpeg'
  const type = UNTYPED.test(file.type) ? untyped : file.type
  if (!TYPES.test(type)) {
    discard(file.body)
    return sendVideoError(exchange, fileError(FAULTY_TYPE, relayError('video_unavailable')))
  }
  const origin = { task: video.task, channelId: video.channel.channelId }
  const sent = { ...file, type, limits: VIDEO_TRANSFER, maxAgeS: HOUR_S, origin }
  return sendFile(exchange, sent, gone)
}

/**
 * The outcome if a file server sends neither a video nor a picture, but for example an error page.
 * The server does not work properly, so a retry may help.
 */
const FAULTY_TYPE = { kind: 'failed', retryAfterMs: 0 } as const
