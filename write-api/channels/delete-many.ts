import { channelDecider } from '#domain/channel/decide.ts'
import { channelStream } from '#domain/channel/events.ts'
import type { ActContext } from '#infra/event-store/actors-port.ts'
import type { Parts } from '../act.ts'

export type Deleted = { readonly count: number; readonly position: number }

/** Deletes those that are there; the others don't count. */
export async function deleteMany(
  { core }: Parts,
  ids: Iterable<number>,
  context: ActContext,
): Promise<Deleted> {
  const outcomes = await Promise.all(
    [...new Set(ids)].map((id) =>
      core.actors.handle(channelDecider, channelStream(id), { type: 'DeleteChannel' }, context),
    ),
  )
  const done = outcomes.filter((outcome) => outcome.isDone)
  const head = done.length === 0 ? await core.store.headPosition() : 0
  return {
    count: done.filter(({ events }) => events.length > 0).length,
    position: Math.max(head, ...done.map(({ position }) => position)),
  }
}
