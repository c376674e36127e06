import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { isCodedError } from '#domain/shared/coded-error.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { type Operation, operations, USER } from '../accounts/random-operations.ts'
import { audit, type InStream, recordedHistory } from './audit-history.ts'

/** Decides the commands of the operations. All events are at the same time. */
function historyOf(steps: readonly Operation[]): Recorded[] {
  let state = accountDecider.initialState()
  const facts: InStream[] = []
  for (const step of steps) {
    if (step.kind !== 'command') continue
    const outcome = accountDecider.decide(step.command, state)
    if (isCodedError(outcome)) continue
    for (const fact of outcome) {
      facts.push({ stream: accountStream(USER), fact, at: 1_000 })
      state = accountDecider.evolve(state, JSON.parse(JSON.stringify(fact)))
    }
  }
  return recordedHistory(facts)
}

/** The fields whose change alters money. */
const MONEY = ['amount', 'reward', 'hold', 'added', 'charge', 'fromBalance', 'balanceAfter']

/** Returns the history with one amount or one posting raised by 1, or null if it has none. */
function withChangedAmount(events: readonly Recorded[], at: number): Recorded[] | null {
  const places = events.flatMap(({ data }, index) => {
    const { postings = [], ...fields } = data as { postings?: unknown[] }
    const amounts = Object.keys(fields).filter((name) => MONEY.includes(name))
    return [...amounts, ...postings.keys()].map((name) => ({ index, name }))
  })
  const place = places[at % places.length]
  if (place === undefined) return null
  const changed = structuredClone(events) as Recorded[]
  const data = changed[place.index]?.data as Record<string, unknown> & {
    postings: [string, number][]
  }
  if (typeof place.name === 'string') data[place.name] = (data[place.name] as number) + 1
  else {
    const posting = data.postings[place.name]
    if (posting !== undefined) posting[1] += 1
  }
  return changed
}

describe('the audit of random histories of an account', () => {
  it('reports nothing for what the account decided', () => {
    fc.assert(
      fc.property(operations, (steps) => {
        const findings = audit(historyOf(steps))
        expect(findings.list()).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  it('reports any amount that was changed by one unit', () => {
    fc.assert(
      fc.property(operations, fc.nat(10_000), (steps, at) => {
        const changed = withChangedAmount(historyOf(steps), at)
        if (changed !== null) expect(audit(changed).total()).toBeGreaterThan(0)
      }),
      { numRuns: 500 },
    )
  })

  it('reports an event that was removed, repeated or swapped', () => {
    fc.assert(
      fc.property(operations, fc.nat(1_000), (steps, at) => {
        const events = historyOf(steps)
        const index = at % Math.max(1, events.length - 1)
        const [one, next] = [events[index], events[index + 1]]
        if (one === undefined || next === undefined) return
        expect(audit(events.toSpliced(index, 1)).total()).toBeGreaterThan(0)
        expect(audit(events.toSpliced(index, 0, one)).total()).toBeGreaterThan(0)
        expect(audit(events.with(index, next).with(index + 1, one)).total()).toBeGreaterThan(0)
      }),
      { numRuns: 200 },
    )
  })

  it('reports nothing for a part of a history, whose beginning it does not know', () => {
    fc.assert(
      fc.property(operations, fc.nat(1_000), (steps, at) => {
        const events = historyOf(steps)
        const start = at % Math.max(1, events.length)
        expect(audit(events.slice(start), start).list()).toEqual([])
      }),
      { numRuns: 300 },
    )
  })
})
