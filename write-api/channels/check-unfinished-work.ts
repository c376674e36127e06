import { randomUUID } from 'node:crypto'
import type { ChannelCommand } from '#domain/channels/commands.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { countOpenBatchesOf } from '#projections/open-batches/query.ts'
import { countOpenTasksOf } from '#projections/open-tasks/query.ts'
import { accepted, type Deps } from '../action.ts'
import { channelError } from './channel-errors.ts'

const FRESH_WITHIN_MS = 2_000

/**
 * Waits until the read models of open tasks and batches include all events that were recorded
 * before this function was called. Throws 503 after two seconds.
 */
async function waitUntilFresh({ core, freshness }: Deps): Promise<void> {
  const position = await core.store.headPosition()
  const names = ['open-tasks', 'open-batches'] as const
  if (!(await freshness.waitFor(names, position, FRESH_WITHIN_MS))) throw httpError('Unavailable')
}

/**
 * Throws 409 if the channels have unfinished tasks or batches. Without the keys of these channels,
 * the results could be neither fetched nor billed. `keptRefs` are the references of the keys that a
 * change keeps. Tasks and batches of these keys are not counted.
 */
export async function assertNoUnfinishedWork(
  deps: Deps,
  channelIds: readonly number[],
  keptRefs?: readonly string[],
): Promise<void> {
  await waitUntilFresh(deps)
  const { tasks, batches } = await countUnfinishedWork(deps, channelIds, keptRefs)
  if (tasks + batches > 0) throw channelError('WorkInFlight', { tasks, batches })
}

export type UnfinishedWork = { readonly tasks: number; readonly batches: number }

/** Counts the unfinished tasks and batches of channels, except those of the keys in `keptRefs`. */
export async function countUnfinishedWork(
  { core: { db } }: Deps,
  channelIds: readonly number[],
  keptRefs?: readonly string[],
): Promise<UnfinishedWork> {
  const tasks = await countOpenTasksOf(db, channelIds, keptRefs)
  const batches = await countOpenBatchesOf(db, channelIds, keptRefs)
  return { tasks, batches }
}

/**
 * Returns the message for an admin who has replaced the only key of a channel with this unfinished
 * work. The gateway can't know whether the new key belongs to the same account.
 */
export const renewedKeyMessage = ({ tasks, batches }: UnfinishedWork): TranslatedText =>
  tasks + batches === 0
    ? { zh: '', en: '' }
    : {
        zh:
          `仍有 ${tasks} 个任务、${batches} 个批处理未完成，将使用新密钥查询。` +
          '如果新密钥属于其他账户，将无法获取结果，也无法向用户计费，但上游仍会收费；' +
          '此时请恢复原来的密钥。',
        en:
          `Unfinished work is continued with the new key (tasks: ${tasks}, batches: ${batches}). ` +
          'If this key belongs to another account, the results can be neither fetched nor ' +
          'billed, but the provider still charges for them. In this case, restore the old key.',
      }

/**
 * Runs `action` while no tasks or batches can be submitted to the channels. The relay records the
 * channel and the key of a submission before it checks for a pause. Unfinished work that `action`
 * counts therefore includes every submission. `resume` returns a step that ends the pause. `action`
 * must append its events together with this step. The step is rejected if the pause has lasted too
 * long.
 */
export const whileSubmissionsPaused = <T>(
  deps: Deps,
  channelIds: readonly number[],
  context: CommandContext,
  action: (resume: () => AnyStep) => Promise<T>,
): Promise<T> =>
  // In this process, such requests run one at a time. A request to another process is rejected
  // while one of its channels is paused.
  deps.runExclusive('pause-of-submissions', () => pauseFor(deps, channelIds, context, action))

async function pauseFor<T>(
  { core: { actors, now, log } }: Deps,
  channelIds: readonly number[],
  context: CommandContext,
  action: (resume: () => AnyStep) => Promise<T>,
): Promise<T> {
  const pause = randomUUID()
  const pauseIdentity = { channelIds, pause }
  const handle = (command: ChannelCommand) =>
    actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
  accepted(await handle({ type: 'PauseSubmissions', ...pauseIdentity, now: now() }))
  try {
    return await action(() => ({
      ...{ decider: channelsDecider, stream: CHANNELS_STREAM },
      command: { type: 'ResumeSubmissions', ...pauseIdentity, neededAt: now() },
    }))
  } catch (error) {
    // The caller receives the error of `action`. If the pause cannot be ended now, it expires.
    await handle({ type: 'ResumeSubmissions', ...pauseIdentity, neededAt: null }).catch((err) =>
      log.warn(
        { err, channelIds },
        'resuming submissions to channels failed; the pause ends after a minute',
      ),
    )
    throw error
  }
}
