import { get as httpGet, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { serve } from '#test/support/start-http-server.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { KEY, USER } from '../support/relay-rig.ts'
import { videosRig } from './videos-rig.ts'

const lines: string[] = []
const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
const rig = startedOnce(() => videosRig({}, { log }))
const owner = { authorization: `Bearer sk-${KEY}` }
const get = (path: string, headers: Record<string, string> = owner) =>
  fetch(path.startsWith('http') ? path : `${rig.url}${path}`, { headers })
const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; message: string } }).error

const MP4 = Buffer.from('0123456789'.repeat(1_000))
const fileOf = (type: string, content = MP4) => ({
  headers: { 'content-type': type, 'content-length': `${content.length}` },
  pieces: [content],
})
const sentTo = (path: string) => rig.vendor.requests.filter((request) => request.path === path)

/** Submits a video whose vendor has finished it at once. Returns its id. */
async function finished(model: string, answers: Record<string, object>): Promise<string> {
  for (const [path, answer] of Object.entries(answers)) rig.vendor.answers.set(path, answer)
  const { json, text } = await rig.post('/v1/videos', { model, prompt: 'the sea' })
  expect(json.id, text).toEqual(expect.any(String))
  const statusOf = async () => (await rig.ask(`/v1/videos/${json.id}`)).json.status
  await expect.poll(statusOf).toBe('completed')
  return json.id as string
}

const sora = () =>
  finished('sora-2', {
    'POST /v1/videos': { body: { id: 'video_1', status: 'queued' } },
    'GET /v1/videos/video_1': { body: { id: 'video_1', status: 'completed', seconds: '4' } },
    'GET /v1/videos/video_1/content': fileOf('video/mp4'),
  })

const VIDU_QUERY = 'GET /ent/v2/tasks/v1/creations'
const viduDone = (name: string, cover?: string) => ({
  body: {
    state: 'success',
    creations: [
      {
        ...{ id: 'c', url: `${rig.vendor.url}/${name}` },
        ...(cover === undefined ? {} : { cover_url: `${rig.vendor.url}/${cover}` }),
      },
    ],
  },
})
const vidu = (name: string, cover?: string) =>
  finished('viduq2', {
    'POST /ent/v2/text2video': { body: { task_id: 'v1', state: 'created' } },
    [VIDU_QUERY]: viduDone(name, cover),
  })

const DOUBAO_QUERY = 'GET /api/v3/contents/generations/tasks/d1'
const doubaoDone = (name: string) => ({
  body: {
    ...{ status: 'succeeded', content: { video_url: `${rig.vendor.url}/${name}` } },
    usage: { total_tokens: 103_818 },
  },
})

describe('a file server of a vendor that fails', () => {
  it.each([500, 502, 503, 504, 429, 408])('with %i makes the caller retry', async (status) => {
    const id = await sora()
    rig.vendor.answers.set('GET /v1/videos/video_1/content', { status })
    const answer = await get(`/v1/videos/${id}/content`)
    expect(answer.status).toBe(503)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await errorOf(answer)).code).toBe('file_fetch_failed')
  })

  it('with a time for a retry passes it on', async () => {
    const id = await sora()
    const busy = { status: 503, headers: { 'retry-after': '42' } }
    rig.vendor.answers.set('GET /v1/videos/video_1/content', busy)
    expect((await get(`/v1/videos/${id}/content`)).headers.get('retry-after')).toBe('42')
  })

  it.each([404, 410])('with %i does not, because the file is gone', async (status) => {
    const id = await sora()
    rig.vendor.answers.set('GET /v1/videos/video_1/content', { status })
    const answer = await get(`/v1/videos/${id}/content`)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([404, null])
    expect(await errorOf(answer)).toMatchObject({ code: 'video_unavailable' })
  })

  it('with a refusal of the key is not reported as a missing video', async () => {
    const id = await sora()
    for (const status of [401, 403]) {
      rig.vendor.answers.set('GET /v1/videos/video_1/content', { status })
      expect((await get(`/v1/videos/${id}/content`)).status).toBe(503)
    }
  })
})

