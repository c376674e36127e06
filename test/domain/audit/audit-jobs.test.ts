import { describe, it } from 'vitest'
import { type AuditJobCommand, auditJobsDecider } from '#domain/audit/decide.ts'
import type { AuditJobEvent } from '#domain/audit/events.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

const { given } = specificationOf(auditJobsDecider)

const verify = (id: string, mode: 'full' | 'incremental' = 'full'): AuditJobCommand => ({
  type: 'RequestVerification',
  ...{ id, requestedBy: 1, requestedAt: 5, mode },
})
const requested = (id: string): AuditJobEvent => ({
  ...{ type: 'VerificationRequested', v: 1 },
  data: { id, requestedBy: 1, requestedAt: 5, mode: 'full' },
})
const failed = (id: string): AuditJobEvent => ({
  ...{ type: 'AuditJobFailed', v: 1 },
  data: { id, finishedAt: 9 },
})

describe('verifications and rebuilds', () => {
  it('run one at a time', () => {
    given()
      .when(verify('a'))
      .then([requested('a')])
    given(requested('a'))
      .when(verify('b', 'incremental'))
      .then(codedError('VerificationRunning', { id: 'a' }))
    given(requested('a'), failed('a'))
      .when(verify('b'))
      .then([requested('b')])
  })

  it('a repeated request and a late end change nothing', () => {
    given(requested('a')).when(verify('b')).then([])
    const fail: AuditJobCommand = { type: 'FailAuditJob', id: 'a', finishedAt: 9 }
    given(requested('a'))
      .when(fail)
      .then([failed('a')])
    given(requested('a'), failed('a')).when(fail).then([])
    given().when(fail).then([])
  })

  it('a rebuild may run beside a verification', () => {
    const rebuild = { id: 'r', requestedBy: 1, requestedAt: 5, readModels: ['users'] }
    given(requested('a'))
      .when({ type: 'RequestRebuild', ...rebuild })
      .then([{ type: 'RebuildRequested', v: 1, data: rebuild }])
  })
})
