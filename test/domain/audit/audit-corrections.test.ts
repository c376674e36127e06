import { deserialize, serialize } from 'node:v8'
import { describe, expect, it } from 'vitest'
import {
  addCall,
  endOf,
  endsToRead,
  forgetProvidedEnds,
  noCallPositions,
  provideEnd,
  recordEnd,
} from '#domain/audit/admitted-calls-and-their-ends.ts'
import { applyToAudit, finishAudit } from '#domain/audit/apply-events-to-audit.ts'
import {
  addCorrectableCall,
  type CorrectableCall,
  createCorrectableCallTable,
  findCorrectableCall,
} from '#domain/audit/correctable-call-table.ts'
import { Findings } from '#domain/audit/findings.ts'
import { initialAudit } from '#domain/audit/state.ts'
import { CORRECTIONS_STREAM, type CorrectionScope } from '#domain/corrections/events.ts'
import type { Fact, Recorded } from '#domain/shared/event.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'
import {
  admitted,
  CALL,
  deducted,
  granted,
  PER_CALL,
  settled,
  USER,
  used,
  wire,
} from '../accounts/facts.ts'
import { audit, type InStream, placesOf, recordedHistory } from './audit-history.ts'

const inAccount = (fact: Fact): InStream => ({ stream: `account-${USER}`, fact })

/** A correction to a completion ratio of 2, of calls that ended in the first ten seconds. */
const started = (change: Partial<CorrectionScope> = {}, id = 'c1'): InStream => ({
  stream: CORRECTIONS_STREAM,
  fact: {
    type: 'CorrectionStarted',
    v: 1,
    data: {
      id,
      scope: {
        ...{ model: 'm', group: null, from: 0, to: 10, upTo: 100, base: 0 },
        ...{ price: { completion: '2' }, ...change },
      },
    },
  },
})

type Change = { id?: string; call?: string; batch?: number; unpaid?: number; model?: string }

const corrected = (charge: number, next: number, change: Change = {}): InStream => {
  const { id = 'c1', call = CALL, batch = 0, unpaid, model = 'm' } = change
  const rest = unpaid === undefined ? {} : { unpaid: wire(unpaid) }
  return inAccount({
    type: 'ChargeCorrected',
    v: 1,
    data: {
      ...{ userId: USER, correctionId: id, batch, model, budgets: [] },
      calls: [{ call, tokenId: 1, charge: wire(charge), corrected: wire(next), ...rest }],
      amount: wire(next - charge),
      postings: [
        [`user:${USER}:main`, wire(charge - next)],
        ['revenue', wire(next - charge)],
      ],
    },
  })
}

/** A call that was charged 30 for 10 tokens of input and 5 of output, as the third event. */
const charged = [granted(2_000_000), admitted(40), settled(40, 30)].map(inAccount)
const found = (...corrections: readonly InStream[]): string[] =>
  placesOf(audit(recordedHistory([...charged, ...corrections])))

