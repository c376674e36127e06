import { beforeEach, describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { KEY } from '../support/relay-rig.ts'
import { VIDEO_SCRIPTS, type VideoScript } from './video-scripts.ts'
import { videosRig } from './videos-rig.ts'

let aheadMs = 0
const rig = startedOnce(() => videosRig({}, { now: () => Date.now() + aheadMs }))
const HOUR_S = 3_600
const owner = { authorization: `Bearer sk-${KEY}` }

beforeEach(() => {
  aheadMs = 0
})

/** A finished video of a vendor, as the caller sees it in both formats. */
async function finished(vendor: string, done: object = {}) {
  const { model, body, submit, accepted, query, done: made } = VIDEO_SCRIPTS[vendor] as VideoScript
  const address = `${rig.vendor.url}/files/${vendor}.mp4`
  const answer = { body: { ...(made(address) as object), ...done } }
  const isOnePath = submit === query
  rig.vendor.answers.set(submit, { body: accepted, ...(isOnePath ? { next: answer } : {}) })
  if (!isOnePath) rig.vendor.answers.set(query, answer)
  rig.vendor.answers.set(`GET /files/${vendor}.mp4`, {
    headers: { 'content-type': 'video/mp4' },
    pieces: [Buffer.from('a video')],
  })
  const { json } = await rig.post('/v1/videos', { model, prompt: 'the sea', ...body })
  const video = async () => (await rig.ask(`/v1/videos/${json.id}`)).json
  await expect.poll(async () => (await video()).status).toBe('completed')
  const link = (await rig.ask(`/v1/video/generations/${json.id}`)).json.data.url as string
  const linkedFor = Number(new URL(link).searchParams.get('expires')) - Math.floor(Date.now() / 1e3)
  return { id: json.id as string, link, linkedFor, shown: await video() }
}
const get = async (url: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(url.startsWith('http') ? url : `${rig.url}${url}`, { headers })
  const text = await answer.text()
  return { status: answer.status, text, code: text.startsWith('{') ? codeIn(text) : null }
}
const codeIn = (text: string): string => JSON.parse(text).error.code

describe('the file of a video', () => {
  it.each([
    ['kling', 30 * 24 * HOUR_S, 24 * HOUR_S],
    ['wan', 24 * HOUR_S, 24 * HOUR_S],
    ['doubao', 24 * HOUR_S, 24 * HOUR_S],
    ['vidu', 24 * HOUR_S, 24 * HOUR_S],
    ['jimeng', HOUR_S, HOUR_S],
    ['veo', 48 * HOUR_S, 24 * HOUR_S],
  ])('of %s expires as its vendor says, and no link outlives it', async (vendor, kept, linked) => {
    const { shown, linkedFor } = await finished(vendor)
    const left = shown.expires_at - shown.completed_at
    expect(Math.abs(left - kept)).toBeLessThanOrEqual(5)
    expect(linkedFor).toBeLessThanOrEqual(linked)
    expect(linkedFor).toBeGreaterThan(linked - 120)
  })

  it('of OpenAI expires when its answer says so', async () => {
    const expires_at = Math.floor(Date.now() / 1_000) + HOUR_S
    const { shown, linkedFor } = await finished('sora', { expires_at })
    expect(shown.expires_at).toBe(expires_at)
    expect(linkedFor).toBeLessThanOrEqual(HOUR_S)
    for (const expires of [-1, 'soon', 1e15]) {
      const { shown: unsaid, linkedFor: whole } = await finished('sora', { expires_at: expires })
      expect(unsaid.expires_at).toBe(null)
      expect(whole).toBeGreaterThan(23 * HOUR_S)
    }
  })

  it('that has expired is answered with 410 and the reason', async () => {
    const { id, link } = await finished('jimeng')
    expect((await get(link)).text).toBe('a video')
    aheadMs = 2 * HOUR_S * 1_000
    expect(await get(link)).toMatchObject({ status: 410, code: 'video_link_expired' })
    // The vendor may keep the file for longer than it promises.
    expect((await get(`/v1/videos/${id}/content`, owner)).text).toBe('a video')
    rig.vendor.answers.set('GET /files/jimeng.mp4', { status: 403, body: 'expired' })
    const gone = await get(`/v1/videos/${id}/content`, owner)
    expect(gone).toMatchObject({ status: 410, code: 'video_expired' })
    expect(gone.text).not.toContain(rig.vendor.url)
    // A client that is told to retry would do so for ever.
    rig.vendor.answers.set('GET /files/jimeng.mp4', { status: 503, body: 'no such host' })
    const failed = await get(`/v1/videos/${id}/content`, owner)
    expect(failed).toMatchObject({ status: 410, code: 'video_expired' })
  })

  it('of a video that is polled late counts from its latest possible end', async () => {
    const { answers } = rig.vendor
    const { model, submit: path, query, accepted } = VIDEO_SCRIPTS.wan as VideoScript
    answers.set(path, { body: accepted })
    answers.set(query, { body: { output: { task_status: 'RUNNING' } } })
    const { json } = await rig.post('/v1/videos', { model, prompt: 'the sea' })
    const video = async () => (await rig.ask(`/v1/videos/${json.id}`)).json
    await expect.poll(async () => (await video()).status).toBe('in_progress')
    const { created_at: createdAt } = await video()
    answers.set(query, {
      body: { output: { task_status: 'SUCCEEDED', video_url: 'https://v.example/w' } },
    })
    aheadMs = 20 * HOUR_S * 1_000
    await expect.poll(async () => (await video()).status).toBe('completed')
    expect((await video()).expires_at - createdAt).toBe(25 * HOUR_S)
  })

  it('that fails before its time is not said to have expired', async () => {
    const { id } = await finished('kling')
    rig.vendor.answers.set('GET /files/kling.mp4', { status: 503, body: 'busy' })
    const failed = await get(`/v1/videos/${id}/content`, owner)
    expect(failed).toMatchObject({ status: 503, code: 'file_fetch_failed' })
    rig.vendor.answers.set('GET /files/kling.mp4', { status: 404, body: 'no such file' })
    const missing = await get(`/v1/videos/${id}/content`, owner)
    expect(missing).toMatchObject({ status: 404, code: 'video_unavailable' })
  })

  it('is not served at an expired link without a signature of this site', async () => {
    const { link } = await finished('kling')
    const forged = link.replace(/expires=\d+/, 'expires=1')
    expect((await get(forged)).status).toBe(401)
    aheadMs = 25 * HOUR_S * 1_000
    expect(await get(link)).toMatchObject({ status: 410, code: 'video_link_expired' })
  })
})
