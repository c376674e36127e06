import { afterAll, beforeAll, expect, it } from 'vitest'
import { ConsoleClient } from '#infra/demo/console-client.ts'
import { PASSWORD, setOption } from '#test/support/product.ts'
import { ProductProcess } from '#test/support/product-process.ts'
import { type ProviderProcess, startProviderProcess } from '#test/support/site.ts'

let product: ProductProcess
let provider: ProviderProcess
let key: string

beforeAll(async () => {
  product = await ProductProcess.create({ ROLES: 'write-api,read-api,projections,relay' })
  // A stream takes ten seconds.
  const pace = { firstByteMs: 0, gapMs: 250, answerTokens: 40 }
  ;[provider] = await Promise.all([startProviderProcess(pace), product.start()])
  const root = new ConsoleClient(product.url)
  await root.setUp('root', PASSWORD)
  await root.logIn('root', PASSWORD)
  await setOption(root, 'ModelPrice', { 'sim-small': 0.002 })
  await root.must('POST', '/api/channel/', {
    name: 'simulated',
    type: 1,
    key: 'sk-provider',
    base_url: provider.url,
    models: 'sim-small',
    group: 'default',
  })
  key = (await root.createToken({ name: 'own', unlimited_quota: true })).key
}, 60_000)
afterAll(async () => {
  await product?.remove()
  provider?.close()
})

const stream = () =>
  fetch(`${product.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sim-small',
      stream: true,
      messages: [{ role: 'user', content: 'a' }],
    }),
  })

it('SIGTERM: unready at once, but calls are taken for 5 s; streams finish', async () => {
  await expect
    .poll(
      async () =>
        (
          await fetch(`${product.url}/v1/models`, {
            headers: { authorization: `Bearer ${key}` },
          })
        ).status,
    )
    .toBe(200)
  const running = await stream()
  expect(running.status).toBe(200)
  const stoppedAt = performance.now()
  const stopped = product.stop()
  const ready = async () => {
    const answer = await fetch(`${product.url}/readyz`)
    return [answer.status, answer.headers.get('connection')]
  }
  await expect.poll(ready).toEqual([503, 'close'])
  const late = await stream()
  expect([late.status, late.headers.get('connection')]).toEqual([200, 'close'])
  const isOpen = () =>
    fetch(`${product.url}/livez`).then(
      () => true,
      () => false,
    )
  await expect.poll(isOpen).toBe(false)
  expect(performance.now() - stoppedAt).toBeGreaterThan(4_500)
  const texts = await Promise.all([running.text(), late.text()])
  expect(texts.filter((text) => text.includes('[DONE]'))).toHaveLength(2)
  expect(await stopped).toBe(0)
}, 60_000)
