import type { KnownTask } from '#domain/task/decide.ts'
import { redact } from '#relay/dialects/openai-chat/error-body.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { hiddenWords, textWithout, withoutWords } from './hidden-words.ts'
import type { Notifier } from './notify-token.ts'
import type { Told } from './provider-words.ts'
import type { TaskDeps } from './task-deps.ts'
import type { TaskOutcome } from './task-ledger.ts'

/** What a provider says of a task goes into the ledger, and how far it got to whoever looks on. */
export async function takeReport(
  deps: TaskDeps,
  known: KnownTask,
  { channelId, keyRef }: Omit<Notifier, 'task'>,
  told: Told,
  channel: RelayChannel | undefined,
): Promise<TaskOutcome> {
  const { task, userId } = known.submitted
  const { progress, ...report } = told
  const place = { channelId, keyRef }
  const isOver = told.status === 'SUCCESS' || told.status === 'FAILURE'
  const words = isOver ? wordsOf(deps, known, place, told, channel) : {}
  const outcome = await deps.ledger.report(known, { ...report, ...place, ...words })
  if (outcome === 'TaskTooOld') {
    await deps.ledger.expire(known)
    return outcome
  }
  const noting = isOver
    ? deps.progress.remove([task])
    : progress === null || outcome === 'TaskEnded' || outcome === 'TaskElsewhere'
      ? null
      : deps.progress.put([{ id: task, text: progress }])
  await noting?.catch((err: unknown) => deps.log.warn({ err, userId }, 'progress was not told'))
  return outcome
}

/** As far as their caller may read them. A song's data is left: its addresses are the song. */
function wordsOf(
  deps: TaskDeps,
  { submitted: { task, kind } }: KnownTask,
  place: Omit<Notifier, 'task'>,
  { failReason, promptEn, result }: Told,
  channel: RelayChannel | undefined,
): Pick<Told, 'failReason' | 'promptEn' | 'result'> {
  const hidden = hiddenWords(deps, { task, ...place }, channel)
  const isHidden = deps.views.options.options.isUpstreamErrorHidden
  const cleaned = (text: string) => JSON.stringify(withoutWords(JSON.parse(text), hidden))
  return {
    failReason: failReason === null || isHidden ? null : redact(failReason, hidden),
    promptEn: promptEn === null ? null : textWithout(promptEn, hidden),
    result: result === null || kind === 'music' ? result : cleaned(result),
  }
}
