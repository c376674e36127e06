import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import type { Core } from '#infra/core.ts'
import type { Outcome } from '#infra/event-store/actors-port.ts'
import { highestChannelId } from '#projections/channels/query.ts'
import { highestMessageId } from '#projections/messages/query.ts'
import { highestOrderId } from '#projections/orders/query.ts'
import { highestUserId } from '#projections/users/query.ts'
import type { KeyedMutex } from './keyed-mutex.ts'

const KINDS = {
  user: { highest: highestUserId, taken: 'UserExists' },
  order: { highest: highestOrderId, taken: 'TopUpExists' },
  channel: { highest: highestChannelId, taken: 'ChannelExists' },
  message: { highest: highestMessageId, taken: 'MessageExists' },
} as const

type Kind = keyof typeof KINDS

export type WithId<O> = { readonly id: number; readonly outcome: O }

/**
 * Creates something under the next free id: dense and in order, however many ask at once. `create`
 * is asked again with the next id when a stream of that one exists already.
 */
export type NextIds = <E extends Fact, R extends CodedError>(
  kind: Kind,
  create: (id: number) => Promise<Outcome<E, R>>,
) => Promise<WithId<Outcome<E, R>>>

/** Ids tried in a row, while the read model is behind what other processes created. */
const TRIES_MAX = 1_000

/** One at a time in this process; between processes the new stream itself decides. */
export function createNextIds(core: Pick<Core, 'db'>, runExclusive: KeyedMutex): NextIds {
  const used = new Map<Kind, number>()
  return (kind, create) =>
    runExclusive(`new-${kind}`, async () => {
      const { highest, taken } = KINDS[kind]
      const known = Math.max(await highest(core.db), used.get(kind) ?? 0)
      for (let id = known + 1; id <= known + TRIES_MAX; id += 1) {
        const outcome = await create(id)
        const isTaken = !outcome.isDone && outcome.error.code === taken
        if (outcome.isDone || isTaken) used.set(kind, id)
        if (!isTaken) return { id, outcome }
      }
      throw new Error(`no free ${kind} id after ${known}: the read models are far behind`)
    })
}
