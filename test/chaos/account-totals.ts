import type { AccountEvent } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { Running } from '#infra/start.ts'

/**
 * The account totals, computed from the events without the product's code, which the totals check.
 */
export type AccountTotals = {
  /** The number of settlements by call. */
  readonly settled: ReadonlyMap<string, number>
  /**
   * The calls whose settlement says that the complete response was delivered and that the provider
   * reported the usage.
   */
  readonly complete: ReadonlySet<string>
  readonly charged: ReadonlyMap<string, bigint>
  /** The number of calls whose owner died while the call was open. */
  readonly interrupted: number
  readonly endedNotOnce: readonly string[]
  readonly balance: bigint
  readonly held: bigint
  readonly ledgerSum: bigint
}

const ENDS = new Set(['CallSettled', 'CallReleased', 'CallInterrupted'])
const LEASE_MS_MAX = 90_000

/**
 * Reads all events and computes the totals. It waits until no call is open, because open calls of
 * killed processes end only after their lease has expired.
 */
export async function readAccountTotals({ core }: Running): Promise<AccountTotals> {
  const deadline = Date.now() + LEASE_MS_MAX
  for (;;) {
    const events = await readEvents(core.store)
    const open = countOpen(events)
    if (open === 0) return addUp(events)
    if (Date.now() > deadline) throw new Error(`${open} calls are still open`)
    await new Promise((resume) => setTimeout(resume, 1_000))
  }
}

async function readEvents(store: Running['core']['store']): Promise<Recorded<AccountEvent>[]> {
  const all: Recorded[] = []
  for (let after = 0; ; ) {
    const batch = await store.readAll(after, 5_000)
    all.push(...batch)
    const last = batch.at(-1)
    if (last === undefined) break
    after = last.position
  }
  return all.filter(({ stream }) => stream.startsWith('account-')) as Recorded<AccountEvent>[]
}

function countOpen(events: readonly Recorded<AccountEvent>[]): number {
  const open = new Set<string>()
  for (const { type, data } of events) {
    if (type === 'CallAdmitted') open.add(data.call)
    if (ENDS.has(type) && 'call' in data) open.delete(data.call)
  }
  return open.size
}

function addUp(events: readonly Recorded<AccountEvent>[]): AccountTotals {
  const ledger = new Map<string, bigint>()
  const ends = new Map<string, number>()
  const settled = new Map<string, number>()
  const charged = new Map<string, bigint>()
  const complete = new Set<string>()
  let interrupted = 0
  for (const { type, data } of events) {
    if ('postings' in data) {
      for (const [account, amount] of data.postings) {
        ledger.set(account, (ledger.get(account) ?? 0n) + BigInt(amount))
      }
    }
    if (type === 'CallAdmitted') ends.set(data.call, ends.get(data.call) ?? 0)
    if (ENDS.has(type) && 'call' in data) ends.set(data.call, (ends.get(data.call) ?? 0) + 1)
    if (type === 'CallSettled') {
      settled.set(data.call, (settled.get(data.call) ?? 0) + 1)
      if (data.end === 'done' && data.usageSource === 'upstream') complete.add(data.call)
    }
    if (type === 'CallInterrupted') interrupted += 1
    if (type === 'CallSettled' || type === 'CallInterrupted') {
      if (data.charge > 0) {
        charged.set(data.call, (charged.get(data.call) ?? 0n) + BigInt(data.charge))
      }
    }
  }
  return {
    settled,
    complete,
    charged,
    interrupted,
    endedNotOnce: [...ends].filter(([, count]) => count !== 1).map(([call]) => call),
    balance: ledger.get('user:1:main') ?? 0n,
    held: ledger.get('user:1:held') ?? 0n,
    ledgerSum: [...ledger.values()].reduce((sum, amount) => sum + amount, 0n),
  }
}
