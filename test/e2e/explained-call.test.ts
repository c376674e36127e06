import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CallExplanation } from '#read-api/contract/calls.ts'
import type { Receipt } from '#read-api/contract/receipts.ts'
import type { LogStatus } from '#read-api/contract/transparency-log.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import {
  addChannel,
  addUser,
  chat,
  setOption,
  type TestProduct,
  testProduct,
} from '#test/support/test-product.ts'
import { verifyChain } from '#test/support/verify-receipt-chain.ts'

const product: TestProduct = startedOnce(testProduct)
let alice: Awaited<ReturnType<typeof addUser>>
let bob: Awaited<ReturnType<typeof addUser>>
let key = ''
const calls: { id: string; text: string }[] = []

beforeAll(async () => {
  const { root } = product
  await setOption(root, 'ModelRatio', { 'sim-small': 1.25 })
  await setOption(root, 'RetryTimes', '2')
  await addChannel(product, { name: 'channel-one', priority: 10 })
  await addChannel(product, { name: 'channel-two' })
  alice = await addUser(root, 'alice', 500_000)
  bob = await addUser(root, 'bob', 500_000)
  key = (await alice.client.createToken({ name: 'desk', unlimited_quota: true })).key
})

const explain = async (id: string, who = product.root): Promise<CallExplanation> => {
  const read = () => who.must<CallExplanation>('GET', `/api/audit/calls/${id}`)
  await expect
    .poll(() =>
      read().then(
        ({ status }) => status,
        () => 'unknown',
      ),
    )
    .toBe('settled')
  return await read()
}

describe('a call of the complete product', () => {
  it('is answered by the second channel', async () => {
    const messages = [{ role: 'user', content: 'Hello' }]
    for (const stream of [false, true]) {
      product.provider.script.push({ kind: 'status', status: 500 })
      let call = { id: '', text: '' }
      const send = async (): Promise<number> => {
        const sent = await chat(product.url, key, { model: 'sim-small', messages, stream })
        call = { id: sent.requestId, text: sent.text }
        return sent.status
      }
      await expect.poll(send).toBe(200)
      calls.push(call)
    }
  })

  it('is explained to the unit, with the price that root has set', async () => {
    for (const { id } of calls) {
      const call = await explain(id)
      expect(call).toMatchObject({
        ...{ username: 'alice', token_name: 'desk', model: 'sim-small', raised_holds: [] },
        arithmetic: { is_exact: true, charge: call.end?.charge },
        usage: { source: 'upstream', raw: expect.stringContaining('prompt_tokens') },
      })
      expect(call.end?.charge).toBeGreaterThan(0)
      const price = call.price?.in_force.find(({ option }) => option === 'ModelRatio')
      expect(price).toMatchObject({ name: 'sim-small', value: '1.25', set_by: { name: 'root' } })
      const { admission, end } = call
      expect(admission?.held_after).toBe(admission?.hold)
      expect(end?.balance_after).toBe(
        (admission?.balance_after ?? 0) + (admission?.hold ?? 0) - (end?.charge ?? 0),
      )
    }
  })

  it('has the evidence of the attempt that answered, and the reason of each retry', async () => {
    const [plain, streamed] = await Promise.all(calls.map(({ id }) => explain(id)))
    const attempt = plain?.attempts.at(-1)
    const { length: bytes } = calls[0]?.text ?? ''
    const sha256 = createHash('sha256')
      .update(calls[0]?.text ?? '')
      .digest('hex')
    expect(attempt).toMatchObject({
      ...{ channel_name: 'channel-two', status: 200, error: null },
      evidence: { host: new URL(product.provider.url).host, received: { bytes, sha256 } },
    })
    expect(streamed?.attempts.at(-1)?.evidence?.received?.bytes).toBeGreaterThan(0)
    expect(plain?.attempts).toMatchObject([
      { channel_name: 'channel-one', error: 'status', status: 500, reason: 'first' },
      { channel_name: 'channel-two', reason: 'another-channel', after_error: 'status' },
    ])
  })

  it('shows its owner nothing of the operator, and others nothing at all', async () => {
    const [{ id } = { id: '' }] = calls
    const explained = await explain(id, alice.client)
    expect(JSON.stringify(explained)).not.toMatch(/127\.0\.0\.1:|channel-(?:one|two)/)
    // The login name of an admin would help to attack the account.
    const price = explained.price?.in_force.find(({ option }) => option === 'ModelRatio')
    expect(price).toMatchObject({ value: '1.25', set_by: { id: 1, name: '' } })
    await expect(bob.client.must('GET', `/api/audit/calls/${id}`)).rejects.toThrow()
    await expect(bob.client.must('GET', `/api/audit/receipts/${id}`)).rejects.toThrow()
  })

  it('is in a complete statement, which its owner verifies with the key of the site', async () => {
    const path = '/api/ledger/self/receipts'
    const read = () => alice.client.must<{ items: Receipt[] }>('GET', path)
    const isSealed = async () => (await read()).items.every(({ is_pending }) => !is_pending)
    await expect.poll(isSealed, { interval: 500 }).toBe(true)
    const { items } = await read()
    const { key } = await alice.client.must<LogStatus>('GET', '/api/transparency-log/status')
    expect(verifyChain(items, { site: [key ?? ''] })).toEqual([])
    const { quota } = await alice.client.must<{ quota: number }>('GET', '/api/user/self')
    expect(items.findLast((one) => one.balance_after !== null)?.balance_after).toBe(quota)
    const types = items.map(({ record }) => record.type)
    expect(types.filter((type) => type === 'CallSettled').length).toBeGreaterThanOrEqual(2)
    expect(verifyChain(items.toSpliced(2, 1), { site: [key ?? ''] })).not.toEqual([])
  })
})