describe('the audit of corrections', () => {
  it('accepts what the price of a started correction gives, also one after another', () => {
    expect(found(started(), corrected(30, 20))).toEqual([])
    const back = started({ price: { completion: '4' } }, 'c2')
    expect(found(started(), corrected(30, 20), back, corrected(20, 30, { id: 'c2' }))).toEqual([])
  })

  it('reports a correction of a call, or from a charge, that does not exist', () => {
    expect(found(started(), corrected(30, 20, { call: 'other' }))).toEqual(['charges at 5'])
    expect(found(started(), corrected(40, 20))).toEqual(['charges at 5'])
    expect(found(started(), corrected(30, 20), corrected(30, 20, { batch: 1 }))).toEqual([
      'charges at 6',
    ])
  })

  it('reports a correction that was never started, or was started afterwards', () => {
    expect(found(corrected(30, 1_000_030, { id: 'never-started' }))).toEqual(['charges at 4'])
    expect(found(corrected(30, 20))).toEqual(['charges at 4'])
    expect(found(corrected(30, 20), started())).toEqual(['charges at 4'])
  })

  it('reports a charge that price and usage do not give', () => {
    expect(found(started(), corrected(30, 1_000_030))).toEqual(['charges at 5'])
    expect(found(started(), corrected(30, 21))).toEqual(['charges at 5'])
    expect(found(started(), corrected(30, 0))).toEqual(['charges at 5'])
  })

  it.each<[string, Partial<CorrectionScope>]>([
    ['another model', { model: 'n' }],
    ['another group', { group: 'vip' }],
    ['a later time', { from: 4 }],
    ['an earlier time', { to: 2 }],
    ['earlier positions', { upTo: 2 }],
    ['prices per call', { price: { price: '0.01' } }],
  ])('reports a call that is not in the scope: %s', (_, change) => {
    expect(found(started(change), corrected(30, 20))).toEqual(['charges at 5'])
  })

  it('reports a correction that names another model than its scope', () => {
    expect(found(started(), corrected(30, 20, { model: 'n' }))).toEqual(['charges at 5'])
  })

  it('accepts a higher charge that was paid as far as the balance reached, and no other', () => {
    const dear = started({ price: { completion: '8' } })
    const empty = inAccount(deducted(1_999_960))
    expect(found(empty, dear, corrected(30, 40, { unpaid: 10 }))).toEqual([])
    expect(found(empty, dear, corrected(30, 40, { unpaid: 11 }))).toEqual(['charges at 6'])
    expect(found(empty, dear, corrected(30, 60, { unpaid: -10 }))).toEqual(['charges at 6'])
    // A refund is never left unpaid.
    expect(found(started(), corrected(30, 15, { unpaid: 5 }))).toEqual(['charges at 5'])
  })

  it('does not apply the rules to calls and corrections before the start of the audit', () => {
    const events = recordedHistory([...charged, started(), corrected(30, 20)])
    expect(placesOf(audit(events.slice(4), 4))).toEqual([])
  })
})

const END = { ...{ model: 'm', group: 'default', second: 1_795_000_000 }, isBilledByLine: false }

const kept = (call: CorrectableCall): CorrectableCall | null => {
  const calls = createCorrectableCallTable()
  addCorrectableCall(calls, 'one', call)
  return findCorrectableCall(calls, 'one')
}

describe('an audit that remembers the positions of ended calls', () => {
  /** Audits as a site does: the ends that a correction names are read again by their positions. */
  function found(...facts: readonly InStream[]): string[] {
    const [state, findings] = [initialAudit({ remembers: 'positions' }), new Findings()]
    const history = recordedHistory([...charged, ...facts])
    for (const event of history) {
      const { calls = [] } = event.data as { calls?: readonly { readonly call: string }[] }
      const ids = calls.map(({ call }) => call)
      forgetProvidedEnds(state.remembered)
      for (const position of endsToRead(state.remembered, ids)) {
        provideEnd(state.remembered, history[position - 1] as Recorded)
      }
      applyToAudit(state, event, findings)
    }
    finishAudit(state, findings)
    return placesOf(findings)
  }

  it('accepts and reports the same corrections', () => {
    expect(found(started(), corrected(30, 20))).toEqual([])
    const back = started({ price: { completion: '4' } }, 'c2')
    expect(found(started(), corrected(30, 20), back, corrected(20, 30, { id: 'c2' }))).toEqual([])
    expect(found(started(), corrected(30, 21))).toEqual(['charges at 5'])
    expect(found(started(), corrected(40, 20))).toEqual(['charges at 5'])
    expect(found(started(), corrected(30, 20, { call: 'other' }))).toEqual(['charges at 5'])
    expect(found(started({ upTo: 2 }), corrected(30, 20))).toEqual(['charges at 5'])
  })

  it('reports a second admission of an ended call', () => {
    expect(found(inAccount(admitted(40)), inAccount(settled(40, 30)))).toEqual(['call-ends at 4'])
  })

  it('needs at most 43 bytes per call, and knows the positions beyond 32 bits', () => {
    const calls = noCallPositions()
    const COUNT = 10_000
    const endAt = (n: number) => (n % 2 === 0 ? 2 ** 32 - 5_000 + n : null)
    let bytesMax = 0
    for (let n = 0; n < COUNT; n += 1) {
      const position = endAt(n)
      addCall(calls, `call-${n}`)
      if (position !== null) recordEnd(calls, `call-${n}`, position)
      if (n > 1_000) bytesMax = Math.max(bytesMax, calls.slots.byteLength / (n + 1))
    }
    expect(calls.size).toBe(COUNT)
    expect(bytesMax).toBeLessThanOrEqual(43)
    const ends = Array.from({ length: COUNT }, (_, n) => endOf(calls, `call-${n}`))
    expect(ends).toEqual(Array.from({ length: COUNT }, (_, n) => endAt(n)))
    expect(addCall(calls, 'call-7')).toBe(false)
    expect(endOf(calls, 'other')).toBeNull()
  })
})

