import type { TaskRecord } from '#domain/tasks/decide.ts'
import type { AttemptEnd } from '#relay/pipeline/attempt-end-types.ts'
import { errorStatusOfMiniMax } from '#relay/providers/profiles/minimax-errors.ts'
import type { RelayKey } from '#relay/views/channel-view.ts'
import {
  keysOfSubmitted,
  mayBeOfOtherAccount,
  sendWithKeys,
} from '#relay/views/submission-checks-and-key-retries.ts'
import { parsedShallowObject } from '../parse-provider-json.ts'
import { sendTaskRequest } from '../send-request-to-task-provider.ts'
import type { TaskDeps } from '../task-deps.ts'
import { finishedVideoOf } from './open-video-file.ts'
import { providerRequestOf, vendorOf } from './select-channels-and-build-video-request.ts'

/** The maximum time in milliseconds to delete a video at its vendor. */
const DELETION_MS = 20_000

/**
 * The HTTP statuses of the range 400 to 499 after which the deletion may succeed later: the key or
 * the account is rejected, or the vendor is busy.
 */
const TEMPORARY: ReadonlySet<number> = new Set([401, 402, 403, 408, 409, 425, 429])

/**
 * Deletes an ended video at its vendor. Returns false if the vendor may still have the video and a
 * later attempt may delete it. Returns true for a video that nobody can delete: the vendor offers
 * no deletion, the channel was deleted, or its key was replaced by one of another account.
 */
export async function deleteAtVendor(deps: TaskDeps, record: TaskRecord): Promise<boolean> {
  const { providerOutbound, views, now, log } = deps
  const { place } = record
  const channel = place === null ? undefined : views.channels.find(place.channelId)
  const vendor = channel === undefined ? null : vendorOf(channel)
  if (place === null || vendor?.remove === undefined) return true
  const file = (await finishedVideoOf(deps, record))?.stored.file ?? null
  const call = vendor.remove(place.upstreamId, file)
  if (call === null) return true
  const keys = keysOfSubmitted(views.channels, place)
  const signal = AbortSignal.timeout(DELETION_MS)
  const end = await sendWithKeys(keys, async ({ target }) => {
    const request = providerRequestOf(vendor, call, target.address.key, now())
    return withReportedError(await sendTaskRequest(providerOutbound, target, request, signal))
  })
  const { channelId, keyRef } = place
  const isOver = end === null || isDone(end, keys, keyRef)
  const { task } = record.submitted
  if (!isOver) log.warn({ task, channelId, status: end.status }, 'a video could not be deleted')
  return isOver
}

/**
 * Returns the end of an attempt as a failure if the vendor reports an error in a response with the
 * status 200. Of the vendors that offer deletion, only MiniMax reports errors in this way.
 */
function withReportedError(end: AttemptEnd): AttemptEnd {
  if (end.kind !== 'plain') return end
  const status = errorStatusOfMiniMax(parsedShallowObject(end.body) ?? {})
  if (status === null) return end
  return { kind: 'failed', status, error: 'status', body: end.body, retryAfterMs: 0 }
}

/** Reports whether the video no longer exists at the vendor, or no key can delete it. */
function isDone(end: AttemptEnd, keys: readonly RelayKey[], keyRef: string): boolean {
  if (end.kind !== 'failed') return true
  const { status } = end
  // Gateways that copy OpenAI's API may not offer the deletion.
  if (status === 501) return true
  if (status === null || status < 400 || status > 499) return false
  const isReplaced = keys.every((key) => key.keyRef !== keyRef)
  return !TEMPORARY.has(status) || (isReplaced && mayBeOfOtherAccount(status))
}
