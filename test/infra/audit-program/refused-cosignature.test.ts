import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Findings } from '#domain/audit/findings.ts'
import { recordsOf } from '#infra/audit-program/open-sealed-log.ts'
import { compareEarlierRoots } from '#infra/audit-program/verify-transparency-log.ts'
import type { LogStatus } from '#read-api/contract/transparency-log.ts'
import type { Verification } from '#read-api/contract/verifications.ts'
import { type TestProduct, testProduct } from '#test/support/test-product.ts'
import { checkpointSigner } from './checkpoint-signer.ts'

const WAIT = { timeout: 90_000, interval: 200 }

/** A witness that has signed a larger history of this site, and so refuses the present one. */
const witness = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(409).end('900000\n'))
})
const NAME = 'witness.example/witness'
let product: TestProduct

beforeAll(async () => {
  await new Promise<void>((resolve) => witness.listen(0, '127.0.0.1', resolve))
  const { port } = witness.address() as { port: number }
  const { key } = checkpointSigner(NAME, 4)
  const witnesses = [{ key, url: `http://127.0.0.1:${port}` }]
  product = await testProduct({ transparencyLog: { witnesses, quorum: 1 } })
}, 180_000)

afterAll(async () => {
  await product.close()
  witness.closeAllConnections()
  await new Promise((resolve) => witness.close(resolve))
})

describe('a witness that refuses the history', { timeout: 240_000 }, () => {
  const status = async (): Promise<LogStatus> => {
    const answer = await fetch(`${product.url}/api/transparency-log/status`)
    return ((await answer.json()) as { data: LogStatus }).data
  }

  it('is in the public status, and the admins are notified of it once', async () => {
    const refusal = { witness: NAME, size: 900_000 }
    await expect.poll(async () => (await status()).refusals, WAIT).toMatchObject([refusal])
    expect((await status()).latest).toMatchObject({ is_final: false })
    type Messages = { items: { id: number; title: string }[] }
    const notices = async () => {
      const { items } = await product.root.must<Messages>('GET', '/api/user/messages')
      return items.filter(({ title }) => title.includes('A witness refuses'))
    }
    await expect.poll(notices, WAIT).toHaveLength(1)
  })

  async function verify(mode: 'full' | 'incremental'): Promise<Verification> {
    const { id } = await product.root.must<{ id: string }>(
      ...(['POST', '/api/audit/verifications', { mode }] as const),
    )
    const read = () => product.root.must<Verification>('GET', `/api/audit/verifications/${id}`)
    await expect.poll(async () => (await read()).status, WAIT).toBe('finished')
    return await read()
  }

  it('is a finding of each verification, which continues the last one all the same', async () => {
    const full = await verify('full')
    const next = await verify('incremental')
    expect(next).toMatchObject({ mode: 'incremental', from_position: full.to_position })
    for (const { findings, finding_count: count } of [full, next]) {
      expect(count).toBe(1)
      const found = { check: 'witnesses', stream: 'audit-jobs', is_acknowledged: false }
      expect(findings).toMatchObject([found])
      expect(findings[0]?.detail).toContain(NAME)
    }
  })

  it('leaves the roots of these verifications to be compared with a later log', async () => {
    const { core } = product.running
    const anchors = await recordsOf(core).readStream('audit-jobs', 0, 1_000)
    const seal = {
      ...{ roots: new Map(), size: 0, start: { size: 0, position: 0 }, unsealed: null },
      anchors: anchors.filter(({ type }) => type === 'VerificationFinished'),
    }
    const findings = new Findings()
    await compareEarlierRoots(core, null, seal, findings)
    expect(findings.list()[0]).toMatchObject({ code: 'EarlierRootDiffers' })
  })

  it('is listed, and no longer counted, once an admin has acknowledged it', async () => {
    const [{ id } = { id: '' }] = (await status()).refusals
    const path = (refusal: string) => `/api/audit/refusals/${refusal}/acknowledge`
    const blank = await product.root.call('POST', path(id), { reason: ' ' })
    expect(blank).toMatchObject({ status: 400, message: expect.stringContaining('reason') })
    const unknown = await product.root.call('POST', path('other'), { reason: 'restored' })
    expect(unknown.status).toBe(404)
    await product.root.must('POST', path(id), { reason: 'restored from a backup' })
    await product.root.must('POST', path(id), { reason: 'sent twice' })
    const verified = await verify('incremental')
    expect(verified).toMatchObject({ mode: 'incremental', finding_count: 0 })
    expect(verified.findings).toMatchObject([{ check: 'witnesses', is_acknowledged: true }])
    const shown = { witness: NAME, acknowledged_at: expect.any(Number) }
    expect((await status()).refusals).toMatchObject([shown])
    type Acts = { items: { reason: string; after: object }[] }
    const { items } = await product.root.must<Acts>(
      ...(['GET', '/api/audit/log?act=refusal-acknowledged'] as const),
    )
    const act = { after: { witness: NAME, signed_events: 900_000 } }
    expect(items).toMatchObject([{ ...act, reason: 'restored from a backup' }])
  })

  it('is an act of the audit log', async () => {
    type Acts = { items: { act: string; after: object }[] }
    const { items } = await product.root.must<Acts>(
      ...(['GET', '/api/audit/log?act=witness-refused'] as const),
    )
    expect(items).toMatchObject([{ after: { witness: NAME, signed_events: 900_000 } }])
  })
})