/** A finished video of Doubao at an address that need not be the vendor's own. */
const doubao = (video_url: string) =>
  finished('doubao-seedance-1-0-pro-250528', {
    'POST /api/v3/contents/generations/tasks': { body: { id: 'd1' } },
    [DOUBAO_QUERY]: {
      body: { status: 'succeeded', content: { video_url }, usage: { total_tokens: 103_818 } },
    },
  })

describe('a link of a vendor that has expired', () => {
  it.each([403, 404, 400])('with %i is replaced by a fresh one (Vidu)', async (status) => {
    const id = await vidu('old.mp4')
    rig.vendor.answers.set('GET /old.mp4', { status })
    rig.vendor.answers.set('GET /new.mp4', fileOf('video/mp4'))
    rig.vendor.answers.set(VIDU_QUERY, viduDone('new.mp4'))
    const answer = await get(`/v1/videos/${id}/content`)
    expect(answer.status).toBe(200)
    expect(Buffer.from(await answer.arrayBuffer()).equals(MP4)).toBe(true)
  })

  it('is replaced by a fresh one, also for a range (Doubao)', async () => {
    const id = await doubao(`${rig.vendor.url}/old.mp4`)
    rig.vendor.answers.set('GET /old.mp4', { status: 403 })
    rig.vendor.answers.set('GET /new.mp4', fileOf('video/mp4'))
    rig.vendor.answers.set(DOUBAO_QUERY, doubaoDone('new.mp4'))
    const before = sentTo('/new.mp4').length
    const answer = await get(`/v1/videos/${id}/content`, { ...owner, range: 'bytes=5-' })
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
    expect(sentTo('/new.mp4').slice(before)).toMatchObject([{ headers: { range: 'bytes=5-' } }])
  })

  it('is a missing video if the vendor has no other link, or does not know the task', async () => {
    rig.vendor.answers.set('GET /old.mp4', { status: 403 })
    const gone = [viduDone('old.mp4'), { status: 404 }, { body: { state: 'failed' } }]
    for (const answer of gone) {
      const id = await vidu('old.mp4')
      rig.vendor.answers.set(VIDU_QUERY, answer)
      expect((await get(`/v1/videos/${id}/content`)).status).toBe(404)
    }
  })

  it('is a missing video if the vendor has forgotten the task (Wan)', async () => {
    const video_url = `${rig.vendor.url}/wan.mp4`
    const id = await finished('wan2.5-t2v-preview', {
      'POST /api/v1/services/aigc/video-generation/video-synthesis': {
        body: { output: { task_id: 'w1', task_status: 'PENDING' } },
      },
      'GET /api/v1/tasks/w1': { body: { output: { task_status: 'SUCCEEDED', video_url } } },
    })
    rig.vendor.answers.set('GET /wan.mp4', { status: 403 })
    const forgotten = { body: { output: { task_id: 'w1', task_status: 'UNKNOWN' } } }
    rig.vendor.answers.set('GET /api/v1/tasks/w1', forgotten)
    expect((await get(`/v1/videos/${id}/content`)).status).toBe(404)
  })

  it('makes the caller retry if the vendor can not be asked for another one', async () => {
    const id = await vidu('old.mp4')
    rig.vendor.answers.set('GET /old.mp4', { status: 403 })
    for (const answer of [{ status: 500 }, { status: 401 }, { body: 'no json' }]) {
      rig.vendor.answers.set(VIDU_QUERY, answer)
      const { status, headers } = await get(`/v1/videos/${id}/content`)
      expect([status, headers.has('retry-after')]).toEqual([503, true])
    }
  })
})

