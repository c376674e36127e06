import { randomUUID } from 'node:crypto'
import type { ChannelCommand } from '#domain/channels/commands.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { countOpenBatchesOf } from '#projections/open-batches/query.ts'
import { countOpenTasksOf } from '#projections/open-tasks/query.ts'
import { accepted, type Deps } from '../action.ts'
import { channelError } from './channel-errors.ts'

const FRESH_WITHIN_MS = 2_000

/** Waits until the read models include everything that was recorded before this call. */
async function waitUntilFresh({ core, freshness }: Deps): Promise<void> {
  const position = await core.store.headPosition()
  const names = ['open-tasks', 'open-batches'] as const
  if (!(await freshness.waitFor(names, position, FRESH_WITHIN_MS))) throw httpError('Unavailable')
}

/**
 * Refuses with 409 if channels have unfinished tasks or batches, which nobody can fetch or bill
 * without their keys. If `keptRefs` is given, those that were sent with one of these keys do not
 * count.
 */
export async function assertNoUnfinishedWork(
  deps: Deps,
  channelIds: readonly number[],
  keptRefs?: readonly string[],
): Promise<void> {
  await waitUntilFresh(deps)
  const { db } = deps.core
  const tasks = await countOpenTasksOf(db, channelIds, keptRefs)
  const batches = await countOpenBatchesOf(db, channelIds, keptRefs)
  if (tasks + batches > 0) throw channelError('WorkInFlight', { tasks, batches })
}

/**
 * Runs an act that must not overlook work which is being submitted to channels. The relay records
 * the channel and the key of a submission, and then asks whether the channel's submissions are
 * paused, so work that is counted during the pause is complete. The act appends its events together
 * with the step that it gets, which ends the pause and is refused if it was too long.
 */
export const whileSubmissionsPaused = <T>(
  deps: Deps,
  channelIds: readonly number[],
  context: CommandContext,
  action: (resume: () => AnyStep) => Promise<T>,
): Promise<T> =>
  // Requests to this process wait for each other. One to another process is refused meanwhile.
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
    // The error of the act is the answer. A pause that can't be ended now ends by itself.
    await handle({ type: 'ResumeSubmissions', ...pauseIdentity, neededAt: null }).catch((err) =>
      log.warn(
        { err, channelIds },
        'resuming submissions to channels failed; the pause ends after a minute',
      ),
    )
    throw error
  }
}
