import { accountDecider } from '#domain/accounts/decide.ts'
import { type AccountEvent, accountStream, type Movement } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { firstRevision } from '#infra/event-store/binary-search-events.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import type { BalanceAt } from '../contract/ledger.ts'
import { isAfter, type Moment } from './parse-moment.ts'

const PAGE = 200

/**
 * Returns the balance and the held quota of an account at a moment. The function searches backwards
 * from the moment for an event that moved quota, because such an event contains both figures. The
 * search usually reads only a few events, however long the history is. Events of old versions lack
 * the figures. If the search finds such an event, the account is folded from its first event.
 */
export async function balanceAt(
  store: Pick<EventStore, 'readStream'>,
  userId: number,
  moment: Moment | null,
): Promise<BalanceAt> {
  const stream = accountStream(userId)
  const end = await firstRevision(store, stream, (event) => isAfter(event, moment))
  let last: Recorded | undefined
  for (let next = end; next > 0; next -= PAGE) {
    const from = Math.max(0, next - PAGE)
    const events = (await store.readStream(stream, from, next - from)) as Recorded<AccountEvent>[]
    last ??= events.at(-1)
    const moved = events.findLast(({ data }) => 'postings' in data && movesOwn(data, userId))
    if (moved === undefined) continue
    const { balanceAfter, heldAfter } = moved.data as Movement
    if (balanceAfter === undefined || heldAfter === undefined) {
      return figuresOf(last, await foldUntil(store, stream, end))
    }
    return figuresOf(last, { balance: balanceAfter, held: heldAfter })
  }
  return figuresOf(last, { balance: 0, held: 0 })
}

const movesOwn = ({ postings }: Movement, userId: number): boolean =>
  postings.some(
    ([account]) => account === `user:${userId}:main` || account === `user:${userId}:held`,
  )

const figuresOf = (
  last: Recorded | undefined,
  { balance, held }: { readonly balance: number; readonly held: number },
): BalanceAt => ({
  position: last?.position ?? 0,
  at: Math.floor((last?.meta.at ?? 0) / 1_000),
  ...{ total: balance + held, balance, held },
})

async function foldUntil(store: Pick<EventStore, 'readStream'>, stream: string, end: number) {
  let state = accountDecider.initialState()
  for (let from = 0; from < end; from += PAGE) {
    const events = await store.readStream(stream, from, Math.min(PAGE, end - from))
    for (const event of events) state = accountDecider.evolve(state, event as AccountEvent)
  }
  return { balance: Number(state.balance), held: Number(state.held) }
}
