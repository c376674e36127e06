import { describe, it } from 'vitest'
import { type AuditJobCommand, auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import type { AuditJobEvent } from '#domain/audit/events.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
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

const copyRequest = (id: string) => ({
  ...{ id, requestedBy: 1, requestedAt: 5, position: 9, asOf: 4 },
})
const copyRequested = (id: string): AuditJobEvent => ({
  ...{ type: 'ScratchCopyRequested', v: 1, data: copyRequest(id) },
})
const copiesEnded = (...ids: string[]): AuditJobEvent => ({
  ...{ type: 'ScratchCopiesEnded', v: 1, data: { ids, reason: 'erasure', endedAt: 8 } },
})
const copyBuilt = (id: string): AuditJobEvent => ({
  ...{ type: 'ScratchCopyBuilt', v: 1, data: { id, bytes: 7, finishedAt: 6 } },
})
const requestCopy = (id: string): AuditJobCommand => ({
  ...{ type: 'RequestScratchCopy', ...copyRequest(id), ownMax: 2 },
})
const finishCopy = (id: string): AuditJobCommand => ({
  ...{ type: 'FinishScratchCopy', id, bytes: 7, finishedAt: 6 },
})
const endCopies = (ids: string[] | null): AuditJobCommand => ({
  ...{ type: 'EndScratchCopies', ids, reason: 'erasure', endedAt: 8 },
})

describe('scratch copies', () => {
  it('are at most two that are built or can be opened', () => {
    given(copyRequested('a'), copyBuilt('a'))
      .when(requestCopy('b'))
      .then([copyRequested('b')])
    given(copyRequested('a'), copyBuilt('a'), copyRequested('b'))
      .when(requestCopy('c'))
      .then(codedError('TooManyScratchCopies', { max: 2 }))
    given(copyRequested('a'), copyRequested('b'), copiesEnded('a'))
      .when(requestCopy('c'))
      .then([copyRequested('c')])
    given(copyRequested('a'), failed('a'), copyRequested('b'))
      .when(requestCopy('c'))
      .then([copyRequested('c')])
    given(copyRequested('a')).when(requestCopy('a')).then([])
  })

  it('of a user who may have one are at most one, whatever others have', () => {
    const ofAuditor = (id: string): AuditJobCommand => ({
      ...{ type: 'RequestScratchCopy', ...copyRequest(id), requestedBy: 7, ownMax: 1 },
    })
    const data = { ...copyRequest('b'), requestedBy: 7 }
    const made: AuditJobEvent = { type: 'ScratchCopyRequested', v: 1, data }
    given(copyRequested('a')).when(ofAuditor('b')).then([made])
    given(made)
      .when(ofAuditor('c'))
      .then(codedError('TooManyOwnScratchCopies', { max: 1 }))
    given(made, copiesEnded('b'), copyRequested('a'))
      .when(ofAuditor('c'))
      .then([{ ...made, data: { ...data, id: 'c' } }])
    given(made)
      .when(requestCopy('c'))
      .then([copyRequested('c')])
  })

  it('that have ended are not built, and do not end again', () => {
    given(copyRequested('a'))
      .when(finishCopy('a'))
      .then([copyBuilt('a')])
    given(copyRequested('a'), copiesEnded('a')).when(finishCopy('a')).then([])
    given(copyRequested('a'), copyBuilt('a')).when(finishCopy('a')).then([])
    given(copyRequested('a'), failed('a')).when(endCopies(null)).then([])
    given(copyRequested('a'), copiesEnded('a'))
      .when(endCopies(['a']))
      .then([])
  })

  it('all end when a user is erased, also those that are being built', () => {
    given(copyRequested('a'), copyBuilt('a'), copyRequested('b'))
      .when(endCopies(null))
      .then([copiesEnded('a', 'b')])
    given().when(endCopies(null)).then([])
  })
})

describe('the rotation of the key of the log', () => {
  const data = { oldKey: 'site+1+a', newKey: 'site+2+b', treeSize: 7, rotatedAt: 9 }
  const rotated: AuditJobEvent = { type: 'LogKeyRotated', v: 1, data }

  it('is recorded once, whatever jobs run', () => {
    given(requested('a'), failed('a'))
      .when({ type: 'RecordKeyRotation', ...data })
      .then([rotated])
    given(rotated, requested('a'), failed('a'))
      .when({ type: 'RecordKeyRotation', ...data, rotatedAt: 10 })
      .then([])
  })
})

describe('the refusal of a witness', () => {
  const refusal = (size: number, id = `r${size}`, refusedRoot = 'A') => ({
    ...{ id, witness: 'other.example', size, refusedSize: 400, refusedRoot, refusedAt: 9 },
    reason: 'not-continued' as const,
  })
  const refused = (size: number): AuditJobEvent => ({
    ...{ type: 'WitnessRefused', v: 1, data: refusal(size) },
  })
  const record = (size: number, witness = 'other.example'): AuditJobCommand => ({
    ...{ type: 'RecordRefusedCosignature', ...refusal(size, 'again'), witness, continued: [] },
  })
  const notify = (id: string): AuditJobCommand => ({ type: 'NotifyOfFindings', id })
  const notified = (id: string): AuditJobEvent => ({
    ...{ type: 'FindingsNotified', v: 1, data: { id } },
  })

  it('is recorded once for each witness and size', () => {
    given()
      .when({ type: 'RecordRefusedCosignature', ...refusal(300), continued: [] })
      .then([refused(300)])
    given(refused(300)).when(record(300)).then([])
    for (const [size, witness] of [
      [301, 'other.example'],
      [300, 'third.example'],
    ] as const) {
      const data = { ...refusal(size, 'again'), witness }
      given(refused(300))
        .when(record(size, witness))
        .then([{ type: 'WitnessRefused', v: 1, data }])
    }
  })

  it('is recorded ten times at most, also of a witness that names other sizes', () => {
    const ten = Array.from({ length: 10 }, (_, size) => refused(size))
    given(...ten)
      .when(record(300))
      .then([])
  })

  const data = (id: string) => ({
    ...{ id, note: 'sealed:why' as Sealed, acknowledgedBy: 1, acknowledgedAt: 12 },
  })
  const acknowledge = (id: string): AuditJobCommand => ({
    ...{ type: 'AcknowledgeRefusedCosignature', ...data(id) },
  })
  const acknowledged = (size: number): AuditJobEvent => ({
    ...{ type: 'RefusalAcknowledged', v: 1 },
    data: {
      ...{ ...data(`r${size}`), witness: 'other.example', size },
      ...{ refusedSize: 400, refusedRoot: 'A' },
    },
  })

  it('is acknowledged once, and only if there is one', () => {
    given(refused(300))
      .when(acknowledge('r300'))
      .then([acknowledged(300)])
    given(refused(300), acknowledged(300)).when(acknowledge('r300')).then([])
    given(refused(300)).when(acknowledge('r301')).then(codedError('RefusalUnknown'))
  })

  it('is not recorded again once it is acknowledged, but makes room for others', () => {
    given(refused(300), acknowledged(300)).when(record(300)).then([])
    const ten = Array.from({ length: 10 }, (_, size) => refused(size))
    given(...ten, acknowledged(3))
      .when(record(300))
      .then([{ type: 'WitnessRefused', v: 1, data: refusal(300, 'again') }])
  })

  const recordGrown = (root: string, continued: string[]): AuditJobCommand => ({
    ...{ type: 'RecordRefusedCosignature', ...refusal(300, 'again', root), continued },
    refusedSize: 450,
  })
  const refusedAgain = (root: string): AuditJobEvent => ({
    ...{ type: 'WitnessRefused', v: 1 },
    data: { ...refusal(300, 'again', root), refusedSize: 450 },
  })

  it('is not recorded again while the refused history grows', () => {
    given(refused(300))
      .when(recordGrown('B', ['r300']))
      .then([])
    given(refused(300), acknowledged(300))
      .when(recordGrown('B', ['r300']))
      .then([])
  })

  it('is another one for a history that does not continue the acknowledged one', () => {
    given(refused(300), acknowledged(300))
      .when(recordGrown('B', []))
      .then([refusedAgain('B')])
    given(refused(300), acknowledged(300), refusedAgain('B'))
      .when(acknowledge('again'))
      .then([
        {
          ...{ type: 'RefusalAcknowledged', v: 1 },
          data: {
            ...{ ...data('again'), witness: 'other.example', size: 300 },
            ...{ refusedSize: 450, refusedRoot: 'B' },
          },
        },
      ])
  })

  it('of an earlier release, without a root, covers no history once it is acknowledged', () => {
    const { refusedRoot: _, ...unnamed } = refusal(300)
    const earlier: AuditJobEvent = { type: 'WitnessRefused', v: 1, data: unnamed }
    const known: AuditJobEvent = {
      ...{ type: 'RefusalAcknowledged', v: 1 },
      data: { ...data('r300'), witness: 'other.example', size: 300 },
    }
    given(earlier).when(acknowledge('r300')).then([known])
    given(earlier).when(record(300)).then([])
    given(earlier, known)
      .when(record(300))
      .then([{ type: 'WitnessRefused', v: 1, data: refusal(300, 'again') }])
  })

  it('is made known to the admins once', () => {
    given(refused(300))
      .when(notify('r300'))
      .then([notified('r300')])
    const nothing = codedError('NothingToNotify')
    given(refused(300), notified('r300')).when(notify('r300')).then(nothing)
    given(refused(300)).when(notify('r301')).then(nothing)
  })
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
