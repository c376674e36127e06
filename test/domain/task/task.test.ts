import { describe, expect, it } from 'vitest'
import { refuse } from '#domain/shared/refusal.ts'
import type { TaskCommand } from '#domain/task/commands.ts'
import {
  accept,
  accepted,
  acceptedUnasked,
  begun,
  failed,
  given,
  HOUR,
  NOW,
  RESULT,
  report,
  sealed,
  submit,
  submitted,
  succeeded,
} from './facts.ts'

const done = report('SUCCESS', { at: NOW + 90_000, ...RESULT })

describe('a task', () => {
  it('is submitted once', () => {
    given().when(submit).then([submitted()])
    given(submitted()).when(submit).then([])
  })

  it('is accepted once, by one channel and under one id', () => {
    given(submitted()).when(accept).then([accepted()])
    given(submitted(), accepted()).when(accept).then([])
    given(submitted(), accepted())
      .when({ ...accept, channelId: 5 })
      .then(refuse('TaskElsewhere'))
    given(submitted(), failed({})).when(accept).then(refuse('TaskEnded'))
  })

  it('moves up only: what comes out of turn is no event', () => {
    given(submitted(), accepted()).when(report('IN_PROGRESS')).then([begun()])
    given(submitted(), accepted()).when(report('SUBMITTED')).then([])
    for (const late of ['IN_PROGRESS', 'SUBMITTED', 'NOT_START', 'QUEUED', 'UNKNOWN'] as const) {
      given(submitted(), accepted(), begun()).when(report(late)).then([])
    }
  })

  it('ends well with what came of it', () => {
    given(submitted(), accepted(), begun())
      .when(done)
      .then([succeeded(NOW + 60_000)])
    given(submitted(), accepted())
      .when(done)
      .then([succeeded(null)])
  })

  it('ends once, whoever comes second', () => {
    const ends = [succeeded(null), failed({}), failed({ cause: 'timeout' })]
    const more: TaskCommand[] = [
      done,
      report('FAILURE'),
      report('IN_PROGRESS'),
      { type: 'ExpireTask', at: NOW + 2 * HOUR },
    ]
    for (const end of ends) {
      for (const command of more) {
        given(submitted(), accepted(), end).when(command).then(refuse('TaskEnded'))
      }
    }
  })

  it('that calls back before it was answered is accepted by that', () => {
    given(submitted()).when(report('SUBMITTED')).then([acceptedUnasked()])
    given(submitted()).when(report('IN_PROGRESS')).then([acceptedUnasked(), begun()])
    given(submitted())
      .when(done)
      .then([acceptedUnasked(), succeeded(null)])
    given(submitted(), acceptedUnasked()).when(accept).then([])
    given(submitted(), acceptedUnasked(), succeeded(null)).when(accept).then([])
  })

  it('minds only the channel that has it', () => {
    for (const elsewhere of [{ channelId: 5 }, { upstreamId: 'another' }]) {
      given(submitted(), accepted())
        .when({ ...done, ...elsewhere })
        .then(refuse('TaskElsewhere'))
    }
  })

  it('fails with its provider’s reason', () => {
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
      .then(refuse('TaskElsewhere'))
  })

  it('expires after an hour, and then no report counts', () => {
    const expire = (at: number) => ({ type: 'ExpireTask', at }) as const
    const open = given(submitted(), accepted())
    open.when(expire(NOW + HOUR)).then(refuse('TaskNotOver'))
    open
      .when(expire(NOW + HOUR + 1))
      .then([failed({ cause: 'timeout', finishedAt: NOW + HOUR + 1 })])
    open.when({ ...done, at: NOW + HOUR + 1 }).then(refuse('TaskTooOld'))
  })

  it('that nobody has expires sooner, unless somebody may call back', () => {
    const at = NOW + HOUR / 2
    const lost = { cause: 'lost', channelId: null, finishedAt: at } as const
    given(submitted({ isNotified: false }))
      .when({ type: 'ExpireTask', at })
      .then([failed(lost)])
    given(submitted()).when({ type: 'ExpireTask', at }).then(refuse('TaskNotOver'))
  })

  it('that was never submitted is unknown', () => {
    for (const command of [accept, done, { type: 'ExpireTask', at: NOW } as const]) {
      expect(given().when(command).outcome).toEqual(refuse('TaskUnknown'))
    }
  })
})
