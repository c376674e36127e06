import { describe, expect, it } from 'vitest'
import { type AuditJobCommand, auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import type { VerificationFinished } from '#domain/audit/events.ts'
import { detailIn } from '#domain/audit/findings.ts'
import { golden, story } from './story.ts'

const NOW = 1_795_248_000_000

const request = (id: string): AuditJobCommand => ({
  ...{ type: 'RequestVerification', id, requestedBy: null, requestedAt: NOW, mode: 'full' },
})

const finding = {
  ...{ check: 'charges', position: 5, stream: 'account-7', revision: 2 },
  detail: 'call a was charged 6, but price and usage give 5',
}
const coded = {
  ...finding,
  ...{ code: 'ChargeDiffers', params: { call: 'a', charge: '6', expected: '5' } },
}
const resultOf = (id: string, one: typeof finding): VerificationFinished['data'] => ({
  ...{ id, mode: 'full', fromPosition: 0, toPosition: 9, root: null, treeSize: 0 },
  ...{ checks: [{ check: 'charges', count: 2, findings: 1 }], findingCount: 1 },
  ...{ findings: [one], finishedAt: NOW + 9_000 },
})
const jobOf = (id: string, one: typeof finding) => ({
  kind: 'verification',
  request: { id, requestedBy: null, requestedAt: NOW, mode: 'full' },
  ...{ result: resultOf(id, one), failure: null, isNotified: false },
})

describe('the events of verifications, as first recorded', () => {
  story(
    'findings with a sentence only, and with a code',
    auditJobsDecider,
    [
      ['verification-requested-v1', request('v1')],
      ['verification-finished-v1', { type: 'FinishVerification', ...resultOf('v1', finding) }],
      ['verification-requested-coded-v1', request('v2')],
      ['verification-finished-coded-v1', { type: 'FinishVerification', ...resultOf('v2', coded) }],
    ],
    {
      ...{ verifications: [jobOf('v1', finding), jobOf('v2', coded)], rebuilds: [] },
      ...{ scratchCopies: [], rotatedKeys: [], refusals: [] },
    },
  )

  it('show a finding without a code as it was stored, and others in the language', () => {
    const details = ['verification-finished-v1', 'verification-finished-coded-v1'].map((name) => {
      const { findings } = golden(name).data as VerificationFinished['data']
      return findings.map((one) => [detailIn('zh', one), detailIn('en', one)])
    })
    const chinese = '调用 a 扣费 6，按价格和用量应为 5'
    expect(details).toEqual([[[finding.detail, finding.detail]], [[chinese, finding.detail]]])
  })
})
