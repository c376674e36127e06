import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type ProviderProcess, startProviderProcess } from '#test/support/multi-process-site.ts'
import { ProductProcess } from '#test/support/product-process.ts'
import { setOption, setUpSite } from '#test/support/test-product.ts'
import { budget } from '#test/support/time-limit.ts'

let product: ProductProcess
let provider: ProviderProcess
/** Answers after some seconds. */
let slow: ProviderProcess
let key: string
let session: Record<string, string>

beforeAll(async () => {
  product = await ProductProcess.create({ ROLES: 'write-api,read-api,projections,relay' })
  // The duration of a stream is ten seconds.
  const pace = { firstByteMs: 0, gapMs: 250, answerTokens: 40 }
  ;[provider, slow] = await Promise.all([
    startProviderProcess(pace),
    startProviderProcess({ ...pace, firstByteMs: 4_000 }),
    product.start(),
  ])
  const root = await setUpSite(product.url)
  session = root.sessionHeaders
  await setOption(root, 'ModelPrice', { 'sim-small': 0.002, slow: 0.002 })
  const channel = (models: string, { url }: ProviderProcess) =>
    root.must('POST', '/api/channel/', {
      ...{ name: models, type: 1, key: 'sk-provider', base_url: url, models, group: 'default' },
    })
  await channel('sim-small', provider)
  await channel('slow', slow)
  key = (await root.createToken({ name: 'own', unlimited_quota: true })).key
})
afterAll(async () => {
  await product?.close()
  provider?.close()
  slow?.close()
})

type Row = { readonly model_name: string; readonly completion_tokens: number }

/** Returns the calls in the log, the newest first. */
async function log(): Promise<readonly Row[]> {
  const answer = await fetch(`${product.url}/api/log/?type=2`, { headers: session })
  const { data } = (await answer.json()) as { readonly data: { readonly items: readonly Row[] } }
  return data.items
}

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

it('SIGTERM makes the product unready at once; new work gets 503 and streams finish', async () => {
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
  const socket = new WebSocket(`${product.url.replace('http', 'ws')}/api/live`, {
    headers: { ...session, origin: product.url },
  })
  await once(socket, 'open')
  const sentElsewhere = once(socket, 'close')
  const stoppedAt = performance.now()
  const stopped = product.stop()
  const ready = async () => {
    const answer = await fetch(`${product.url}/readyz`)
    return [answer.status, answer.headers.get('connection')]
  }
  await expect.poll(ready).toEqual([503, 'close'])
  expect((await sentElsewhere)[0]).toBe(1012)
  expect(performance.now() - stoppedAt).toBeLessThan(budget(2_000))
  const late = await stream()
  expect([late.status, late.headers.get('connection')]).toEqual([503, 'close'])
  expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await late.json()).toMatchObject({ error: { code: 'draining' } })
  const api = await fetch(`${product.url}/api/user/self`, { headers: session })
  expect([api.status, await api.json()]).toEqual([503, expect.objectContaining({ success: false })])
  const isOpen = () =>
    fetch(`${product.url}/livez`).then(
      () => true,
      () => false,
    )
  await expect.poll(isOpen).toBe(false)
  expect(performance.now() - stoppedAt).toBeGreaterThan(4_500)
  expect(await running.text()).toContain('[DONE]')
  expect(await stopped).toBe(0)
})

it('a call half uploaded at SIGTERM is answered although the port closes meanwhile', async () => {
  await product.start()
  const body = JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'a' }] })
  const upload = request(`${product.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    },
  })
  const taken = once(upload, 'continue')
  upload.write(body.slice(0, 20))
  await taken
  const stopped = product.stop()
  const isOpen = () =>
    fetch(`${product.url}/livez`).then(
      () => true,
      () => false,
    )
  await expect.poll(isOpen).toBe(false)
  const answered = once(upload, 'response') as Promise<[IncomingMessage]>
  upload.end(body.slice(20))
  const [answer] = await answered
  expect([answer.statusCode, await text(answer)]).toEqual([
    200,
    expect.stringContaining('chat.completion'),
  ])
  expect(await stopped).toBe(0)
})

it('a plain call whose caller left before SIGTERM is read to its end and billed', async () => {
  await product.start()
  const before = (await log()).length
  const leaving = new AbortController()
  const call = fetch(`${product.url}/v1/chat/completions`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'slow', messages: [{ role: 'user', content: 'a' }] }),
  })
  await expect.poll(async () => (await slow.journal()).length).toBe(1)
  leaving.abort()
  await expect(call).rejects.toThrow()
  expect(await product.stop()).toBe(0)
  expect(await slow.journal()).toMatchObject([{ outcome: 'answered' }])
  await product.start()
  await expect.poll(async () => (await log()).length).toBe(before + 1)
  expect((await log())[0]).toMatchObject({ model_name: 'slow', completion_tokens: 40 })
  expect(await product.stop()).toBe(0)
})

it('a live reader that answers nothing delays the exit with 0 by less than 15 s', async () => {
  await product.start()
  const socket = new WebSocket(`${product.url.replace('http', 'ws')}/api/live`, {
    headers: { ...session, origin: product.url },
  })
  await once(socket, 'open')
  socket.pause()
  const stoppedAt = performance.now()
  expect(await product.stop()).toBe(0)
  // Without this, the socket would wait half a minute for its other end.
  expect(performance.now() - stoppedAt).toBeLessThan(15_000)
  socket.terminate()
})
