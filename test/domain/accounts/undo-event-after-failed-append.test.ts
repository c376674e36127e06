import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import type { AccountEvent } from '#domain/accounts/events.ts'
import {
  type AccountState,
  addEndedCall,
  ENDED_MAX,
  noEndedCalls,
  undoAddedEndedCall,
} from '#domain/accounts/state.ts'
import { undoAccount } from '#domain/accounts/undo-event-after-failed-append.ts'
import { isCodedError } from '#domain/shared/coded-error.ts'
import { operations } from './random-operations.ts'

const RUNS = 1_000

/** Returns the content of the state, independent of the order in its maps, sets and heap. */
function contentOf(state: AccountState) {
  const { budgets, open, ended, grantIds, deductionIds, balance, held } = structuredClone(state)
  const { affiliate, inviteeIds, transferIds, checkInDay } = state
  return {
    balance,
    held,
    emptied: [state.admissions, state.emptiedAt],
    budgets: new Map([...budgets].sort(([one], [other]) => one - other)),
    open: new Map([...open].sort(([one], [other]) => (one < other ? -1 : 1))),
    ended: endedContent(ended),
    ids: [[...grantIds].sort(), [...deductionIds].sort(), [...transferIds].sort()],
    rewards: { affiliate, inviteeIds: [...inviteeIds].sort(), checkInDay },
  }
}

const endedContent = ({ ids, oldestFirst, forgottenUpTo }: AccountState['ended']) => ({
  ids: [...ids].sort(),
  heap: [...oldestFirst].sort(),
  isHeap: oldestFirst.every((call, at) => (oldestFirst[(at - 1) >> 1] ?? '') <= call),
  forgottenUpTo,
})

/** Folds the events, and then undoes them in reverse order. */
function foldAndTakeBack(state: AccountState, events: readonly AccountEvent[]): void {
  const undos = events.map((event) => {
    const undo = undoAccount(state, event)
    accountDecider.evolve(state, event)
    return undo
  })
  for (const undo of undos.reverse()) undo()
}

describe('the undo of account events after a failed append', () => {
  it('restores the previous state of the account after any events', () => {
    fc.assert(
      fc.property(operations, fc.integer({ min: 1, max: 12 }), (given, apart) => {
        const state = accountDecider.initialState()
        const waiting: AccountEvent[] = []
        for (const operation of given) {
          if (operation.kind !== 'command') continue
          const outcome = accountDecider.decide(operation.command, state)
          if (isCodedError(outcome) || outcome.length === 0) continue
          const before = contentOf(state)
          foldAndTakeBack(state, outcome)
          expect(contentOf(state)).toEqual(before)
          for (const event of outcome) accountDecider.evolve(state, event)
          waiting.push(...outcome)
        }
        // Several events are undone together, as for a batch after a conflict.
        const from = Math.max(0, waiting.length - apart)
        const again = accountDecider.initialState()
        for (const event of waiting.slice(0, from)) accountDecider.evolve(again, event)
        const before = contentOf(again)
        foldAndTakeBack(again, waiting.slice(from))
        expect(contentOf(again)).toEqual(before)
      }),
      { numRuns: RUNS },
    )
  })

  it('restores the ended calls that were forgotten because of their age', () => {
    const idAt = (hours: number) => {
      const digits = (Date.UTC(2026, 10, 1) + hours * 3_600_000).toString(16).padStart(12, '0')
      return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-${String(hours).padStart(12, '0')}`
    }
    const times = fc.uniqueArray(fc.nat(200), { minLength: 60, maxLength: 90 })
    const property = fc.property(times, fc.integer({ min: 1, max: 8 }), (hours, apart) => {
      const ended = noEndedCalls()
      const ids = hours.map(idAt)
      for (const call of ids.slice(0, -apart)) addEndedCall(ended, call)
      const before = structuredClone(ended)
      const undos = ids.slice(-apart).map((call) => {
        const undo = undoAddedEndedCall(ended, call)
        addEndedCall(ended, call)
        return undo
      })
      for (const undo of undos.reverse()) undo()
      expect(endedContent(ended)).toEqual(endedContent(before))
      expect(endedContent(ended).isHeap).toBe(true)
    })
    fc.assert(property, { numRuns: RUNS })
  })

  it('restores the ended call that was forgotten to make room', () => {
    const ended = noEndedCalls()
    const id = (n: number) => `call-${String((n * 7_919) % 100_000).padStart(6, '0')}`
    for (let n = 0; n < ENDED_MAX + 50; n += 1) addEndedCall(ended, id(n))
    for (const call of ['call-', 'call-050000x', 'call-999999']) {
      const before = structuredClone(ended)
      const undo = undoAddedEndedCall(ended, call)
      addEndedCall(ended, call)
      expect(ended.ids.size).toBe(ENDED_MAX)
      undo()
      expect(endedContent(ended)).toEqual(endedContent(before))
      expect(endedContent(ended).isHeap).toBe(true)
    }
  })
})
