import type { OpenTask } from '#projections/open-tasks/query.ts'
import type { AttemptEnd } from '#relay/pipeline/upstream-attempt.ts'
import type { RelayChannel, RelayKey } from '#relay/views/channel-view.ts'
import type { ProviderReport } from '../read-provider-task-answers.ts'
import { parsedObject } from '../read-task-request-body.ts'
import type { ProviderRequest } from '../send-request-to-task-provider.ts'
import type { TaskDeps } from '../task-deps.ts'
import { providerRequestOf, vendorOf } from './plan-video.ts'

/** Returns the query about a video; null if the channel's type no longer makes videos. */
export function videoQuery(
  { now }: Pick<TaskDeps, 'now'>,
  { channel, key }: { readonly channel: RelayChannel; readonly key: RelayKey },
  upstreamId: string,
): ProviderRequest | null {
  const vendor = vendorOf(channel)
  if (vendor === null) return null
  return providerRequestOf(vendor, vendor.query(upstreamId), key.target.address.key, now())
}

/** The statuses that concern one task and not the provider, which is therefore not paused. */
const UNKNOWN_TASK = new Set([400, 404, 410, 422])

/** The result of a video, as the task stores it. */
export type VideoFile = { readonly file: string }

/**
 * Reads the answer about one video. Returns null if the provider failed or the answer can't be
 * read. A success without a video is a failure, because nothing can be delivered. That a vendor
 * does not know a task counts only from the key that submitted it, because a key that replaced it
 * may belong to another account.
 */
export function videoReports(
  { channel, key }: { readonly channel: RelayChannel; readonly key: RelayKey },
  end: AttemptEnd,
  [task]: readonly OpenTask[],
): readonly ProviderReport[] | null {
  const vendor = vendorOf(channel)
  const upstreamId = task?.upstreamId ?? null
  if (vendor === null || upstreamId === null) return null
  if (end.kind !== 'plain') {
    return end.kind === 'failed' && UNKNOWN_TASK.has(end.status ?? 0) ? [] : null
  }
  const answer = parsedObject(end.body)
  const report = answer === null ? null : vendor.readReport(answer)
  if (report === null) return null
  if (report.isMissing === true && key.keyRef !== task?.keyRef) return []
  const { progress = null, failReason = null, file = null, seconds = null, tokens = null } = report
  const isEmpty = report.status === 'SUCCESS' && file === null
  const status = isEmpty ? 'FAILURE' : report.status
  const stored: VideoFile | null = status === 'SUCCESS' && file !== null ? { file } : null
  return [
    {
      ...{ upstreamId, status, progress, failReason, imageUrl: null, promptEn: null },
      result: stored === null ? null : JSON.stringify(stored),
      made: { seconds, tokens },
    },
  ]
}
