import { TASK_MS_MAX } from '#domain/tasks/decide.ts'
import type { VideoFile } from '#infra/http/signed-video-links.ts'
import type { OpenTask } from '#projections/open-tasks/query.ts'
import type { AttemptEnd } from '#relay/pipeline/attempt-end-types.ts'
import { accountErrorOf } from '#relay/pipeline/detect-provider-account-error.ts'
import type { RelayChannel, RelayKey } from '#relay/views/channel-view.ts'
import { parsedShallowObject } from '../parse-provider-json.ts'
import type { ProviderReport } from '../read-provider-task-answers.ts'
import type { ProviderRequest } from '../send-request-to-task-provider.ts'
import type { TaskDeps } from '../task-deps.ts'
import { providerRequestOf, vendorOf } from './select-channels-and-build-video-request.ts'

/**
 * Returns the request that asks the vendor for the status of a video. Returns null if the channel
 * no longer belongs to a video vendor.
 */
export function videoStatusRequest(
  { now }: Pick<TaskDeps, 'now'>,
  { channel, key }: { readonly channel: RelayChannel; readonly key: RelayKey },
  upstreamId: string,
): ProviderRequest | null {
  const vendor = vendorOf(channel)
  if (vendor === null) return null
  return providerRequestOf(vendor, vendor.query(upstreamId), key.target.address.key, now())
}

/**
 * The HTTP statuses of errors that concern only the requested task. Such an error does not pause
 * the polling of the provider.
 */
export const UNKNOWN_TASK = new Set([400, 404, 410, 422])

/**
 * Reads the vendor's response about one video. Returns null if the provider failed or the response
 * can't be read. Returns an empty list if the response says nothing about the task. A success
 * without a file counts as a failure, because nothing can be delivered. A response that says that
 * the task does not exist counts only if the request had the key that submitted the task, because a
 * newer key may belong to another account.
 */
export function reportsInVideoStatus(
  { now }: Pick<TaskDeps, 'now'>,
  { channel, key }: { readonly channel: RelayChannel; readonly key: RelayKey },
  end: AttemptEnd,
  [task]: readonly OpenTask[],
): readonly ProviderReport[] | null {
  const vendor = vendorOf(channel)
  if (vendor === null || task === undefined || task.upstreamId === null) return null
  const { upstreamId } = task
  if (end.kind === 'streamed') return null
  if (end.kind === 'failed' && !UNKNOWN_TASK.has(end.status ?? 0)) return null
  const answer = parsedShallowObject(end.body)
  const report = answer === null ? null : vendor.readReport(answer)
  // Some vendors use one of these statuses to report a video that a content review has refused.
  const isFailure = report?.status === 'FAILURE' && report.isMissing !== true
  // A refusal of the site's account, such as for arrears, says nothing about the task.
  if (end.kind === 'failed' && !isFailure) return accountErrorOf(end) === null ? [] : null
  if (report === null) return null
  if (report.isMissing === true && key.keyRef !== task.keyRef) return []
  const { progress = null, failReason = null, seconds = null, tokens = null } = report
  const { file = null, cover = null } = report
  const isEmpty = report.status === 'SUCCESS' && file === null
  const status = isEmpty ? 'FAILURE' : report.status
  // A poll may come long after the video was finished, for example if all relays were down. The
  // video is assumed to be finished within the maximum time of a task.
  const endedAt = Math.min(now(), task.submittedAt + TASK_MS_MAX)
  const expiresAt =
    report.expiresAt ?? (vendor.fileMs === undefined ? null : endedAt + vendor.fileMs)
  const withCover = cover === null ? {} : { cover }
  const expiry = expiresAt === null ? {} : { expiresAt }
  const length = seconds === null ? {} : { seconds }
  const stored: VideoFile | null =
    status === 'SUCCESS' && file !== null ? { file, ...withCover, ...expiry, ...length } : null
  return [
    {
      ...{ upstreamId, status, progress, failReason, imageUrl: null, promptEn: null },
      result: stored === null ? null : JSON.stringify(stored),
      made: { seconds, tokens },
      ...(report.isMissing === true ? ({ isMissing: true } as const) : {}),
    },
  ]
}