describe('the variants of a video', () => {
  it('are requested from Sora', async () => {
    const id = await sora()
    rig.vendor.answers.set('GET /v1/videos/video_1/content', fileOf('image/webp'))
    for (const variant of ['thumbnail', 'spritesheet']) {
      const answer = await get(`/v1/videos/${id}/content?variant=${variant}`)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/webp'])
      await answer.arrayBuffer()
      expect(sentTo(`/v1/videos/video_1/content?variant=${variant}`)).toHaveLength(1)
    }
    const before = sentTo('/v1/videos/video_1/content').length
    await (await get(`/v1/videos/${id}/content?variant=video`)).arrayBuffer()
    expect(sentTo('/v1/videos/video_1/content')).toHaveLength(before + 1)
  })

  it('have the picture that the vendor reports as thumbnail, also by a link', async () => {
    const id = await vidu('a.mp4', 'a.jpg')
    rig.vendor.answers.set('GET /a.mp4', fileOf('video/mp4'))
    rig.vendor.answers.set('GET /a.jpg', fileOf('image/jpeg', Buffer.from('a picture')))
    const link = (await rig.ask(`/v1/video/generations/${id}`)).json.data.url as string
    for (const path of [
      `/v1/videos/${id}/content?variant=thumbnail`,
      `${link}&variant=thumbnail`,
    ]) {
      const answer = await get(path)
      expect(answer.headers.get('content-type')).toBe('image/jpeg')
      expect(await answer.text()).toBe('a picture')
    }
    expect(await (await get(`/v1/videos/${id}/content`)).text()).toBe(MP4.toString())
    rig.vendor.answers.set('GET /a.jpg', { status: 403 })
    rig.vendor.answers.set('GET /b.jpg', fileOf('image/jpeg', Buffer.from('the same picture')))
    rig.vendor.answers.set(VIDU_QUERY, viduDone('b.mp4', 'b.jpg'))
    const fresh = await get(`/v1/videos/${id}/content?variant=thumbnail`)
    expect(await fresh.text()).toBe('the same picture')
  })

  it('that do not exist are refused, and the error names those that do', async () => {
    const [withoutCover, ofSora] = [await vidu('a.mp4'), await sora()]
    const bad = [
      [withoutCover, 'thumbnail', /: video\.$/],
      [withoutCover, 'spritesheet', /: video\.$/],
      [ofSora, 'poster', /: video, thumbnail, spritesheet\.$/],
      [ofSora, '', /: video, thumbnail, spritesheet\.$/],
    ] as const
    for (const [id, variant, text] of bad) {
      const answer = await get(`/v1/videos/${id}/content?variant=${variant}`)
      expect(answer.status).toBe(400)
      const error = await errorOf(answer)
      expect(error).toMatchObject({ param: 'variant', message: expect.stringMatching(text) })
    }
  })
})

const open: { destroy: () => void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.destroy()
})

/** Starts a download and resolves once its headers have arrived. */
const startDownload = (path: string, headers: Record<string, string> = owner) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpGet(path.startsWith('http') ? path : `${rig.url}${path}`, { headers })
    request.on('response', resolve).on('error', reject)
    open.push(request)
  })

describe('slow readers of videos', () => {
  it('block no look-ups and no other readers, and are limited per user', async () => {
    const id = await sora()
    const link = (await rig.ask(`/v1/video/generations/${id}`)).json.data.url as string
    rig.vendor.answers.set('GET /v1/videos/video_1/content', {
      ...{ headers: { 'content-type': 'video/mp4' }, pieces: [MP4] },
      keepsOpen: true,
    })
    const content = `/v1/videos/${id}/content`
    await Promise.all(Array.from({ length: 32 }, () => startDownload(content)))
    const looks = await Promise.all(Array.from({ length: 30 }, () => get(`/v1/videos/${id}`)))
    expect(new Set(looks.map(({ status }) => status))).toEqual(new Set([200]))
    // The readers of the user's links have permits of their own.
    expect((await startDownload(link, {})).statusCode).toBe(200)
    // These wait for ten seconds at most, so they start last.
    const asked = sentTo('/v1/videos/video_1/content').length
    const waiting = Array.from({ length: 8 }, () => startDownload(content))
    for (const one of waiting) one.catch(() => {})
    expect((await get(`/v1/videos/${id}`)).status).toBe(200)
    expect(sentTo('/v1/videos/video_1/content')).toHaveLength(asked)
    // A reader that leaves makes room for one that waits.
    open[0]?.destroy()
    expect((await Promise.race(waiting)).statusCode).toBe(200)
    expect(sentTo('/v1/videos/video_1/content')).toHaveLength(asked + 1)
  })
})

