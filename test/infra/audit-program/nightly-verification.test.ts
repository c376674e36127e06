import { describe, expect, it } from 'vitest'
import type { VerificationJob } from '#domain/audit/decide-audit-jobs.ts'
import type { VerificationMode } from '#domain/audit/events.ts'
import type { FindingCode } from '#domain/audit/finding-texts.ts'
import { nextNightlyRun, nightlyMode } from '#infra/audit-program/run-audit-jobs.ts'

describe('the nightly verification', () => {
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour).getTime()

  it('is due at three in the morning, local time', () => {
    expect(nextNightlyRun(at(5, 1), at(4, 3))).toBe(at(5, 3))
    expect(nextNightlyRun(at(5, 3), at(5, 3))).toBe(at(6, 3))
    expect(nextNightlyRun(at(5, 12), null)).toBe(at(6, 3))
  })

  it('is made up for soon after a start if it was missed', () => {
    expect(nextNightlyRun(at(5, 12), at(3, 3))).toBe(at(5, 12) + 15 * 60_000)
  })

  const ended = (requestedAt: number, mode: VerificationMode, codes: FindingCode[] = []) => {
    const place = { position: null, stream: null, revision: null }
    const findings = codes.map((code) => ({ check: 'records', code, detail: code, ...place }))
    const request = { id: `${requestedAt}`, requestedBy: null, requestedAt, mode }
    const result = {
      ...{ ...request, fromPosition: 0, toPosition: 9, root: null, treeSize: 0, findings },
      ...{ checks: [], findingCount: codes.length, finishedAt: requestedAt + 20 * 60_000 },
    }
    const job = { kind: 'verification', request, result, failure: null, isNotified: false }
    return job as VerificationJob
  }

  it('is a full one in the seventh night, however long the last full one took', () => {
    const verifications = [ended(at(1, 3) + 1_000, 'full'), ended(at(7, 3), 'incremental')]
    expect(nightlyMode({ verifications }, at(7, 3))).toBe('incremental')
    expect(nightlyMode({ verifications }, at(8, 3))).toBe('full')
  })

  it('is a full one if the last full one has stopped, although a later one found nothing', () => {
    const stopped = ended(at(5, 3), 'full', ['VerificationStopped'])
    const verifications = [stopped, ended(at(5, 12), 'incremental')]
    expect(nightlyMode({ verifications }, at(6, 3))).toBe('full')
    const made = [ended(at(5, 3), 'full'), ended(at(5, 12), 'incremental')]
    expect(nightlyMode({ verifications: made }, at(6, 3))).toBe('incremental')
  })
})
