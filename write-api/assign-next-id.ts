import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { Outcome } from '#infra/event-store/stream-actors-port.ts'
import { highestChannelId } from '#projections/channels/query.ts'
import { highestMessageId } from '#projections/messages/query.ts'
import { highestOrderId } from '#projections/top-ups/query.ts'
import { highestUserId } from '#projections/users/query.ts'
import type { KeyedMutex } from './keyed-mutex.ts'

const KINDS = {
  user: { highest: highestUserId, existsCode: 'UserExists' },
  order: { highest: highestOrderId, existsCode: 'TopUpExists' },
  channel: { highest: highestChannelId, existsCode: 'ChannelExists' },
  message: { highest: highestMessageId, existsCode: 'MessageExists' },
} as const

type Kind = keyof typeof KINDS

export type WithId<O> = { readonly id: number; readonly outcome: O }

/**
 * Calls `create` with the next free id of a kind of object. If the id turns out to be in use, calls
 * `create` again with the next higher id.
 */
export type NextIds = <E extends Fact, R extends CodedError>(
  kind: Kind,
  create: (id: number) => Promise<Outcome<E, R>>,
) => Promise<WithId<Outcome<E, R>>>

/**
 * The maximum number of ids to try. The read model with the highest id may lack the newest objects,
 * so the next id can be in use.
 */
const TRIES_MAX = 1_000

/**
 * Creates the function that assigns ids. Within this process, objects of one kind are created one
 * at a time. If two processes choose the same id, only one of them can append to the object's
 * stream. The other process then tries the next id.
 */
export function createNextIds(core: Pick<Core, 'db'>, runExclusive: KeyedMutex): NextIds {
  const used = new Map<Kind, number>()
  return (kind, create) =>
    runExclusive(`new-${kind}`, async () => {
      const { highest, existsCode } = KINDS[kind]
      const highestId = Math.max(await highest(core.db), used.get(kind) ?? 0)
      for (let id = highestId + 1; id <= highestId + TRIES_MAX; id += 1) {
        const outcome = await create(id)
        const isTaken = !outcome.isDone && outcome.error.code === existsCode
        if (outcome.isDone || isTaken) used.set(kind, id)
        if (!isTaken) return { id, outcome }
      }
      throw new Error(`no free ${kind} id after ${highestId}: the read models are far behind`)
    })
}
