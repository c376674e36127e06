import { describe, expect, it } from 'vitest'
import { userStream } from '#domain/users/events.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { KEY, PROVIDER_KEY, USER } from '../support/relay-rig.ts'
import { videosRig } from './videos-rig.ts'

const STRANGER = 'strangerstrangerstrangerstrangerstrangerstranger'
const rig = startedOnce(async () => {
  const made = await videosRig()
  await made.addUser(8)
  await made.addToken(9, 8, STRANGER)
  await made.grant(8, 1_000_000_000n)
  return made
})

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(path.startsWith('http') ? path : `${rig.url}${path}`, { headers })
const owner = { authorization: `Bearer sk-${KEY}` }
const stranger = { authorization: `Bearer sk-${STRANGER}` }

const MP4 = Buffer.from('0123456789'.repeat(1_000))
const PNG = `data:image/png;base64,${Buffer.from('a picture').toString('base64')}`
const KLING_WITH_ONE_PERMIT = 750
const answerWith = (type: string) => ({
  headers: { 'content-type': type, 'content-length': `${MP4.length}`, etag: rig.vendor.url },
  pieces: [MP4],
})

/** The relay also asks about tasks of other tests, so the last request of all can be theirs. */
const lastRequestTo = (path: string) =>
  rig.vendor.requests.findLast((request) => request.path === path)

/** A finished video of OpenAI, whose file is at the vendor. */
async function finished(): Promise<string> {
  rig.vendor.answers.set('POST /v1/videos', { body: { id: 'video_1', status: 'queued' } })
  const done = { id: 'video_1', status: 'completed', seconds: '4' }
  rig.vendor.answers.set('GET /v1/videos/video_1', { body: done })
  rig.vendor.answers.set('GET /v1/videos/video_1/content', answerWith('video/mp4'))
  const { json } = await rig.post('/v1/videos', { model: 'sora-2', prompt: 'the sea' })
  await expect
    .poll(async () => (await rig.ask(`/v1/videos/${json.id}`)).json.status)
    .toBe('completed')
  return json.id as string
}

