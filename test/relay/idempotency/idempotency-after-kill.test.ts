import { beforeAll, expect, it } from 'vitest'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { startSimulatedProvider } from '#infra/demo/simulated-provider.ts'
import { startProductProcess } from '#test/support/product-process.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { addChannel, PASSWORD, setOption, setUpSite } from '#test/support/test-product.ts'

const provider = startedOnce(startSimulatedProvider)
const product = startedOnce(() =>
  startProductProcess({ ROLES: 'write-api,read-api,projections,relay' }),
)
let root: ConsoleClient
let key: string
beforeAll(async () => {
  root = await setUpSite(product.url)
  await addChannel({ root, provider })
  await setOption(root, 'ModelRatio', { 'sim-small': 1 })
  key = (await root.createToken({ name: 'keyed', unlimited_quota: true })).key
})

const call = (idempotencyKey: string, isStream: boolean) =>
  fetch(`${product.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify({
      model: 'sim-small',
      stream: isStream,
      messages: [{ role: 'user', content: 'hello' }],
    }),
  })

const codeOf = async (answer: Response): Promise<unknown> =>
  ((await answer.json()) as { error: { code: unknown } }).error.code

it('a key of a completed or interrupted call is still claimed after kill -9', async () => {
  const over = await call('over', false)
  expect(over.status).toBe(200)
  await over.text()
  provider.script.push({ kind: 'stall', at: 'mid-stream' })
  const cutOff = await call('cut off', true)
  expect(cutOff.status).toBe(200)
  const cut = cutOff.text().catch(() => 'cut')
  expect(provider.journal.count).toBe(2)

  await product.kill()
  expect(await cut).toBe('cut')
  await product.start()
  await root.logIn('root', PASSWORD)
  const quota = async () => (await root.must<{ quota: number }>('GET', '/api/user/self')).quota
  const before = await quota()
  expect(await codeOf(await call('over', false))).toBe('idempotency_replayed')
  expect(await codeOf(await call('cut off', true))).toBe('idempotency_in_progress')
  expect(provider.journal.count).toBe(2)
  expect(await quota()).toBe(before)
})