describe('the ended calls of an audit', () => {
  it('keep the price and the usage of each call', () => {
    const all = used({ inputUncached: 2 ** 40, cacheRead: 127, cacheWrite5m: 128, seconds: 1 })
    const plain = { ...END, usage: all, charge: 2 ** 52, position: 3 }
    const perToken: CorrectableCall = {
      ...plain,
      price: perTokenPrice({ list: 0, completion: '4' }),
    }
    expect(kept(perToken)).toEqual(perToken)
    const conditions = ['flex' as const]
    const tools = { toolCalls: 3, tools: { web_search: 3 }, outputImage: 9, conditions }
    const full = { usage: used(tools), unpaidUsage: used({ output: 7, ...tools }), calls: 0 }
    const perCall: CorrectableCall = { ...plain, ...full, price: { ...PER_CALL, list: 0 } }
    expect(kept(perCall)).toEqual(perCall)
    const ofBatch = { ...perToken, isBilledByLine: true, calls: 128 }
    expect(kept(ofBatch)).toEqual(ofBatch)
  })

  it('leave out the revision of the price, which does not change a charge', () => {
    const call = { ...END, usage: used({}), charge: 0, position: 1 }
    const calls = createCorrectableCallTable()
    for (const list of [1, 2, 3]) {
      addCorrectableCall(calls, `call ${list}`, { ...call, price: perTokenPrice({ list }) })
    }
    expect(calls.texts).toHaveLength(2)
  })

  it('are found among many others after they were stored, in at most 80 bytes each', () => {
    let calls = createCorrectableCallTable()
    const callOf = (n: number): CorrectableCall => ({
      ...{ ...END, position: 10_000_000 + n, charge: 87 + n, price: perTokenPrice({ list: 0 }) },
      usage: used({ inputUncached: n, cacheRead: 600, output: n % 700 }),
    })
    const COUNT = 50_000
    for (let n = 0; n < COUNT; n += 1) {
      addCorrectableCall(calls, `account-${n % 9} ${n}`, callOf(n))
      if (n === COUNT / 2) calls = deserialize(serialize(calls))
    }
    for (let n = 0; n < COUNT; n += 997) {
      expect(findCorrectableCall(calls, `account-${n % 9} ${n}`)).toEqual(callOf(n))
    }
    expect(findCorrectableCall(calls, `account-1 ${COUNT}`)).toBeNull()
    expect((calls.slots.byteLength + calls.bytes.byteLength) / COUNT).toBeLessThan(80)
  })

  it('keep nothing of numbers that are not whole', () => {
    const call = { ...END, charge: 1, position: 1, price: perTokenPrice() }
    expect(kept({ ...call, usage: used({ output: -1 }) })).toBeNull()
    expect(kept({ ...call, usage: used({ output: 0.5 }) })).toBeNull()
  })
})
