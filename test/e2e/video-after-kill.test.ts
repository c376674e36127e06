import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ScriptedProvider, scriptedProvider } from '#test/relay/support/scripted-provider.ts'
import { ProductProcess } from '#test/support/product-process.ts'
import { setUpSite } from '#test/support/test-product.ts'
import { budget } from '#test/support/time-limit.ts'

let product: ProductProcess
let vendor: ScriptedProvider
let key: string
let session: Record<string, string>

beforeAll(async () => {
  product = await ProductProcess.create()
  ;[vendor] = await Promise.all([scriptedProvider(), product.start()])
  const root = await setUpSite(product.url)
  session = root.sessionHeaders
  await root.must('POST', '/api/channel/', {
    ...{ name: 'videos', type: 55, key: 'sk-provider', base_url: vendor.url },
    ...{ models: 'sora-2', group: 'default' },
  })
  await root.must('POST', '/api/channel/', {
    ...{ name: 'kling', type: 50, key: 'access|secret', base_url: vendor.url },
    ...{ models: 'kling-v1-6', group: 'default' },
  })
  key = (await root.createToken({ name: 'own', unlimited_quota: true })).key
})
afterAll(async () => {
  await product?.close()
  await vendor?.close()
})

type Row = { readonly model_name: string; readonly quota: number }

async function log(): Promise<readonly Row[]> {
  const answer = await fetch(`${product.url}/api/log/?type=2`, { headers: session })
  const { data } = (await answer.json()) as { readonly data: { readonly items: readonly Row[] } }
  return data.items
}

const call = (path: string, init: RequestInit = {}) =>
  fetch(`${product.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
const jsonOf = async (path: string, init: RequestInit = {}) =>
  (await (await call(path, init)).json()) as { id: string; status: string; data: { url: string } }

/** Returns the error for a length that no vendor makes. It is checked once a channel is known. */
const errorOf = async (model: string) => {
  const body = JSON.stringify({ model, prompt: 'the sea', seconds: '99' })
  return (await call('/v1/videos', { method: 'POST', body })).text()
}

async function restart(): Promise<void> {
  await product.kill()
  await product.start()
}

const PATIENT = { timeout: budget(60_000), interval: 200 }
const MP4 = Buffer.alloc(1_000_000, 7)
const [QUERY, CONTENT] = ['GET /v1/videos/video_1', 'GET /v1/videos/video_1/content']

it('a video outlives kills of all processes, and is charged once', async () => {
  vendor.answers.set('POST /v1/videos', { body: { id: 'video_1', status: 'queued' } })
  vendor.answers.set(QUERY, { body: { id: 'video_1', status: 'in_progress' } })
  const body = JSON.stringify({ model: 'sora-2', prompt: 'the sea' })
  // A request that is repeated after a lost answer would make a second video.
  await expect.poll(() => errorOf('sora-2'), PATIENT).toContain('seconds')
  const { id } = await jsonOf('/v1/videos', { method: 'POST', body })

  await product.kill()
  vendor.answers.set(QUERY, { body: { id: 'video_1', status: 'completed', seconds: '4' } })
  await product.start()
  await expect
    .poll(async () => (await jsonOf(`/v1/videos/${id}`)).status, PATIENT)
    .toBe('completed')

  const headers = { 'content-type': 'video/mp4', 'content-length': `${2 * MP4.length}` }
  vendor.answers.set(CONTENT, { headers, pieces: [MP4], keepsOpen: true })
  const link = (await jsonOf(`/v1/video/generations/${id}`)).data.url
  const download = await new Promise<IncomingMessage>((resolve, reject) => {
    get(link, resolve).on('error', reject)
  })
  const read = async () => {
    let length = 0
    for await (const part of download) {
      length += (part as Buffer).length
      if (length === MP4.length) await restart()
    }
  }
  await expect(read()).rejects.toThrow('aborted')

  vendor.answers.set(CONTENT, { headers, pieces: [MP4, MP4] })
  const again = await fetch(link)
  expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([200, 2 * MP4.length])
  // $0.1 for each of four seconds.
  await expect.poll(log, PATIENT).toMatchObject([{ model_name: 'sora-2', quota: 200_000 }])
  const all = await Promise.all(Array.from({ length: 20 }, () => jsonOf(`/v1/videos/${id}`)))
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['completed']))
  expect(await log()).toHaveLength(1)
})

it('a video that a vendor accepted before a kill is found by our id and charged once', async () => {
  const submissions = () => vendor.requests.filter(({ path }) => path.endsWith('/text2video'))
  await expect.poll(() => errorOf('kling-v1-6'), PATIENT).toContain('seconds')
  vendor.answers.set('POST /v1/videos/text2video', { hangs: true })
  const body = JSON.stringify({ model: 'kling-v1-6', prompt: 'the sea', seconds: '5' })
  const unanswered = call('/v1/videos', { method: 'POST', body }).catch(() => null)
  await expect.poll(submissions, PATIENT).toHaveLength(1)
  await product.kill()
  expect(await unanswered).toBeNull()

  const sent = JSON.parse(submissions()[0]?.body ?? '') as { readonly external_task_id: string }
  const id = sent.external_task_id
  const videos = [{ url: `${vendor.url}/k.mp4`, duration: '5' }]
  const searched = `GET /v1/videos/text2video/${id}`
  vendor.answers.set(searched, { body: { code: 0, data: { task_id: 'k1' } } })
  vendor.answers.set('GET /v1/videos/text2video/k1', {
    body: { code: 0, data: { task_status: 'succeed', task_result: { videos } } },
  })
  await product.start()
  await expect
    .poll(async () => (await jsonOf(`/v1/videos/${id}`)).status, PATIENT)
    .toBe('completed')
  // $0.056 for each of five seconds.
  const ofKling = async () => (await log()).filter(({ model_name: name }) => name === 'kling-v1-6')
  await expect.poll(ofKling, PATIENT).toMatchObject([{ quota: 140_000 }])
})
