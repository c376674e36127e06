import { beforeEach, describe, expect, it } from 'vitest'
import { explainPrice } from '#console/features/usage-log/price-explanation.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { otherOfSettled } from '#projections/logs/log-row-details.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const [PER_IMAGE, PER_TOKEN] = ['dall-e-3', 'gpt-image-1']
const [GENERATIONS, EDITS] = ['/v1/images/generations', '/v1/images/edits']
const EMBEDDINGS = '/v1/embeddings'
const FILE = 'file-provider1'
const OUTPUT = 'file-output1'
const UPSTREAM = 'batch_provider1'
const IMAGE = { b64_json: 'aGVsbG8=' }
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => relayRig({ batchPollEveryMs: 3_600_000 }))

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  const models = [PER_IMAGE, PER_TOKEN]
  await rig.addChannel(2, { type: 1, baseUrl: provider.url, models })
  await rig.setOption('ModelPrice', { [PER_IMAGE]: 0.04 })
  await rig.setOption('ModelRatio', { [PER_TOKEN]: 2.5 })
  await rig.setOption('CompletionRatio', { [PER_TOKEN]: 8 })
  await rig.grant(7, 1_000_000_000n)
  provider.answers.set('POST /v1/files', { body: { id: FILE, object: 'file' } })
  describeAs({ status: 'in_progress' })
})

function describeAs(state: object): void {
  const body = { id: UPSTREAM, object: 'batch', input_file_id: FILE, ...state }
  provider.answers.set('POST /v1/batches', { body })
  provider.answers.set(`GET /v1/batches/${UPSTREAM}`, { body })
}

async function send(method: string, path: string, body?: FormData | object) {
  const isForm = body instanceof FormData
  const type: Record<string, string> = isForm ? {} : { 'content-type': 'application/json' }
  const response = await fetch(`${rig.url}${path}`, {
    method,
    headers: { authorization: `Bearer sk-${KEY}`, ...type },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, json: () => JSON.parse(text) }
}

type Line = { readonly model: string } & Readonly<Record<string, unknown>>

async function upload(url: string, bodies: readonly Line[]) {
  const lines = bodies.map((body, at) => {
    const prompt = url === EMBEDDINGS ? {} : { prompt: 'A dot' }
    const line = { custom_id: `${at}`, method: 'POST', url, body: { ...prompt, ...body } }
    return `${JSON.stringify(line)}\n`
  })
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new Blob(lines), 'lines.jsonl')
  const uploaded = await send('POST', '/v1/files', form)
  provider.answers.set(`GET /v1/files/${FILE}/content`, { body: lines.join('') })
  return uploaded
}

const create = (input_file_id: string, endpoint: string) =>
  send('POST', '/v1/batches', { input_file_id, endpoint, completion_window: '24h' })

async function submit(url: string, bodies: readonly Line[]): Promise<string> {
  const uploaded = await upload(url, bodies)
  expect(uploaded.status, uploaded.text).toBe(200)
  const created = await create(uploaded.json().id, url)
  expect(created.status, created.text).toBe(200)
  return created.json().id
}

/** Completes the batch with these answers, and returns the charges of its parts. */
async function chargesOf(batch: string, answers: readonly object[]) {
  const request_counts = { total: answers.length, completed: answers.length, failed: 0 }
  describeAs({ status: 'completed', output_file_id: OUTPUT, request_counts })
  const lines = answers.map((body, at) => {
    const response = { status_code: 200, request_id: 'theirs', body }
    return JSON.stringify({ id: 'theirs', custom_id: `${at}`, response, error: null })
  })
  provider.answers.set(`GET /v1/files/${OUTPUT}/content`, { body: `${lines.join('\n')}\n` })
  await send('GET', `/v1/batches/${batch}`)
  const settled = async () =>
    (await rig.callEvents()).flatMap((event) => (event.type === 'CallSettled' ? [event.data] : []))
  await expect.poll(async () => (await settled()).length).toBeGreaterThan(0)
  return (await settled()).map(({ charge }) => charge)
}

it('embeddings that are too long for memory are billed by their usage, and passed on', async () => {
  await rig.addChannel(3, { type: 1, baseUrl: provider.url, models: ['embedder'] })
  await rig.setOption('ModelRatio', { embedder: 2 })
  const input = Array.from({ length: 2_048 }, () => 'A dot')
  const batch = await submit(EMBEDDINGS, [{ model: 'embedder', input }])
  const embedding = Array.from({ length: 2_048 }, (_, at) => at / 3_000)
  const data = input.map((_, index) => ({ object: 'embedding', index, embedding }))
  const usage = { prompt_tokens: 4_096, total_tokens: 4_096 }
  const body = { object: 'list', data, model: 'theirs', usage }
  expect(JSON.stringify(body).length).toBeGreaterThan(33 * 1024 * 1024)
  expect(await chargesOf(batch, [body])).toEqual([4_096])
  const { output_file_id: file } = (await send('GET', `/v1/batches/${batch}`)).json()
  const { text } = await send('GET', `/v1/files/${file}/content`)
  const { response, ...line } = JSON.parse(text)
  expect(line).toEqual({ id: `batch_req_${response.request_id}`, custom_id: '0', error: null })
  expect(text).not.toContain('theirs')
  expect(JSON.stringify(response.body) === JSON.stringify({ ...body, model: 'embedder' })).toBe(
    true,
  )
})

const holds = async () =>
  (await rig.callEvents()).flatMap((event) =>
    event.type === 'CallAdmitted' ? [event.data.hold] : [],
  )

