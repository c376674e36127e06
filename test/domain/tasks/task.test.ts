import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import type { TaskCommand } from '#domain/tasks/decide.ts'
import type { TaskEvent, TaskStatus } from '#domain/tasks/events.ts'
import {
  ATTEMPTS,
  accept,
  accepted,
  acceptedUnasked,
  begun,
  failed,
  given,
  HOUR,
  NOW,
  noteUnconfirmed,
  RESULT,
  report,
  sealed,
  submit,
  submitted,
  succeeded,
  succeededAt,
  unconfirmed,
} from './facts.ts'

const done = report('SUCCESS', { at: NOW + 90_000, ...RESULT })

describe('a task', () => {
  it('is submitted once, and a repeat changes nothing', () => {
    given().when(submit).then([submitted()])
    given(submitted()).when(submit).then([])
  })

  it('is accepted once, by one channel with one id', () => {
    given(submitted()).when(accept).then([accepted()])
    given(submitted(), accepted()).when(accept).then([])
    given(submitted(), accepted())
      .when({ ...accept, channelId: 5 })
      .then(codedError('TaskElsewhere'))
    given(submitted(), failed({})).when(accept).then(codedError('TaskEnded'))
  })

  it('only advances in status; late reports are not recorded', () => {
    given(submitted(), accepted()).when(report('IN_PROGRESS')).then([begun()])
    given(submitted(), accepted()).when(report('SUBMITTED')).then([])
    for (const late of ['IN_PROGRESS', 'SUBMITTED', 'NOT_START', 'QUEUED', 'UNKNOWN'] as const) {
      given(submitted(), accepted(), begun()).when(report(late)).then([])
    }
  })

  it('succeeds with the result that the provider reports', () => {
    given(submitted(), accepted(), begun())
      .when(done)
      .then([succeeded(NOW + 60_000)])
    given(submitted(), accepted())
      .when(done)
      .then([succeeded(null)])
  })

  it('ends once; any later command is refused', () => {
    const ends = [succeeded(null), failed({}), failed({ cause: 'timeout' })]
    const more: TaskCommand[] = [
      done,
      report('FAILURE'),
      report('IN_PROGRESS'),
      { type: 'ExpireTask', at: NOW + 2 * HOUR },
    ]
    for (const end of ends) {
      for (const command of more) {
        given(submitted(), accepted(), end).when(command).then(codedError('TaskEnded'))
      }
    }
  })

  it('records no report whose status is unknown', () => {
    const unknown = report('constructor' as TaskStatus)
    expect(() => given(submitted(), accepted()).when(unknown)).toThrow('known status')
  })

  it('is accepted by a callback that arrives before the provider’s answer', () => {
    given(submitted()).when(report('SUBMITTED')).then([acceptedUnasked()])
    given(submitted()).when(report('IN_PROGRESS')).then([acceptedUnasked(), begun()])
    given(submitted())
      .when(done)
      .then([acceptedUnasked(), succeeded(null)])
    given(submitted(), acceptedUnasked()).when(accept).then([])
    given(submitted(), acceptedUnasked(), succeeded(null)).when(accept).then([])
  })

  it('ignores reports of other channels and other upstream ids', () => {
    for (const elsewhere of [{ channelId: 5 }, { upstreamId: 'another' }]) {
      given(submitted(), accepted())
        .when({ ...done, ...elsewhere })
        .then(codedError('TaskElsewhere'))
    }
  })

  it('fails with the provider’s reason', () => {
    const failReason = sealed('banned')
    given(submitted(), accepted())
      .when(report('FAILURE', { at: NOW + 90_000, failReason }))
      .then([failed({ failReason })])
    const refused = { channelId: null, code: 24, failReason, cause: 'refused' } as const
    given(submitted())
      .when({ type: 'FailTask', ...refused, at: NOW + 90_000 })
      .then([failed(refused)])
    given(submitted(), accepted())
      .when({ type: 'FailTask', ...refused, at: NOW })
      .then(codedError('TaskElsewhere'))
  })

  it('expires after an hour without an outcome, and later reports are refused', () => {
    const expire = (at: number) => ({ type: 'ExpireTask', at }) as const
    const open = given(submitted(), accepted())
    open.when(expire(NOW + HOUR)).then(codedError('TaskNotOver'))
    open
      .when(expire(NOW + HOUR + 1))
      .then([failed({ cause: 'timeout', finishedAt: NOW + HOUR + 1 })])
    for (const status of ['IN_PROGRESS', 'QUEUED', 'UNKNOWN'] as const) {
      open.when(report(status, { at: NOW + HOUR + 1 })).then(codedError('TaskTooOld'))
    }
    const expired = failed({ cause: 'timeout', finishedAt: NOW + HOUR + 1 })
    given(submitted(), accepted(), expired)
      .when({ ...done, at: NOW + 2 * HOUR })
      .then(codedError('TaskEnded'))
  })

  it('ends with the outcome that its provider reports, whatever its age', () => {
    const failReason = sealed('banned')
    for (const at of [NOW + HOUR + 1, NOW + 3 * HOUR, NOW + 300 * HOUR]) {
      const end = succeededAt(at)
      given(submitted(), accepted())
        .when({ ...done, at })
        .then([end])
      given(submitted())
        .when({ ...done, at })
        .then([acceptedUnasked(), end])
      given(submitted(), accepted())
        .when(report('FAILURE', { at, failReason }))
        .then([failed({ failReason, finishedAt: at })])
    }
  })

  it('records every success that is reported while it is open, in any order of commands', () => {
    const at = fc.integer({ min: NOW, max: NOW + 5 * HOUR })
    const command = fc.oneof(
      fc.constant(accept),
      fc.constant(noteUnconfirmed),
      at.map((at) => ({ type: 'ExpireTask', at }) as const),
      fc
        .tuple(fc.constantFrom<TaskStatus>('SUBMITTED', 'QUEUED', 'IN_PROGRESS', 'FAILURE'), at)
        .map(([status, at]) => report(status, { at })),
    )
    fc.assert(
      fc.property(fc.array(command, { maxLength: 12 }), at, (commands, at) => {
        const past: TaskEvent[] = [submitted()]
        for (const one of commands) past.push(...given(...past).when(one).facts)
        const isOpen = !past.some(({ type }) => type === 'TaskFailed')
        const { outcome, facts } = given(...past).when({ ...done, at })
        const success = { type: 'TaskSucceeded', data: { finishedAt: at } }
        if (isOpen) expect(facts.at(-1)).toMatchObject(success)
        else expect(outcome).toEqual(codedError('TaskEnded'))
      }),
    )
  })

  it('expires after an hour even if it waits for its modal step', () => {
    given(submitted(), accepted('MODAL'))
      .when({ type: 'ExpireTask', at: NOW + HOUR + 1 })
      .then([failed({ cause: 'timeout', finishedAt: NOW + HOUR + 1 })])
  })

  it('expires after ten minutes without acceptance, whether or not it has a callback', () => {
    const at = NOW + HOUR / 6 + 1
    const lost = { cause: 'lost', channelId: null, finishedAt: at } as const
    for (const isNotified of [true, false]) {
      const open = given(submitted({ isNotified }))
      open.when({ type: 'ExpireTask', at }).then([failed(lost)])
      open.when({ type: 'ExpireTask', at: at - 1 }).then(codedError('TaskNotOver'))
    }
    given(submitted(), unconfirmed())
      .when({ type: 'ExpireTask', at })
      .then([failed({ ...lost, channelId: 4 })])
    given(submitted(), acceptedUnasked())
      .when({ type: 'ExpireTask', at })
      .then(codedError('TaskNotOver'))
  })

  it('ends without a result if its channel was deleted', () => {
    const command = { type: 'AbandonTask', at: NOW + 1 } as const
    const why = { cause: 'channel-deleted', channelId: 4, finishedAt: NOW + 1 } as const
    given(submitted(), accepted())
      .when(command)
      .then([failed(why)])
    given(submitted()).when(command).then(codedError('TaskNotOver'))
    given(submitted(), failed({})).when(command).then(codedError('TaskEnded'))
  })

  it('records where it was sent if the answer is lost, until a callback arrives', () => {
    given(submitted()).when(noteUnconfirmed).then([unconfirmed()])
    given(submitted(), unconfirmed()).when(noteUnconfirmed).then([])
    given(submitted(), acceptedUnasked()).when(noteUnconfirmed).then([])
    given(submitted(), failed({})).when(noteUnconfirmed).then(codedError('TaskEnded'))
    given(submitted(), unconfirmed())
      .when(report('SUBMITTED'))
      .then([acceptedUnasked({ attempts: ATTEMPTS })])
    given(submitted(), unconfirmed())
      .when({ ...accept, channelId: 5 })
      .then([{ ...accepted(), data: { ...accepted().data, channelId: 5 } } as TaskEvent])
  })

  it('is unknown if it was never submitted', () => {
    for (const command of [
      accept,
      noteUnconfirmed,
      done,
      { type: 'ExpireTask', at: NOW } as const,
    ]) {
      expect(given().when(command).outcome).toEqual(codedError('TaskUnknown'))
    }
  })
})
