import type { TaskRecord } from '#domain/tasks/decide.ts'
import { addressLine } from '#infra/http/client-address-hash.ts'
import type { Exchange } from '#relay/pipeline/http-exchange.ts'
import { relayError } from '../canonical/relay-error.ts'
import {
  fileError,
  openInTime,
  PICTURE_TRANSFER,
  sendFile,
  sendUnsatisfiableRange,
  VIDEO_TRANSFER,
} from './forward-provider-file.ts'
import type { PermitLimits, PermitName } from './limit-concurrent-work.ts'
import { isOwnerEnabled, isTaskId } from './look-up-tasks.ts'
import { type DrawingFile, drawingFileOf, openDrawingFile } from './open-drawing-file.ts'
import { byteRange, discard } from './open-provider-file.ts'
import { sendTaskError } from './send-task-errors-and-acceptance.ts'
import type { TaskDeps } from './task-deps.ts'

const PICTURE_TYPES = /^image\/(?:png|jpeg|webp|gif|avif)(?:;|$)/i
const VIDEO_TYPES = /^video\/[\w.+-]+(?:;|$)/i
const DAY_S = 86_400

/**
 * The limits of concurrent requests for pictures. A request above a limit is not refused at once
 * but waits for at most `waitMs`, because a page may show many pictures.
 */
export const PICTURE_PERMITS: PermitLimits = {
  total: 128,
  waiting: 1_024,
  waitingPerName: 128,
  waitMs: 20_000,
}

/**
 * The limits of concurrent downloads of videos. They are separate from those of pictures, because a
 * reader with a slow connection holds a permit for many minutes.
 */
export const VIDEO_PERMITS: PermitLimits = {
  total: 256,
  waiting: 512,
  waitingPerName: 64,
  waitMs: 10_000,
}

/**
 * The maximum number of concurrent requests without a key for files of one user, separately for
 * pictures and for videos. The maximum is high, because a user may be a reseller whose pictures
 * many people view.
 */
const PER_OWNER = 32
const PER_ADDRESS = 6
const PER_OWNER_AND_ADDRESS = 3
/** The maximum number of concurrent downloads of videos by one user with an API key. */
const PER_CALLER = 32

/** The file of a drawing task: its picture, or one of its videos. */
export type TaskFile = { readonly task: string; readonly videoIndex: number | null }

/**
 * Serves `GET /mj/image/{id}` and `GET /mj/video/{id}/{index}`: fetches the picture or a video of a
 * drawing task from its provider and forwards it. No key is needed, because only the owner of the
 * task and admins know the id. Files of a disabled or deleted user are not served. The provider
 * chooses the URL of the file. To protect the internal network, only public addresses and the
 * provider's own address are fetched.
 */
export async function serveDrawingFile(
  deps: TaskDeps,
  exchange: Exchange,
  { task, videoIndex }: TaskFile,
): Promise<void> {
  const { clientIp } = exchange
  const waitSeconds = deps.guesses.waitSeconds(clientIp)
  if (waitSeconds > 0) return tooMany(exchange, waitSeconds)
  const record = isTaskId(task) ? await deps.ledger.peek(task) : null
  if (record === null) {
    const tooManySeconds = await deps.guesses.failed(clientIp)
    return tooManySeconds > 0 ? tooMany(exchange, tooManySeconds) : nothingHere(exchange)
  }
  const isServed = isOwnerEnabled(deps, record)
  const drawing = isServed ? await drawingFileOf(deps, record, videoIndex) : null
  if (drawing === null) return nothingHere(exchange)
  const gone = new AbortController()
  exchange.response.once('close', () => gone.abort())
  const names = permitNames(exchange, record)
  const permits = videoIndex === null ? deps.picturePermits : deps.videoPermits
  const release = await permits.enter(names, gone.signal)
  if (release === null) return overloaded(exchange)
  const held = { release }
  try {
    await forwardFile(deps, exchange, { drawing, names, held }, gone)
  } finally {
    held.release()
  }
}

/**
 * Returns the names under which a request for a file of the task is counted if the request has no
 * key.
 */
export function permitNames(
  { clientIp }: Pick<Exchange, 'clientIp'>,
  { submitted: { userId } }: Pick<TaskRecord, 'submitted'>,
): readonly PermitName[] {
  const [address, owner] = [`address ${addressLine(clientIp)}`, `owner ${userId}`]
  return [
    { name: owner, max: PER_OWNER },
    { name: address, max: PER_ADDRESS },
    { name: `${owner} ${address}`, max: PER_OWNER_AND_ADDRESS },
  ]
}

/**
 * Returns the name under which a download with the key of the task's user is counted. The readers
 * of the user's links are counted separately, so they can't block these downloads.
 */
export const callerPermitNames = ({
  submitted: { userId },
}: Pick<TaskRecord, 'submitted'>): readonly PermitName[] => [
  { name: `caller ${userId}`, max: PER_CALLER },
]

const overloaded = (exchange: Exchange): void =>
  sendTaskError(exchange, 'drawing', relayError('overloaded', { retryAfter: 2 }))

const nothingHere = (exchange: Exchange): void =>
  sendTaskError(exchange, 'drawing', relayError('image_unavailable'))

function tooMany(exchange: Exchange, retryAfter: number): void {
  const subject = '60 unknown pictures / 60 s'
  sendTaskError(exchange, 'drawing', relayError('rate_limited', { subject, retryAfter }))
}

type Forwarding = {
  readonly drawing: DrawingFile
  readonly names: readonly PermitName[]
  /**
   * The permit that is held. If the file of a picture is a video, a permit for videos replaces the
   * permit for pictures.
   */
  readonly held: { release: () => void }
}

/** Fetches a file and sends it to the caller. The address of a picture may also lead to a video. */
async function forwardFile(
  deps: TaskDeps,
  exchange: Exchange,
  { drawing, names, held }: Forwarding,
  gone: AbortController,
): Promise<void> {
  const isVideo = drawing.videoIndex !== null
  const limits = isVideo ? VIDEO_TRANSFER : PICTURE_TRANSFER
  const range = byteRange(exchange.request.headers.range)
  const outcome = await openInTime(limits, gone, (options) =>
    openDrawingFile(deps, drawing, { range, ...options }),
  )
  if (outcome.kind === 'unsatisfiable') {
    return sendUnsatisfiableRange(exchange, outcome.contentRange)
  }
  if (outcome.kind !== 'open') {
    return sendTaskError(exchange, 'drawing', fileError(outcome, relayError('image_unavailable')))
  }
  const { submitted, place } = drawing.record
  const origin = { task: submitted.task, channelId: place?.channelId }
  const file = { ...outcome.file, maxAgeS: DAY_S, origin }
  if (VIDEO_TYPES.test(file.type)) {
    const release = isVideo ? held.release : await deps.videoPermits.enter(names, gone.signal)
    if (release === null) {
      discard(file.body)
      return overloaded(exchange)
    }
    if (!isVideo) held.release()
    held.release = release
    return sendFile(exchange, { ...file, limits: VIDEO_TRANSFER }, gone)
  }
  if (isVideo || !PICTURE_TYPES.test(file.type)) {
    discard(file.body)
    return nothingHere(exchange)
  }
  return sendFile(exchange, { ...file, limits: PICTURE_TRANSFER }, gone)
}
