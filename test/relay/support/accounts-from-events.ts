import type { AccountEvent } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { EventStore } from '#infra/event-store/port.ts'

/** The accounts, computed from the events without the product's code. */
export type Book = {
  readonly events: readonly Recorded<AccountEvent>[]
  /** Calls admitted and not ended. */
  readonly open: readonly string[]
  readonly endedNotOnce: readonly string[]
  /** How often each call was settled. */
  readonly settled: ReadonlyMap<string, number>
  readonly admitted: (userId: number) => number
  /** The least that the balance ever was since it was first given something. */
  readonly lowest: (userId: number) => bigint
  readonly held: (userId: number) => bigint
  readonly ledgerSum: bigint
}

const ENDS = new Set(['CallSettled', 'CallReleased', 'CallInterrupted'])

export async function readBook(store: Pick<EventStore, 'readAll'>): Promise<Book> {
  const events = (await store.readAll(0, 100_000)).filter(({ stream }) =>
    stream.startsWith('account-'),
  ) as Recorded<AccountEvent>[]
  const ends = new Map<string, number>()
  const settled = new Map<string, number>()
  const ledger = new Map<string, bigint>()
  const lowest = new Map<string, bigint>()
  for (const { type, data } of events) {
    for (const [account, amount] of 'postings' in data ? data.postings : []) {
      const balance = (ledger.get(account) ?? 0n) + BigInt(amount)
      ledger.set(account, balance)
      const before = lowest.get(account) ?? balance
      lowest.set(account, balance < before ? balance : before)
    }
    if (type === 'CallAdmitted') ends.set(data.call, ends.get(data.call) ?? 0)
    if (ENDS.has(type) && 'call' in data) ends.set(data.call, (ends.get(data.call) ?? 0) + 1)
    if (type === 'CallSettled') settled.set(data.call, (settled.get(data.call) ?? 0) + 1)
  }
  const open = [...ends].filter(([, count]) => count === 0).map(([call]) => call)
  return {
    events,
    open,
    settled,
    endedNotOnce: [...ends].filter(([, count]) => count > 1).map(([call]) => call),
    admitted: (userId) =>
      events.filter(({ type, data }) => type === 'CallAdmitted' && data.userId === userId).length,
    lowest: (userId) => lowest.get(`user:${userId}:main`) ?? 0n,
    held: (userId) => ledger.get(`user:${userId}:held`) ?? 0n,
    ledgerSum: [...ledger.values()].reduce((sum, amount) => sum + amount, 0n),
  }
}
