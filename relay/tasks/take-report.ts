import type { KnownTask } from '#domain/task/state.ts'
import { redact } from '#relay/dialects/openai-chat/error-body.ts'
import { confidentialTo, type RelayChannel } from '#relay/views/channel-view.ts'
import type { Notifier } from './notify-token.ts'
import type { Told } from './provider-words.ts'
import type { TaskOutcome } from './task-books.ts'
import type { TaskParts } from './task-parts.ts'

/** What a provider says of a task goes into the books, and how far it got to whoever looks on. */
export async function takeReport(
  parts: TaskParts,
  known: KnownTask,
  { channelId, keyRef }: Omit<Notifier, 'task'>,
  told: Told,
  channel: RelayChannel | undefined,
): Promise<TaskOutcome> {
  const { task, userId } = known.submitted
  const { progress, failReason, ...report } = told
  const isHidden = parts.views.options.options.isUpstreamErrorHidden
  const telling = channel === undefined ? [] : confidentialTo(channel)
  const words = failReason === null || isHidden ? null : redact(failReason, telling)
  const place = { channelId, keyRef }
  const outcome = await parts.books.report(known, { ...report, ...place, failReason: words })
  if (outcome === 'TaskTooOld') {
    await parts.books.expire(known)
    return outcome
  }
  const isOver = told.status === 'SUCCESS' || told.status === 'FAILURE'
  const noting = isOver
    ? parts.progress.remove([task])
    : progress === null || outcome === 'TaskEnded' || outcome === 'TaskElsewhere'
      ? null
      : parts.progress.put([{ id: task, text: progress }])
  await noting?.catch((err: unknown) => parts.log.warn({ err, userId }, 'progress was not told'))
  return outcome
}