describe('a batch of images', () => {
  it('is held for all requested images, and charged for the delivered ones at half', async () => {
    const large = { model: PER_IMAGE, size: '1792x1024' }
    const batch = await submit(GENERATIONS, [
      { model: PER_IMAGE, n: 3 },
      { model: PER_IMAGE, quality: 'hd' },
      large,
    ])
    // $0.02 for each image at half price, twice as much for a large or an HD image.
    expect(await holds()).toEqual([30_000, 40_000])
    const charges = await chargesOf(batch, [
      { created: 1, data: [IMAGE, IMAGE] },
      { created: 1, data: [IMAGE] },
      { created: 1, data: [IMAGE] },
    ])
    expect(charges).toEqual([20_000, 40_000])
    const rows = (await rig.callEvents()).flatMap((event) =>
      event.type === 'CallSettled' ? [otherOfSettled(event.data).other] : [],
    )
    const explained = rows.map((row, at) => explainPrice(row, BigInt(charges[at] ?? 0)))
    expect(explained).toMatchObject([
      { isExact: true, terms: [{ name: 'calls', count: 2 }] },
      { isExact: true, terms: [{ name: 'calls', count: 2 }] },
    ])
  })

  it.each([
    [PER_IMAGE, 200],
    [PER_TOKEN, 400],
  ])('of %s counts towards the limits on tokens as it is billed', async (model, status) => {
    await rig.setOption('ModelRequestRateLimitTokensPerMinute', '5000')
    await rig.setOption('ModelRequestRateLimitEnabled', 'true')
    const uploaded = await upload(GENERATIONS, [{ model }, { model }])
    const created = await create(uploaded.json().id, GENERATIONS)
    expect(created.status, created.text).toBe(status)
  })

  it('is charged for reported tokens, and for the held ones if none are reported', async () => {
    const line = { model: PER_TOKEN, size: '1024x1024', quality: 'low' }
    const batch = await submit(GENERATIONS, [line, line, line])
    const usage = { input_tokens: 10, output_tokens: 272, total_tokens: 282 }
    const [charge = 0] = await chargesOf(batch, [
      { data: [IMAGE], usage },
      { data: [IMAGE] },
      // An answer without an image costs nothing.
      { data: [] },
    ])
    const reported = ((10 + 272 * 8) * 2.5) / 2
    expect(charge).toBeGreaterThan(reported + (272 * 8 * 2.5) / 2)
    expect(charge).toBeLessThan(reported * 2.1)
  })

  it('may edit pictures that are given by address, and none by file id', async () => {
    const images = [{ image_url: 'https://pictures.example/a.png' }]
    const batch = await submit(EDITS, [{ model: PER_TOKEN, images }])
    const usage = { input_tokens: 300, output_tokens: 1_056, total_tokens: 1_356 }
    expect(await chargesOf(batch, [{ data: [IMAGE], usage }])).toEqual([
      ((300 + 1_056 * 8) * 2.5) / 2,
    ])
    const refused = await upload(EDITS, [{ model: PER_TOKEN, images: [{ file_id: 'file-1' }] }])
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('file_id')])
  })

  it('is charged for the held input at most if the provider reports no usage', async () => {
    const image_url = `data:image/png;base64,${'A'.repeat(1_000_000)}`
    const batch = await submit(EDITS, [{ model: PER_TOKEN, images: [{ image_url }] }])
    const [charge = 0] = await chargesOf(batch, [{ data: [IMAGE] }])
    // A picture is held as 8 000 tokens, and an image of unknown size as 6 240.
    expect(charge).toBeLessThan(((8_000 + 500 + 6_240 * 8) * 2.5) / 2)
    expect(charge).toBeLessThanOrEqual(Number((await holds())[0]))
  })

  it.each([
    // A pixel has four bytes, or three if no part of the image can be transparent.
    [{}, 4],
    [{ background: 'auto' }, 4],
    [{ background: 'opaque' }, 6],
    [{ output_format: 'jpeg' }, 6],
    [{ output_format: 'webp' }, 4],
    // Eight of these fill 32 MiB without the JSON around them.
    [{ size: '1024x1024', background: 'opaque' }, 8],
    [{ size: '1024x1024' }, 6],
    [{ size: '3840x2160' }, 2],
    [{ size: '99999x99999' }, 2],
    // Providers make images of the usual size instead.
    [{ size: '1x1' }, 4],
    [{ size: '99999x1', background: 'opaque' }, 6],
    [{ size: '0x0' }, 4],
  ])('refuses so many images in one line that a result may be too long: %j', async (size, n) => {
    const refused = await upload(GENERATIONS, [{ model: PER_TOKEN, ...size, n }])
    expect(refused.status, refused.text).toBe(400)
    expect(refused.text).toContain('line 1: body.n')
    expect((await upload(GENERATIONS, [{ model: PER_TOKEN, ...size, n: n - 1 }])).status).toBe(200)
  })

  it.each([
    { size: '256x256' },
    { size: '512x512' },
    { size: '1024x1024', response_format: 'url' },
  ])('may request ten images in one line: %j', async (fields) => {
    expect((await upload(GENERATIONS, [{ model: PER_TOKEN, ...fields, n: 10 }])).status).toBe(200)
  })

  it('refuses streamed images', async () => {
    const { status, text } = await upload(GENERATIONS, [{ model: PER_TOKEN, stream: true }])
    expect([status, text]).toEqual([400, expect.stringContaining('line 1: body.stream')])
  })

  it('is refused for videos with an error that lists the endpoints', async () => {
    const url = '/v1/videos'
    const batch = await create('file-1', url)
    const file = await upload(url, [{ model: PER_TOKEN }])
    for (const { status, text } of [batch, file]) {
      expect(status, text).toBe(400)
      expect(JSON.parse(text).error).toMatchObject({ code: 'invalid_parameter' })
      expect(text).toContain(`${GENERATIONS}, ${EDITS}`)
    }
  })
})
