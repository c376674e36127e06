import { beforeAll, expect, it } from 'vitest'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import type { LogPage } from '#read-api/contract/logs.ts'
import type { SiteUsage } from '#read-api/contract/usage.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { addChannel, addUser, chat, setOption, testProduct } from '#test/support/test-product.ts'

const product = startedOnce(testProduct)
let user: ConsoleClient
let key: string

beforeAll(async () => {
  const { root } = product
  await setOption(root, 'ModelRatio', { 'sim-small': 10, 'sim-large': 10 })
  await setOption(root, 'GroupRatio', { default: 1.5 })
  await addChannel(product, { name: 'known', models: 'sim-small', cost_ratio: 0.6 })
  await addChannel(product, { name: 'unknown', models: 'sim-large' })
  user = (await addUser(root, 'shopper', 100_000_000)).client
  ;({ key } = await user.createToken({ name: 'phone', unlimited_quota: true }))
})

const site = () => product.root.must<SiteUsage>('GET', '/api/data/site')
const text = async (by: ConsoleClient, path: string): Promise<string> => {
  const response = await fetch(`${product.url}${path}`, { headers: by.sessionHeaders })
  expect(response.status).toBe(200)
  return response.text()
}

it('the provider’s cost gives the margin, for admins only; an unknown cost is not 0', async () => {
  for (const model of ['sim-small', 'sim-small', 'sim-large']) {
    expect((await chat(product.url, key, { model, max_tokens: 4 })).status).toBe(200)
  }
  // 5 + 4 tokens at ratio 10 cost 90 at list price: 135 for the group, and 54 for the provider.
  await expect.poll(async () => (await site()).totals.count).toBe(3)
  const { totals, top_models, top_channels } = await site()
  expect(totals).toMatchObject({ quota: 405, cost: 108, costed_quota: 270 })
  expect(top_models).toMatchObject([
    { model_name: 'sim-small', quota: 270, cost: 108, costed_quota: 270 },
    { model_name: 'sim-large', quota: 135, cost: 0, costed_quota: 0 },
  ])
  expect(top_channels).toMatchObject([
    { name: 'known', count: 2, quota: 270, cost: 108, costed_quota: 270 },
    { name: 'unknown', count: 1, quota: 135, cost: 0, costed_quota: 0 },
  ])
  const { items } = await product.root.must<LogPage>('GET', '/api/log/?type=2')
  expect(items.map(({ other }) => JSON.parse(other).cost)).toEqual([undefined, 54, 54])

  const own = ['/api/log/self/', '/api/log/self/export?format=ndjson', '/api/log/self/export']
  for (const path of [...own, '/api/log/self/stat', '/api/data/self/', '/api/data/self/tokens']) {
    const seen = await text(user, path)
    expect(seen.replaceAll('cost_usd', '')).not.toMatch(/cost/)
  }
  const file = await text(product.root, '/api/log/export?type=2')
  const [titles = [], ...rows] = file.split('\r\n').map((line) => line.split(','))
  const costs = rows.slice(0, 3).map((row) => row[titles.indexOf('provider_cost_usd')])
  expect(costs).toEqual(['', '0.000108', '0.000108'])
})
