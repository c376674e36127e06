import { expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { addChannel, chat, setOption, testProduct } from '#test/support/test-product.ts'

const product = startedOnce(() => testProduct())

it('a key looks up what is left and used of its budget after a call', async () => {
  await addChannel(product)
  await setOption(product.root, 'ModelRatio', { 'sim-small': 1.25 })
  const budget = { name: 'laptop', unlimited_quota: false, remain_quota: 1_000_000 }
  const { key } = await product.root.createToken(budget)
  const look = async (path: string) => {
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${product.url}${path}`, { headers })
    return { status: response.status, body: await response.json() }
  }
  await expect.poll(async () => (await look('/api/usage/token')).status).toBe(200)
  expect((await look('/v1/dashboard/billing/subscription')).body).toMatchObject({
    object: 'billing_subscription',
    hard_limit_usd: 2,
  })
  const messages = [{ role: 'user', content: 'Hello' }]
  await chat(product.url, key, { model: 'sim-small', messages })
  const used = async () => {
    const { data } = (await look('/api/usage/token')).body as { data: Record<string, number> }
    return data
  }
  await expect.poll(async () => (await used()).total_used).toBeGreaterThan(0)
  const { total_used: spent = 0, ...others } = await used()
  expect(others).toMatchObject({
    name: 'laptop',
    total_granted: 1_000_000,
    total_available: 1_000_000 - spent,
    unlimited_quota: false,
  })
  const { body } = await look('/dashboard/billing/usage')
  expect(body.total_usage).toBeCloseTo((spent / 500_000) * 100, 3)
})
