import { describe, expect, it } from 'vitest'
import {
  type CorrectionsState,
  correctionsDecider,
  findRunning,
} from '#domain/corrections/decide.ts'
import type { CorrectionScope } from '#domain/corrections/events.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { toWire } from '#domain/shared/quota.ts'

const scopeOf = (changes: Partial<CorrectionScope> = {}): CorrectionScope => ({
  ...{ model: 'm', group: null, from: 100, to: 200, price: { model: '1' }, upTo: 9, base: 0 },
  ...changes,
})

const start = (id: string, scope: CorrectionScope) =>
  ({
    ...({ type: 'StartCorrection', id, scope, note: '' as Sealed, requestedBy: 1 } as const),
    ...{
      planned: { calls: 1, accounts: 1, refunded: toWire(1n), charged: toWire(0n) },
      startedAt: 1,
    },
  }) as const

type Command = Parameters<typeof correctionsDecider.decide>[0]

function stateAfter(...commands: Command[]): CorrectionsState {
  let state = correctionsDecider.initialState()
  for (const command of commands) {
    const decided = correctionsDecider.decide(command, state)
    if ('code' in decided) throw new Error(decided.code)
    for (const event of decided) state = correctionsDecider.evolve(state, event)
  }
  return state
}

const SAME_CALLS: [string, Partial<CorrectionScope>][] = [
  ['the same scope', {}],
  ['one of its groups', { group: 'vip' }],
  ['a part of its time', { from: 200, to: 300 }],
]
const OTHER_CALLS: [string, Partial<CorrectionScope>][] = [
  ['another model', { model: 'n' }],
  ['a later time', { from: 201, to: 300 }],
]

describe('corrections of charges', () => {
  it.each(SAME_CALLS)('of %s wait for each other', (_name, changes) => {
    const running = stateAfter(start('a', scopeOf()))
    const scope = scopeOf({ ...changes, base: 1 })
    expect(correctionsDecider.decide(start('b', scope), running)).toEqual(
      codedError('CorrectionRunning', { id: 'a' }),
    )
    expect(findRunning(running.corrections, scope)?.id).toBe('a')
    const finished = stateAfter(start('a', scopeOf()), {
      ...({ type: 'FinishCorrection', id: 'a', finishedAt: 2 } as const),
    })
    expect(correctionsDecider.decide(start('b', scope), finished)).toHaveLength(1)
    // A preview from before the other correction has other charges.
    const outdated = start('b', { ...scope, base: 0 })
    expect(correctionsDecider.decide(outdated, finished)).toEqual(
      codedError('CorrectionPreviewOutdated'),
    )
  })

  it.each(OTHER_CALLS)('of %s do not wait', (_name, changes) => {
    const running = stateAfter(start('a', scopeOf()))
    expect(correctionsDecider.decide(start('b', scopeOf(changes)), running)).toHaveLength(1)
    expect(findRunning(running.corrections, scopeOf(changes))).toBeNull()
  })

  it('of different groups do not wait', () => {
    const running = stateAfter(start('a', scopeOf({ group: 'vip' })))
    const other = start('b', scopeOf({ group: 'default' }))
    expect(correctionsDecider.decide(other, running)).toHaveLength(1)
  })

  it('cannot claim a preview of the future', () => {
    const scope = scopeOf({ base: 1 })
    expect(correctionsDecider.decide(start('a', scope), stateAfter())).toEqual(
      codedError('CorrectionPreviewOutdated'),
    )
  })

  it('record the accounts that failed, at most a hundred', () => {
    const failed = Array.from({ length: 101 }, (_, userId) => ({ userId, calls: 1, code: 'X' }))
    const finish = { type: 'FinishCorrection', id: 'a', finishedAt: 2, failed } as const
    const { corrections } = stateAfter(start('a', scopeOf()), finish, finish)
    expect(corrections[0]).toMatchObject({ finishedAt: 2 })
    expect(corrections[0]?.failed).toHaveLength(100)
  })
})
