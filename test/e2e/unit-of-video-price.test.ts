import { expect, it } from 'vitest'
import type { LogEntry } from '#read-api/contract/logs.ts'
import type { Pricing } from '#read-api/contract/pricing.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { addChannel, setOption, testProduct } from '#test/support/test-product.ts'
import { scriptedProvider } from '../relay/support/scripted-provider.ts'

const product = startedOnce(() => testProduct())
const vendor = startedOnce(scriptedProvider)

it('a mapped video is billed by the unit that the price list shows', async () => {
  const video = { id: 'video_1', object: 'video', seconds: '8' }
  vendor.answers.set('POST /v1/videos', { body: { ...video, status: 'queued' } })
  vendor.answers.set('GET /v1/videos/video_1', { body: { ...video, status: 'completed' } })
  await setOption(product.root, 'ModelPrice', { film: 0.2 })
  const model_mapping = '{"film":"latest","latest":"sora-2"}'
  const channel = { type: 1, base_url: vendor.url, models: 'film', model_mapping }
  await addChannel(product, channel)
  const { key } = await product.root.createToken({ name: 'studio', unlimited_quota: true })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const shown = async () => {
    const { data } = (await (await fetch(`${product.url}/api/pricing`)).json()) as Pricing
    return data.find(({ model_name }) => model_name === 'film')
  }
  await expect.poll(shown).toMatchObject({ model_price: 0.2, price_per: 'second' })
  const body = JSON.stringify({ model: 'film', prompt: 'a lighthouse', seconds: '8' })
  const submit = () => fetch(`${product.url}/v1/videos`, { method: 'POST', headers, body })
  await expect.poll(async () => (await submit()).status).toBe(200)
  const charged = async () => {
    const log = await product.root.must<{ items: LogEntry[] }>('GET', '/api/log/?model_name=film')
    return log.items.map(({ quota }) => quota)
  }
  await expect.poll(charged).toEqual([8 * 0.2 * 500_000])
})
