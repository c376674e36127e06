import { describe, expect, it } from 'vitest'
import { type AuditJobCommand, auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { type Finding, Findings } from '#domain/audit/findings.ts'
import type { Rebuild, Verification } from '#read-api/contract/verifications.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from '#test/write-api/write-fixture.ts'

const site = startedOnce(seededFixture)

const context = { actor: 'system:audit', cause: null, at: 1 }

async function record(...commands: AuditJobCommand[]): Promise<void> {
  for (const command of commands) {
    await site.core.actors.handle(auditJobsDecider, AUDIT_JOBS_STREAM, command, context)
  }
}

/** Records a verification with these findings. */
const recordVerification = (id: string, findings: readonly Finding[]): Promise<void> =>
  record(
    { type: 'RequestVerification', id, requestedBy: 1, requestedAt: 1_000, mode: 'full' },
    {
      ...{ type: 'FinishVerification', id, mode: 'full', fromPosition: 0, toPosition: 9 },
      ...{ root: null, treeSize: 0, checks: [], findingCount: findings.length },
      ...{ findings, finishedAt: 2_000 },
    },
  )

const get = async <T>(path: string, language: string): Promise<T> => {
  const headers = { 'accept-language': language }
  const { status, data, message } = await site.root.call<T>('GET', path, { headers })
  if (status !== 200) throw new Error(`${status} ${message}`)
  return data
}

const details = async (id: string, language: string): Promise<string[]> => {
  const one = await get<Verification>(`/api/audit/verifications/${id}`, language)
  const { items } = await get<{ items: Verification[] }>('/api/audit/verifications', language)
  expect(items.find((item) => item.id === id)).toEqual(one)
  return one.findings.map(({ detail }) => detail)
}

describe('the findings of a verification', () => {
  it('are in the language of the request', async () => {
    const findings = new Findings()
    const place = { position: 5, stream: 'account-7', revision: 2 }
    const params = { call: 'a', charge: 6n, expected: 5n }
    findings.report('charges', place, 'ChargeDiffers', params)
    findings.report('orders', null, 'AccountEventMissing', { movement: 'order 7 refund 1' })
    await recordVerification('coded', findings.list())
    expect(await details('coded', 'zh-CN,en;q=0.5')).toEqual([
      '调用 a 扣费 6，按价格和用量应为 5',
      '订单 7 的第 1 次退款没有对应的账户事件',
    ])
    expect(await details('coded', 'en')).toEqual([
      'call a was charged 6, but price and usage give 5',
      'order 7 refund 1 has no event of the account',
    ])
    const { findings: shown } = await get<Verification>('/api/audit/verifications/coded', 'en')
    const parts = [
      { kind: 'text', value: 'call ' },
      { kind: 'call', value: 'a' },
      { kind: 'text', value: ' was charged ' },
      { kind: 'amount', value: '6' },
      { kind: 'text', value: ', but price and usage give ' },
      { kind: 'amount', value: '5' },
    ]
    const rest = { detail: expect.any(String), parts, is_acknowledged: false }
    expect(shown[0]).toEqual({ check: 'charges', ...place, ...rest })
  })

  it('of an earlier release are shown as they were stored', async () => {
    const place = { position: null, stream: null, revision: null }
    await recordVerification('stored', [{ check: 'charges', ...place, detail: 'it is too high' }])
    for (const language of ['zh', 'en']) {
      expect(await details('stored', language)).toEqual(['it is too high'])
    }
  })
})

it('a job that failed says in the language of the request where the reason is', async () => {
  const request = { requestedBy: 1, requestedAt: 1_000 }
  await record(
    { type: 'RequestVerification', id: 'failed', ...request, mode: 'full' },
    { type: 'FailAuditJob', id: 'failed', finishedAt: 2_000 },
    { type: 'RequestRebuild', id: 'rebuild', ...request, readModels: ['users'] },
    { type: 'FailAuditJob', id: 'rebuild', finishedAt: 2_000 },
  )
  const errors = async (language: string) => {
    const job = await get<Verification>('/api/audit/verifications/failed', language)
    const { items } = await get<{ items: Rebuild[] }>('/api/audit/rebuilds', language)
    return [job.error, items.find(({ id }) => id === 'rebuild')?.error]
  }
  const english = 'The log of the server says why the job failed'
  expect(await errors('en')).toEqual([english, english])
  for (const error of await errors('zh')) expect(error).toMatch(/\p{Script=Han}/u)
})
