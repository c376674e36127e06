import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountSnapshot } from '#domain/accounts/snapshot.ts'
import {
  addEndedCall,
  ENDED_MAX,
  ENDED_MIN,
  type EndedCalls,
  findEndedCall,
  noEndedCalls,
} from '#domain/accounts/state.ts'
import { codedError, isCodedError } from '#domain/shared/coded-error.ts'
import { admitCall, admitted, funded, releaseCall, released, settleCall } from './facts.ts'

const idOf = (n: number) => `019376a0-0000-7000-8000-${String(n).padStart(12, '0')}`

/** The id of the `n`-th call that arrived at the time in Unix milliseconds. */
function timedId(time: number, n = 1): string {
  const digits = time.toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-${String(n).padStart(12, '0')}`
}

/** Ends as many calls of one time as are remembered however old they are. */
function endMany(ended: EndedCalls, time: number): string[] {
  const calls = Array.from({ length: ENDED_MIN }, (_, n) => timedId(time, n))
  for (const call of calls) addEndedCall(ended, call)
  return calls
}

/** The calls `from` to `to`, admitted and released, in the order of their ids. */
function accountAfter(from: number, to: number) {
  let state = funded(100).reduce(accountDecider.evolve, accountDecider.initialState())
  for (let n = from; n <= to; n += 1) {
    const call = idOf(n)
    const admission = admitted(1, { call })
    state = accountDecider.evolve(state, admission)
    const end = released(1)
    if (end.type === 'CallReleased') {
      state = accountDecider.evolve(state, { ...end, data: { ...end.data, call } })
    }
  }
  return state
}

describe('the memory of ended calls', () => {
  it(`recognizes the last ${ENDED_MAX} calls, and refuses any older id as ended`, () => {
    const state = accountAfter(1, ENDED_MAX + 1)
    const admit = (n: number) => accountDecider.decide(admitCall({ call: idOf(n) }), state)
    expect(state.ended.ids.size).toBe(ENDED_MAX)
    expect(admit(2)).toEqual([])
    expect(admit(ENDED_MAX + 1)).toEqual([])
    expect(admit(1)).toEqual(codedError('CallEnded'))
    expect(admit(0)).toEqual(codedError('CallEnded'))
    expect(isCodedError(admit(ENDED_MAX + 2))).toBe(false)
  })

  it('forgets no call while it holds exactly its maximum', () => {
    const state = accountAfter(1, ENDED_MAX)
    expect(accountDecider.decide(admitCall({ call: idOf(1) }), state)).toEqual([])
    expect(accountDecider.decide(admitCall({ call: idOf(0) }), state)).toHaveLength(1)
  })

  it('treats the end of a forgotten call as a repeat', () => {
    const state = accountAfter(1, ENDED_MAX + 1)
    for (const command of [settleCall({ call: idOf(1) }), releaseCall({ call: idOf(0) })]) {
      expect(accountDecider.decide(command, state)).toEqual([])
    }
  })

  it('allows an open call to end that is older than every remembered call', () => {
    const old = idOf(0)
    const first = [...funded(100), admitted(1, { call: old })]
    let state = first.reduce(accountDecider.evolve, accountDecider.initialState())
    for (let n = 1; n <= ENDED_MAX + 5; n += 1) addEndedCall(state.ended, idOf(n))
    const outcome = accountDecider.decide(releaseCall({ call: old }), state)
    if (isCodedError(outcome)) throw new Error(outcome.code)
    state = outcome.reduce(accountDecider.evolve, state)
    expect(state).toMatchObject({ balance: 100n, held: 0n })
    expect(state.ended.ids.size).toBe(ENDED_MAX)
    expect(accountDecider.decide(admitCall({ call: old }), state)).toEqual(codedError('CallEnded'))
  })

  it('is identical after a snapshot is restored', () => {
    const state = accountAfter(1, ENDED_MAX + 3)
    const text = JSON.stringify(accountSnapshot.encode(state))
    const again = accountSnapshot.decode(JSON.parse(text))
    expect(again.ended.forgottenUpTo).toBe(idOf(3))
    for (const n of [0, 3, 4, ENDED_MAX + 3, ENDED_MAX + 4]) {
      expect(findEndedCall(again.ended, idOf(n)), `call ${n}`).toBe(
        findEndedCall(state.ended, idOf(n)),
      )
    }
    addEndedCall(again.ended, idOf(ENDED_MAX + 4))
    expect(again.ended.forgottenUpTo).toBe(idOf(4))
  })

  it('forgets calls that are two days older than one that ends, but not the last 64', () => {
    const ended = noEndedCalls()
    const hour = 3_600_000
    const start = Date.UTC(2026, 10, 1)
    const at = (hours: number) => timedId(start + hours * hour)
    for (const hours of [0, 1, 24, 48, 100]) addEndedCall(ended, at(hours))
    expect([...ended.ids]).toEqual([0, 1, 24, 48, 100].map(at))
    const later = endMany(ended, start + 49.5 * hour)
    expect([...ended.ids]).toEqual([...[24, 48, 100].map(at), ...later])
    expect(findEndedCall(ended, at(1))).toBe('too-old')
    expect(findEndedCall(ended, at(1.5))).toBe('unknown')
    const last = endMany(ended, start + 200 * hour)
    expect([...ended.ids]).toEqual(last)
  })

  it('remembers calls that end after some whose clock was weeks ahead', () => {
    const ended = noEndedCalls()
    const start = Date.UTC(2026, 10, 1)
    const day = 86_400_000
    endMany(ended, start)
    for (const days of [30, 33]) addEndedCall(ended, timedId(start + days * day))
    addEndedCall(ended, timedId(start + 2))
    expect(findEndedCall(ended, timedId(start + 1))).toBe('unknown')
    expect(findEndedCall(ended, timedId(start + 2))).toBe('ended')
  })

  it('refuses the admission of a forgotten call, so that no repeat is charged twice', () => {
    const start = Date.UTC(2026, 10, 1)
    const state = funded(100).reduce(accountDecider.evolve, accountDecider.initialState())
    const old = timedId(start)
    addEndedCall(state.ended, old)
    endMany(state.ended, start + 3 * 86_400_000)
    expect(state.ended.ids.has(old)).toBe(false)
    const again = accountDecider.decide(admitCall({ call: old }), state)
    expect(again).toEqual(codedError('CallEnded'))
    expect(accountDecider.decide(settleCall({ call: old }), state)).toEqual([])
  })

  it('forgets the smallest ids first, in whatever order the calls end', () => {
    const property = fc.property(fc.uniqueArray(fc.nat(1_000_000), { maxLength: 60 }), (late) => {
      const ended = noEndedCalls()
      const fill = ENDED_MAX - 30
      for (let n = 0; n < fill; n += 1) addEndedCall(ended, idOf(2_000_000 + ((n * 7_919) % fill)))
      for (const n of late) addEndedCall(ended, idOf(n))
      const all = [...late, ...Array.from({ length: fill }, (_, n) => 2_000_000 + n)]
      const oldestFirst = all.sort((left, right) => left - right).map(idOf)
      const forgotten = oldestFirst.slice(0, Math.max(0, oldestFirst.length - ENDED_MAX))
      expect(ended.forgottenUpTo).toBe(forgotten.at(-1) ?? '')
      expect([...ended.ids].sort()).toEqual(oldestFirst.slice(forgotten.length))
    })
    fc.assert(property, { numRuns: 30 })
  })
})
