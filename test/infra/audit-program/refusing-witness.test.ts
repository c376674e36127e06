import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
  product = await testProduct({ witnesses: [{ key, url: `http://127.0.0.1:${port}` }] })
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

  it('is a finding of each verification', async () => {
    for (const mode of ['full', 'incremental']) {
      const { id } = await product.root.must<{ id: string }>(
        ...(['POST', '/api/audit/verifications', { mode }] as const),
      )
      const read = () => product.root.must<Verification>('GET', `/api/audit/verifications/${id}`)
      await expect.poll(async () => (await read()).status, WAIT).toBe('finished')
      const { findings } = await read()
      expect(findings).toMatchObject([{ check: 'witnesses', stream: 'audit-jobs' }])
      expect(findings[0]?.detail).toContain(NAME)
    }
  })

  it('is an act of the audit log', async () => {
    type Acts = { items: { act: string; after: object }[] }
    const { items } = await product.root.must<Acts>(
      ...(['GET', '/api/audit/log?act=witness-refused'] as const),
    )
    expect(items).toMatchObject([{ after: { witness: NAME, signed_events: 900_000 } }])
  })
})
