import type { TaskRecord } from '#domain/tasks/decide.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { redact } from '#relay/canonical/redact-provider-texts.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import type { ProviderReport } from './read-provider-task-answers.ts'
import { confidentialTexts, redactText, redactTexts } from './redact-provider-secrets.ts'
import { withoutScreenedTexts } from './screen-task-texts.ts'
import type { CallbackSource } from './signed-callback-url.ts'
import type { TaskDeps } from './task-deps.ts'
import type { TaskOutcome } from './task-ledger.ts'

/**
 * Records a provider's report on a task. The status is stored as an event. The progress is stored
 * outside of the events, because it is only displayed.
 */
export async function recordReport(
  deps: TaskDeps,
  record: TaskRecord,
  { channelId, keyRef }: Omit<CallbackSource, 'task'>,
  received: ProviderReport,
  channel: RelayChannel | undefined,
): Promise<TaskOutcome> {
  const reported = await withoutScreenedTexts(deps, record, received)
  const { task, userId } = record.submitted
  const { progress, isMissing, ...report } = reported
  const place = { channelId, keyRef }
  await endContinuedTask(deps, record, reported, channel)
  const isOver = reported.status === 'SUCCESS' || reported.status === 'FAILURE'
  const texts = isOver ? redactedTextsOf(deps, record, place, reported, channel) : {}
  const outcome = await deps.ledger.report(record, { ...report, ...place, ...texts })
  deps.log.debug(
    { call: task, channelId, status: reported.status, progress, outcome },
    'a provider reported on a task',
  )
  if (outcome === 'TaskTooOld') {
    await deps.ledger.expire(record)
    return outcome
  }
  const noting = isOver
    ? deps.progress.remove([task])
    : progress === null || outcome === 'TaskEnded' || outcome === 'TaskElsewhere'
      ? null
      : deps.progress.put([{ id: task, text: progress }])
  await noting?.catch((err: unknown) =>
    deps.log.warn({ err, userId }, 'the progress of a task could not be stored'),
  )
  return outcome
}

/**
 * Ends the task that a modal step completes, with the result of that step. Some providers use one
 * id for both tasks, so one report ends both. Other providers give the step a separate id and never
 * report on the first task again. The price of the first task would then not be charged, and its
 * quota would stay reserved for an hour. The first task is ended before the step, because the step
 * is reported again if this process dies in between.
 */
async function endContinuedTask(
  deps: TaskDeps,
  { submitted: { action, origin }, place, end }: TaskRecord,
  reported: ProviderReport,
  channel: RelayChannel | undefined,
): Promise<void> {
  const isCompleted = action === 'MODAL' && reported.status === 'SUCCESS' && end === null
  const isOwn = place === null || place.upstreamId === reported.upstreamId
  if (!isCompleted || !isOwn || origin === null) return
  const first = await deps.ledger.peek(origin)
  // The first task need not have the status MODAL. Its provider may have announced the modal window
  // only by the result code 21, or may have reported another status before the window.
  if (first?.place == null || first.end !== null) return
  const { upstreamId } = first.place
  await recordReport(deps, first, first.place, { ...reported, upstreamId }, channel)
}

/**
 * Returns the texts of a provider's report without confidential texts, such as keys. Three kinds of
 * texts are not redacted: the result of a music task, because the caller needs the URLs in the
 * result; the result of a video, because the result is never shown; and the addresses of a
 * drawing's picture and videos. `failReason` is null if the site hides the errors of providers.
 */
function redactedTextsOf(
  deps: TaskDeps,
  { submitted: { task, kind } }: TaskRecord,
  place: Omit<CallbackSource, 'task'>,
  { failReason, promptEn, result }: ProviderReport,
  channel: RelayChannel | undefined,
): Pick<ProviderReport, 'failReason' | 'promptEn' | 'result'> {
  const confidential = confidentialTexts(deps, { task, ...place }, channel)
  const isHidden = deps.views.options.options.isUpstreamErrorHidden
  const cleaned = (text: string) => {
    const { videos, ...others } = JSON.parse(text) as JsonObject
    const ofVideos = videos === undefined ? {} : { videos }
    return JSON.stringify({ ...(redactTexts(others, confidential) as object), ...ofVideos })
  }
  return {
    failReason: failReason === null || isHidden ? null : redact(failReason, confidential),
    promptEn: promptEn === null ? null : redactText(promptEn, confidential),
    result: result === null || kind !== 'drawing' ? result : cleaned(result),
  }
}