const MIB = 1024 * 1024
const SIZE = 100 * MIB
const PIECE = Buffer.alloc(64 * 1024, 7)

/** A vendor of one finished video of 100 MB. It counts the bytes that it was able to send. */
async function largeVideoVendor() {
  const state = { produced: 0, delivers: 'all' as 'all' | 'half' | 'nothing' }
  async function* pieces(response: ServerResponse) {
    const size = state.delivers === 'half' ? SIZE / 2 : SIZE
    for (state.produced = 0; state.produced < size; state.produced += PIECE.length) yield PIECE
    if (state.delivers === 'half') response.destroy()
  }
  const server = await serve((request, response) => {
    const { method, url } = request
    request.resume()
    if (url === '/v1/videos/large/content') {
      if (state.delivers === 'nothing') return response.destroy()
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': SIZE })
      pipeline(Readable.from(pieces(response)), response).catch(() => {})
      return
    }
    const status = method === 'POST' ? 'queued' : 'completed'
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'large', status, seconds: '4' }))
  })
  return { ...server, state }
}

describe('a video of 100 MB', () => {
  it('is no longer forwarded once the token of its reader was deleted', async () => {
    const { state, ...large } = await largeVideoVendor()
    const terms = { type: 55, models: ['sora-2-pro'], groups: ['default'], priority: 11 }
    await rig.addChannel(856, { ...terms, baseUrl: large.url })
    const id = await finished('sora-2-pro', {})
    await rig.addToken(77, USER, 'k'.repeat(48))
    const reading = await fetch(`${rig.url}/v1/videos/${id}/content`, {
      headers: { authorization: `Bearer sk-${'k'.repeat(48)}` },
    })
    expect(reading.status).toBe(200)
    await rig.append(`tokens-${USER}`, {
      ...{ type: 'TokensDeleted', v: 1, data: { userId: USER, tokenIds: [77] } },
    } as never)
    await expect.poll(() => rig.relay.inFlight()).toBe(0)
    await expect(reading.arrayBuffer()).rejects.toThrow()
    expect(state.produced).toBeLessThan(SIZE)
    await rig.append('channels', {
      ...{ type: 'ChannelsDeleted', v: 1, data: { channelIds: [856] } },
    } as never)
    await large.close()
  })

  it('is forwarded as fast as it is read, and a cut or closed transfer is reported', async () => {
    const { state, ...large } = await largeVideoVendor()
    const terms = { type: 55, models: ['sora-2-pro'], groups: ['default'], priority: 10 }
    await rig.addChannel(855, { ...terms, baseUrl: large.url })
    const id = await finished('sora-2-pro', {})
    const path = `/v1/videos/${id}/content`
    let [received, mostInFlight] = [0, 0]
    for await (const part of await startDownload(path)) {
      received += (part as Buffer).length
      mostInFlight = Math.max(mostInFlight, state.produced - received)
      // A reader that is slower than the vendor.
      await new Promise((resume) => setImmediate(resume))
    }
    expect(received).toBe(SIZE)
    // This includes the buffers of four sockets.
    expect(mostInFlight / MIB).toBeLessThan(30)
    const left = await startDownload(path)
    left.destroy()
    await expect.poll(() => rig.relay.inFlight()).toBe(0)
    const logged = () => lines.map((line) => JSON.parse(line))
    const aboutFile = { task: id, channelId: 855 }
    expect(logged().filter(({ task }) => task === id)).toEqual([])

    state.delivers = 'half'
    received = 0
    const read = async () => {
      for await (const part of await startDownload(path)) received += (part as Buffer).length
    }
    await expect(read()).rejects.toThrow(/aborted|socket hang up|ECONNRESET/)
    expect(received).toBeLessThan(SIZE)
    await expect.poll(() => logged().filter(({ task }) => task === id)).toMatchObject([aboutFile])

    state.delivers = 'nothing'
    const refused = await get(path)
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true])
    expect(await rig.money(id)).toEqual(['CallAdmitted', 'CallSettled'])
    await large.close()
  })
})