describe('the file of a video', () => {
  it('is streamed from the vendor, with the key of the channel', async () => {
    const id = await finished()
    const answer = await get(`/v1/videos/${id}/content`, { ...owner, range: 'bytes=0-9999' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('video/mp4')
    expect(JSON.stringify([...answer.headers])).not.toContain(rig.vendor.url)
    expect(Buffer.from(await answer.arrayBuffer()).equals(MP4)).toBe(true)
    expect(lastRequestTo('/v1/videos/video_1/content')?.headers).toMatchObject({
      authorization: `Bearer ${PROVIDER_KEY}`,
      range: 'bytes=0-9999',
    })
  })

  it('has the headers of GET for HEAD, with a key or by a link', async () => {
    const id = await finished()
    const link = (await rig.ask(`/v1/video/generations/${id}`)).json.data.url as string
    const path = `${rig.url}/v1/videos/${id}/content`
    const head = (url: string, headers: Record<string, string> = {}) =>
      fetch(url, { method: 'HEAD', headers })
    for (const answer of [await head(path, owner), await head(link)]) {
      expect([answer.status, await answer.text()]).toEqual([200, ''])
      expect(answer.headers.get('content-type')).toBe('video/mp4')
      expect(answer.headers.get('content-length')).toBe(`${MP4.length}`)
    }
    expect((await head(path)).status).toBe(401)
    expect((await head(path, stranger)).status).toBe(404)
  })

  it('has a link that needs no key, until it expires or is changed', async () => {
    const id = await finished()
    const { json } = await rig.ask(`/v1/video/generations/${id}`)
    const link = json.data.url as string
    expect((await get(link)).status).toBe(200)
    const expired = link.replace(/expires=\d+/, `expires=${Math.floor(Date.now() / 1_000) - 1}`)
    const later = link.replace(/expires=\d+/, 'expires=99999999999')
    const other = link.replace(id, await finished())
    for (const bad of [expired, later, other, `${rig.url}/v1/videos/${id}/content`]) {
      expect((await get(bad)).status, bad).toBe(401)
    }
  })

  it('is passed only if it is a video or a picture', async () => {
    const id = await finished()
    for (const type of ['text/html', 'application/javascript', '']) {
      rig.vendor.answers.set('GET /v1/videos/video_1/content', answerWith(type))
      const answer = await get(`/v1/videos/${id}/content`, owner)
      expect(answer.status, type).toBe(503)
      expect(await answer.text()).not.toContain('0123456789')
    }
  })

  it('is not fetched from a private address that a vendor names', async () => {
    const submit = 'POST /v1/video_generation'
    rig.vendor.answers.set(submit, { body: { task_id: 'h1', base_resp: { status_code: 0 } } })
    const done = { status: 'Success', file_id: '7', base_resp: {} }
    rig.vendor.answers.set('GET /v1/query/video_generation', { body: done })
    const private_ = { file: { download_url: 'http://127.0.0.1:9/x.mp4' } }
    rig.vendor.answers.set('GET /v1/files/retrieve', { body: private_ })
    const { json } = await rig.post('/v1/videos', { model: 'MiniMax-Hailuo-02', prompt: 'x' })
    const status = async () => (await rig.ask(`/v1/videos/${json.id}`)).json.status
    await expect.poll(status).toBe('completed')
    expect((await get(`/v1/videos/${json.id}/content`, owner)).status).toBe(404)
    const own = { file: { download_url: `${rig.vendor.url}/x.mp4` } }
    rig.vendor.answers.set('GET /v1/files/retrieve', { body: own })
    rig.vendor.answers.set('GET /x.mp4', answerWith('video/mp4'))
    expect((await get(`/v1/videos/${json.id}/content`, owner)).status).toBe(200)
    expect(lastRequestTo('/x.mp4')?.headers.authorization).toBeUndefined()
  })

  it('has a link that does not work while its owner is disabled', async () => {
    const id = await finished()
    const link = (await rig.ask(`/v1/video/generations/${id}`)).json.data.url as string
    const change = (type: 'UserDisabled' | 'UserEnabled') =>
      rig.append(userStream(USER), { type, v: 1, data: { userId: USER } })
    await change('UserDisabled')
    await expect.poll(async () => (await get(link)).status).toBe(401)
    await change('UserEnabled')
    await expect.poll(async () => (await get(link)).status).toBe(200)
  })

  it('is gone once its owner deletes the video, but not before it is finished', async () => {
    const id = await finished()
    const link = (await rig.ask(`/v1/video/generations/${id}`)).json.data.url as string
    const remove = (headers: Record<string, string>, of = id) =>
      fetch(`${rig.url}/v1/videos/${of}`, { method: 'DELETE', headers })
    expect((await remove(stranger)).status).toBe(404)
    expect(await (await remove(owner)).json()).toEqual({
      id,
      object: 'video.deleted',
      deleted: true,
    })
    expect((await remove(owner)).status).toBe(404)
    expect((await get(link)).status).toBe(401)
    expect((await get(`/v1/videos/${id}`, owner)).status).toBe(404)
    const listed = (await (await get('/v1/videos', owner)).json()) as { data: { id: string }[] }
    expect(listed.data.map((video) => video.id)).not.toContain(id)
    expect(await rig.money(id)).toEqual(['CallAdmitted', 'CallSettled'])
    rig.vendor.answers.set('GET /v1/videos/video_1', { status: 503 })
    const { json } = await rig.post('/v1/videos', { model: 'sora-2', prompt: 'the sea' })
    expect((await remove(owner, json.id)).status).toBe(400)
  })

  const remove = async (id: string) =>
    (await fetch(`${rig.url}/v1/videos/${id}`, { method: 'DELETE', headers: owner })).status
  const sentSince = (count: number) =>
    rig.vendor.requests.slice(count).map(({ method, path }) => `${method} ${path}`)

  it('leaves no gap in lists once it is deleted, however many are', async () => {
    const made: string[] = []
    for (let count = 0; count < 4; count += 1) made.push(await finished())
    const gone = made.splice(1)
    rig.vendor.answers.set('DELETE /v1/videos/video_1', { body: { deleted: true } })
    for (const id of gone) {
      const url = `${rig.url}/v1/videos/${id}`
      expect((await fetch(url, { method: 'DELETE', headers: owner })).status).toBe(200)
    }
    const list = async (query: string) => {
      const { data, ...ends } = (await rig.ask(`/v1/videos?${query}`)).json
      return { ids: data.map(({ id }: { readonly id: string }) => id) as string[], ...ends }
    }
    const { ids: all } = await list('limit=100')
    expect(all[0]).toBe(made[0])
    const first = await list('limit=2')
    const ends = { first_id: all[0], last_id: all[1], has_more: true }
    expect(first).toMatchObject({ ids: all.slice(0, 2), ...ends })
    const [last] = made
    const end = { ids: [last], first_id: last, last_id: last, has_more: false }
    expect(await list(`limit=1&order=asc&after=${all[1]}`)).toMatchObject(end)
    const nothing = { ids: [], first_id: null, last_id: null, has_more: false }
    expect(await list(`limit=1&order=asc&after=${last}`)).toMatchObject(nothing)
  })

  it('is deleted at its vendor, and stays here until the vendor answers', async () => {
    const id = await finished()
    const count = rig.vendor.requests.length
    rig.vendor.answers.set('DELETE /v1/videos/video_1', { status: 503, body: {} })
    expect(await remove(id)).toBe(502)
    expect((await get(`/v1/videos/${id}`, owner)).status).toBe(200)
    rig.vendor.answers.set('DELETE /v1/videos/video_1', { body: { deleted: true } })
    expect(await remove(id)).toBe(200)
    expect(sentSince(count)).toEqual(Array(2).fill('DELETE /v1/videos/video_1'))
  })

  it.each([404, 405, 501])('is deleted here if its vendor answers with %i', async (status) => {
    const id = await finished()
    rig.vendor.answers.set('DELETE /v1/videos/video_1', { status, body: {} })
    expect(await remove(id)).toBe(200)
  })

  it.each([
    ['a rejected key', 1004, 502],
    ['a limit', 1002, 502],
    ['an unknown error', 1000, 502],
    ['an unknown file', 2013, 200],
  ])('is kept if MiniMax reports %s with the status 200 (code %i)', async (_, code, expected) => {
    const accepted = { task_id: 'h1', base_resp: { status_code: 0 } }
    const done = { task_id: 'h1', status: 'Success', file_id: '77', base_resp: { status_code: 0 } }
    rig.vendor.answers.set('POST /v1/video_generation', { body: accepted })
    rig.vendor.answers.set('GET /v1/query/video_generation', { body: done })
    const { json } = await rig.post('/v1/videos', { model: 'MiniMax-Hailuo-02', prompt: 'sea' })
    await expect
      .poll(async () => (await rig.ask(`/v1/videos/${json.id}`)).json.status)
      .toBe('completed')
    const answer = (status_code: number) => ({ body: { file_id: 77, base_resp: { status_code } } })
    rig.vendor.answers.set('POST /v1/files/delete', answer(code))
    expect(await remove(json.id)).toBe(expected)
    if (expected === 200) return
    expect((await get(`/v1/videos/${json.id}`, owner)).status).toBe(200)
    rig.vendor.answers.set('POST /v1/files/delete', answer(0))
    expect(await remove(json.id)).toBe(200)
  })

  it('belongs to its owner', async () => {
    const id = await finished()
    for (const path of [
      ...[`/v1/videos/${id}`, `/v1/videos/${id}/content`, `/v1/video/generations/${id}`],
      ...[`/kling/v1/videos/text2video/${id}`, `/v1beta/models/m/operations/${id}`],
    ]) {
      expect((await get(path, owner)).status, path).toBe(200)
      expect((await get(path, stranger)).status, path).toBe(404)
      expect((await get(path)).status, path).toBe(401)
    }
    const list = async (headers: Record<string, string>, query = '') =>
      (await (await get(`/v1/videos${query}`, headers)).json()) as {
        readonly data: { readonly id: string }[]
        readonly has_more: boolean
      }
    expect((await list(stranger)).data).toEqual([])
    const first = await list(owner, '?limit=1')
    expect(first).toMatchObject({ data: [{ id }], has_more: true })
    expect((await list(owner, `?limit=1&after=${id}`)).data).not.toMatchObject([{ id }])
    const newest = (await list(owner, '?order=desc')).data.map((video) => video.id)
    const oldest = (await list(owner, '?order=asc')).data.map((video) => video.id)
    expect(oldest).toEqual(newest.toReversed())
    expect((await list(owner, `?order=asc&after=${oldest[0]}`)).data[0]?.id).toBe(oldest[1])
    const remix = await fetch(`${rig.url}/v1/videos/${id}/remix`, {
      method: 'POST',
      headers: { ...stranger, 'content-type': 'application/json' },
      body: '{"prompt":"at night"}',
    })
    expect(remix.status).toBe(404)
  })
})

describe('the formats of callers', () => {
  it('makes a new version of a video at the price of the first', async () => {
    const id = await finished()
    const remix = { id: 'video_2', status: 'queued' }
    rig.vendor.answers.set('POST /v1/videos/video_1/remix', { body: remix })
    const before = await rig.balance()
    const { json, text } = await rig.post(`/v1/videos/${id}/remix`, { prompt: 'at night' })
    expect(json, text).toMatchObject({ status: 'queued', remixed_from_video_id: id, seconds: '4' })
    expect(await rig.balance()).toBe(before - 200_000n)
    expect(JSON.parse(lastRequestTo('/v1/videos/video_1/remix')?.body ?? '')).toBeDefined()
  })

  it('names the members of a request for a new version that are not sent', async () => {
    const id = await finished()
    const body = { id: 'video_2', status: 'queued' }
    rig.vendor.answers.set('POST /v1/videos/video_1/remix', { body })
    const others = { seconds: '12', size: '1792x1024', model: 'sora-2-pro' }
    const { status, headers } = await rig.post(`/v1/videos/${id}/remix`, { prompt: 'x', ...others })
    expect([status, headers.get('x-dropped-members')]).toEqual([200, 'seconds, size, model'])
    const sent = JSON.parse(lastRequestTo('/v1/videos/video_1/remix')?.body ?? '')
    expect(sent).toEqual({ prompt: 'x' })
  })

  it('accepts the forms of clients, with a picture', async () => {
    await finished()
    const send = async (fields: Readonly<Record<string, string | File>>) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.append(name, value)
      const sending = { method: 'POST', headers: owner, body: form }
      const answer = await fetch(`${rig.url}/v1/videos`, sending)
      return { status: answer.status, text: await answer.text() }
    }
    const fields = { model: 'sora-2', prompt: 'the sea', seconds: '8', size: '1280x720' }
    const picture = new File([Buffer.alloc(96, 7)], 'a.png', { type: 'image/png' })
    const { status, text } = await send({ ...fields, input_reference: picture })
    expect(status, text).toBe(200)
    const { body = '' } = rig.vendor.requests.findLast(({ method }) => method === 'POST') ?? {}
    const image_url = `data:image/png;base64,${Buffer.alloc(96, 7).toString('base64')}`
    expect(JSON.parse(body)).toEqual({ ...fields, input_reference: { image_url } })
    const page = new File(['<html>'], 'a.html', { type: 'text/html' })
    expect(await send({ ...fields, input_reference: page })).toMatchObject({ status: 400 })
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`m${at}`, 'x']))
    expect(await send({ ...fields, ...many })).toMatchObject({ status: 400 })
    for (const broken of ['', '--x', '--x\r\n\r\n--x--', '--x--']) {
      const headers = { ...owner, 'content-type': 'multipart/form-data; boundary=x' }
      const sending = { method: 'POST', headers, body: broken }
      expect((await fetch(`${rig.url}/v1/videos`, sending)).status, broken).toBe(400)
    }
  })

  it('reads members of objects and elements of lists in the fields of forms', async () => {
    await finished()
    const send = async (fields: readonly (readonly [string, string])[]) => {
      const form = new FormData()
      for (const [name, value] of fields) form.append(name, value)
      const sending = { method: 'POST', headers: owner, body: form }
      rig.vendor.requests.length = 0
      const answer = await fetch(`${rig.url}/v1/videos`, sending)
      const { body } = rig.vendor.requests.find(({ method }) => method === 'POST') ?? {}
      return { status: answer.status, text: await answer.text(), body }
    }
    const fields = [
      ['model', 'sora-2'],
      ['prompt', 'the sea'],
    ] as const
    const url = ['input_reference[image_url]', PNG] as const
    for (const picture of [url, ['images[]', PNG] as const]) {
      const { status, text, body = '{}' } = await send([...fields, picture])
      expect(status, text).toBe(200)
      expect(JSON.parse(body)).toMatchObject({ input_reference: { image_url: PNG } })
    }
    const timed = await send([...fields, ['metadata[seconds]', '8']])
    expect(JSON.parse(timed.body ?? '{}')).toMatchObject({ seconds: '8' })
    const file = ['input_reference[file_id]', 'file-1'] as const
    for (const picture of [
      ...[[file], [url, file], [url, url], [url, ['input_reference', PNG] as const]],
      ...[
        [['input_reference', PNG] as const, url],
        [['images[]', PNG] as const, url, url],
      ],
      ...[[['input_reference[]', PNG] as const], [['input_reference[a][b]', PNG] as const]],
      ...[[['input_reference[image_url', PNG] as const], [['[image_url]', PNG] as const]],
    ]) {
      const { status, text, body } = await send([...fields, ...picture])
      expect([status, body], `${picture} ${text}`).toEqual([400, undefined])
    }
  })

  it('is that of Kling below /kling', async () => {
    const accepted = { code: 0, data: { task_id: 'k1' } }
    rig.vendor.answers.set('POST /v1/videos/image2video', { body: accepted })
    const image = Buffer.alloc(96, 7).toString('base64')
    const path = '/kling/v1/videos/image2video'
    const bad = await rig.post(path, { model_name: 'kling-v1-6', prompt: 'x' })
    expect(bad).toMatchObject({ status: 400, json: { code: 400, request_id: expect.any(String) } })
    const sent = { model_name: 'kling-v1-6', image, callback_url: 'https://evil.example' }
    const { json, text } = await rig.post(path, sent)
    expect(json, text).toMatchObject({ code: 0, data: { task_status: 'submitted' } })
    const { body = '' } = lastRequestTo('/v1/videos/image2video') ?? {}
    expect(JSON.parse(body)).toMatchObject({ image, duration: '5', mode: 'std' })
    expect(body).not.toContain('evil')
    const shown = await rig.ask(`${path}/${json.data.task_id}`)
    expect(shown.json.data).toMatchObject({ task_id: json.data.task_id })
  })

  it('lists videos as Kling does, in pages of those with or without a picture', async () => {
    const image = Buffer.alloc(96, 7).toString('base64')
    const made: Record<string, string[]> = { text2video: [], image2video: [] }
    for (const [index, action] of ['text2video', 'image2video', 'text2video'].entries()) {
      const accepted = { code: 0, data: { task_id: `l${index}` } }
      rig.vendor.answers.set(`POST /v1/videos/${action}`, { body: accepted })
      const picture = action === 'image2video' ? { image } : {}
      const body = { model_name: 'kling-v1-6', prompt: 'x', ...picture }
      const { json, text } = await rig.post(`/kling/v1/videos/${action}`, body)
      expect(json.code, text).toBe(0)
      made[action]?.unshift(json.data.task_id)
    }
    const list = async (action: string, query = '', headers = owner) => {
      const answer = await get(`/kling/v1/videos/${action}${query}`, headers)
      const json = (await answer.json()) as { code: number; data: { task_id: string }[] }
      return [json.code, json.data?.map(({ task_id }) => task_id).slice(0, 2)]
    }
    expect(await list('text2video')).toEqual([0, made.text2video])
    expect(await list('image2video', '?pageSize=1')).toEqual([0, made.image2video])
    const [newest, older] = made.text2video ?? []
    expect(await list('text2video', '?pageNum=1&pageSize=1')).toEqual([0, [newest]])
    expect(await list('text2video', '?pageNum=2&pageSize=1')).toEqual([0, [older]])
    expect(await list('text2video', '', stranger)).toEqual([0, []])
    for (const query of ['?pageNum=0', '?pageNum=1001', '?pageSize=101', '?pageSize=x']) {
      expect(await list('text2video', query), query).toEqual([400, undefined])
    }
  })

  it('is that of Gemini for long-running predictions', async () => {
    const model = 'veo-3.1-generate-preview'
    const name = `models/${model}/operations/o1`
    rig.vendor.answers.set(`POST /v1beta/models/${model}:predictLongRunning`, { body: { name } })
    const uri = `${rig.vendor.url}/veo.mp4`
    const generateVideoResponse = { generatedSamples: [{ video: { uri } }] }
    const done = { name, done: true, response: { generateVideoResponse } }
    rig.vendor.answers.set(`GET /v1beta/${name}`, { body: done })
    rig.vendor.answers.set('GET /veo.mp4', answerWith('video/mp4'))
    const path = `/v1beta/models/${model}:predictLongRunning`
    const body = { instances: [{ prompt: 'x' }], parameters: { durationSeconds: 4 } }
    const two = { ...body, parameters: { sampleCount: 2 } }
    expect((await rig.post(path, two)).json.error.status).toBe('INVALID_ARGUMENT')
    const { json } = await rig.post(path, body)
    expect(json.name).toMatch(/^models\/veo-3\.1-generate-preview\/operations\/0/)
    const operation = async () => (await rig.ask(`/v1beta/${json.name}`)).json
    await expect.poll(async () => (await operation()).done).toBe(true)
    const [sample] = (await operation()).response.generateVideoResponse.generatedSamples
    expect(sample.video.uri).not.toContain(rig.vendor.url)
    expect((await get(sample.video.uri)).status).toBe(200)
    expect(lastRequestTo('/veo.mp4')?.headers['x-goog-api-key']).toBe(PROVIDER_KEY)
  })

  const DOUBAO_PRO = 'doubao-seedance-1-0-pro-250528'

  it('refuses more pictures than the vendor takes, and names how many it takes', async () => {
    const before = await rig.balance()
    const [one, other] = ['https://a.example/1.png', 'https://a.example/2.png']
    const videos: readonly [model: string, body: object, param: string, most: number][] = [
      ['sora-2', { images: [one, other] }, 'images', 1],
      ['sora-2', { image: one, images: [other] }, 'images', 1],
      ['sora-2', { image: one, last_image: other }, 'last_image', 0],
      ['kling-v1-6', { images: [one, other] }, 'images', 1],
      ['wan2.5-t2v-preview', { images: [one, other] }, 'images', 1],
      ['wan2.5-t2v-preview', { image: one, last_image: other }, 'last_image', 0],
      ['MiniMax-Hailuo-02', { images: [one, other] }, 'images', 1],
      ['veo-3.1-generate-preview', { images: [one, other] }, 'images', 1],
      ['veo-3.1-generate-001', { images: [one, other] }, 'images', 1],
      ['viduq2', { images: Array(8).fill(one) }, 'images', 7],
      ['viduq2', { images: [one, other], last_image: one }, 'images', 1],
      [DOUBAO_PRO, { images: [one, other], last_image: one }, 'images', 1],
    ]
    for (const [model, body, param, most] of videos) {
      const { status, json, text } = await rig.post('/v1/videos', { model, prompt: 'x', ...body })
      expect([status, json.error.param], text).toEqual([400, param])
      expect(json.error.message).toContain(String(most))
    }
    expect(await rig.balance()).toBe(before)
  })

  it.each([
    ['/v1/videos', 'prompt', { prompt: 'a forbidden word' }],
    ['/v1/videos', 'negative_prompt', { negative_prompt: 'a forbidden word' }],
    ['/v1/videos', 'metadata.negative_prompt', { metadata: { negative_prompt: 'forbidden' } }],
  ])('screens at %s the words of %s', async (path, param, fields) => {
    await rig.setOption('SensitiveWords', 'forbidden')
    for (const key of ['CheckSensitiveEnabled', 'CheckSensitiveOnPromptEnabled']) {
      await rig.setOption(key, 'true')
    }
    const body = { model: 'kling-v1-6', prompt: 'the sea', ...fields }
    const { status, json, text } = await rig.post(path, body)
    expect([status, json.error.code], text).toEqual([400, 'sensitive_prompt'])
    expect(json.error.param).toBe(param)
    await rig.setOption('CheckSensitiveEnabled', 'false')
  })

  it('refuses what a model does not offer, and names the member', async () => {
    const before = await rig.balance()
    const [sora, kling, veo] = ['sora-2', 'kling-v1-6', 'veo-3.1-generate-preview']
    const web = 'https://a.example/1.png'
    const bad: readonly [Record<string, unknown>, string][] = [
      [{ model: sora }, 'prompt'],
      [{ prompt: 'x' }, 'model'],
      [{ model: sora, prompt: 'x', seconds: '999' }, 'seconds'],
      [{ model: sora, prompt: 'x', seconds: 5 }, 'seconds'],
      [{ model: sora, prompt: 'x', seconds: -4 }, 'seconds'],
      [{ model: sora, prompt: 'x', seconds: 4.5 }, 'seconds'],
      [{ model: sora, prompt: 'x', seconds: '4s' }, 'seconds'],
      [{ model: sora, prompt: 'x', size: 'large' }, 'size'],
      [{ model: kling, prompt: 'x', mode: 'ultra' }, 'mode'],
      [{ model: kling, prompt: 'x', duration: 60 }, 'duration'],
      [{ model: kling, prompt: 'x', images: 'x' }, 'images'],
      [{ model: kling, prompt: 'x', image: 'file:///etc/passwd' }, 'image'],
      [{ model: kling, prompt: 'x', metadata: { duration: 1_000 } }, 'metadata.duration'],
      [{ model: kling, prompt: { text: 'x' } }, 'prompt'],
      [{ model: 'wan2.5-t2v-preview', prompt: 'x', seconds: 7 }, 'seconds'],
      [{ model: 'wan2.5-t2v-preview', prompt: 'x', resolution: 'constructor' }, 'resolution'],
      [{ model: kling, prompt: 'x', aspect_ratio: 'wide' }, 'aspect_ratio'],
      [{ model: 'viduq2', prompt: 'x', aspect_ratio: '16/9' }, 'aspect_ratio'],
      [{ model: DOUBAO_PRO, prompt: 'x', aspect_ratio: 'wide' }, 'aspect_ratio'],
      [{ model: veo, prompt: 'x', aspect_ratio: 'wide' }, 'aspect_ratio'],
      [{ model: veo, prompt: 'x', image: web }, 'image'],
      [{ model: veo, prompt: 'x', image: PNG, last_image: web }, 'last_image'],
      [{ model: 'veo-3.1-generate-001', prompt: 'x', image: web }, 'image'],
    ]
    for (const [body, param] of bad) {
      const { status, text, json } = await rig.post('/v1/videos', body)
      expect(status, text).toBe(400)
      expect(json.error.param, text).toBe(param)
    }
    for (const [query, param] of [
      ['limit=0', 'limit'],
      ['order=x', 'order'],
      ['order=', 'order'],
    ]) {
      const { status, json } = await rig.ask(`/v1/videos?${query}`)
      expect([status, json.error.param]).toEqual([400, param])
    }
    expect((await rig.ask('/v1/videos/x/y')).status).toBe(404)
    expect(await rig.balance()).toBe(before)
  })

  it('names an unknown model or video, instead of a missing price or path', async () => {
    const unknown = await rig.post('/v1/videos', { model: 'unknown', prompt: 'x' })
    expect([unknown.status, unknown.json.error.code]).toEqual([404, 'model_not_found'])
    // This one has a built-in price, but no channel.
    const known = await rig.post('/v1/videos', { model: 'kling-v2-master', prompt: 'x' })
    expect([known.status, known.json.error.code]).toEqual([404, 'model_not_found'])
    await rig.addChannel(KLING_WITH_ONE_PERMIT, { type: 50, models: ['unpriced'] })
    const unpriced = await rig.post('/v1/videos', { model: 'unpriced', prompt: 'x' })
    expect([unpriced.status, unpriced.json.error.code]).toEqual([400, 'model_unpriced'])
    await rig.addChannel(KLING_WITH_ONE_PERMIT + 1, { type: 43, models: ['of-chats'] })
    await rig.setOption('ModelRatio', { 'of-chats': 1 })
    const chat = await rig.post('/v1/videos', { model: 'of-chats', prompt: 'x' })
    expect([chat.status, chat.json.error.code]).toEqual([404, 'model_not_at_endpoint'])
    await rig.addChannel(KLING_WITH_ONE_PERMIT + 2, { type: 2, models: ['mj_imagine'] })
    await rig.addChannel(KLING_WITH_ONE_PERMIT + 3, { type: 36, models: ['suno_music'] })
    for (const [model, place] of [
      ['mj_imagine', '/mj'],
      ['suno_music', '/suno'],
    ] as const) {
      for (const path of ['/v1/videos', '/kling/v1/videos/text2video', '/v1/chat/completions']) {
        const messages = [{ role: 'user', content: 'x' }]
        const { status, json } = await rig.post(path, { model, prompt: 'x', messages })
        const text = JSON.stringify(json)
        expect([path, status, text]).toEqual([path, 404, expect.stringContaining(`below ${place}`)])
      }
    }
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const messages = [{ role: 'user', content: 'x' }]
      const body = { model: 'unpriced', messages, max_tokens: 9 }
      const { status, json } = await rig.post(path, body)
      expect([path, status, JSON.stringify(json)]).toEqual([
        ...[path, 404],
        expect.stringContaining('not offered at this endpoint'),
      ])
    }
    for (const path of ['/v1/videos/video_nope', '/v1/videos/video_nope/content']) {
      const { status, json } = await rig.ask(path)
      expect([status, json.error.code], path).toEqual([404, 'task_not_found'])
    }
  })

  it.each([
    ['/kling/v1/videos/text2video', 'model_name'],
    ['/v1/video/generations', 'model'],
  ])('names the missing model as the format of %s does', async (path, param) => {
    const { status, json } = await rig.post(path, { prompt: 'x' })
    expect([status, json.error.param]).toEqual([400, param])
  })

  it('holds no permit of a channel for a video that it refuses', async () => {
    const limits = { maxConcurrency: 1, priority: 10 }
    const terms = { type: 50, models: ['kling-v2-6'], baseUrl: rig.vendor.url, ...limits }
    await rig.addChannel(KLING_WITH_ONE_PERMIT, terms)
    const video = { model: 'kling-v2-6', prompt: 'x' }
    const submitted = async () =>
      (await rig.taskEvents()).filter(({ type }) => type === 'TaskSubmitted').length
    const before = await submitted()
    for (const aspect_ratio of ['wide', '16/9']) {
      const { status, text } = await rig.post('/v1/videos', { ...video, aspect_ratio })
      expect(status, text).toBe(400)
    }
    expect(await submitted()).toBe(before)
    const accepted = { code: 0, data: { task_id: 'k1', task_status: 'submitted' } }
    rig.vendor.answers.set('POST /v1/videos/text2video', { body: accepted })
    const { status, json, text } = await rig.post('/v1/videos', video)
    expect(status, text).toBe(200)
    const [, routed] = await rig.taskEvents(json.id)
    expect(routed?.data).toMatchObject({ channelId: KLING_WITH_ONE_PERMIT })
  })
})
