import { beforeAll, expect, it } from 'vitest'
import { CHANNELS_STREAM, type ChannelTerms } from '#domain/channels/events.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { KEY } from '../support/relay-rig.ts'
import { videosRig } from './videos-rig.ts'

const NEW_KEY = 'sk-rotated-secret-0123456789'
const OTHER_KEY = 'sk-another-secret-0123456789'
const MP4 = Buffer.from('0123456789'.repeat(100))
const rig = startedOnce(() => videosRig())

const replaceKeys = (channelId: number, terms: Partial<ChannelTerms>, keys: readonly string[]) =>
  rig.append(CHANNELS_STREAM, {
    type: 'ChannelTermsChanged',
    v: 1,
    data: {
      ...{ channelId, terms: { ...PLAIN_CHANNEL_TERMS, baseUrl: rig.vendor.url, ...terms } },
      ...{ keyRefs: keys.map((key) => `key:${key}`), keyMode: keys.length > 1 ? 'random' : '' },
      droppedKeyRefs: [],
    },
  })
const keysOf = (method: string, path: string) =>
  rig.vendor.requests.flatMap((request) =>
    request.method === method && request.path === path
      ? [request.headers.authorization ?? request.headers['mj-api-secret']]
      : [],
  )

beforeAll(async () => {
  const drawing = { type: 2, models: ['mj_blend'], baseUrl: rig.vendor.url, priority: 10 }
  await rig.addChannel(71, drawing)
})

it('a video is asked about, billed and read with the key that replaced its own one', async () => {
  const { answers } = rig.vendor
  answers.set('POST /v1/videos', { body: { id: 'video_1', status: 'queued' } })
  answers.set('GET /v1/videos/video_1', { body: { id: 'video_1', status: 'queued' } })
  const { json } = await rig.post('/v1/videos', { model: 'sora-2', prompt: 'the sea' })
  await replaceKeys(555, { type: 55, models: ['sora-2', 'sora-2-pro'] }, [NEW_KEY])
  answers.set('GET /v1/videos/video_1', {
    body: { id: 'video_1', status: 'completed', seconds: '4' },
  })
  await expect.poll(() => rig.chargeOf(json.id)).toBeGreaterThan(0)
  const headers = { 'content-type': 'video/mp4', 'content-length': `${MP4.length}` }
  answers.set('GET /v1/videos/video_1/content', { headers, pieces: [MP4] })
  const owner = { authorization: `Bearer sk-${KEY}` }
  const file = await fetch(`${rig.url}/v1/videos/${json.id}/content`, { headers: owner })
  expect(file.status).toBe(200)
  expect(Buffer.from(await file.arrayBuffer()).equals(MP4)).toBe(true)
  expect(keysOf('GET', '/v1/videos/video_1').at(-1)).toBe(`Bearer ${NEW_KEY}`)
  expect(keysOf('GET', '/v1/videos/video_1/content')).toEqual([`Bearer ${NEW_KEY}`])
})

it('a video that only a key of another account does not know is not given up', async () => {
  const { answers } = rig.vendor
  const said = (data: object) => answers.set('POST /', { body: { code: 10_000, data } })
  const path = '/?Action=CVSync2AsyncGetResult&Version=2022-08-31'
  const asked = () => keysOf('POST', path).filter((key) => String(key).includes(NEW_KEY)).length
  const submitVideo = async () => {
    said({ task_id: 'jimeng_1' })
    const body = { model: 'jimeng_t2v_v30', prompt: 'the sea' }
    return (await rig.post('/v1/videos', body)).json.id as string
  }
  const known = await submitVideo()
  said({ status: 'not_found' })
  await expect.poll(() => rig.money(known)).toEqual(['CallAdmitted', 'CallReleased'])
  const task = await submitVideo()
  await replaceKeys(551, { type: 51, models: ['jimeng_t2v_v30'] }, [NEW_KEY])
  await expect.poll(asked).toBeGreaterThan(0)
  said({ status: 'not_found' })
  const before = asked()
  await expect.poll(asked).toBeGreaterThan(before + 2)
  expect(await rig.money(task)).toEqual(['CallAdmitted'])
  said({ status: 'done', video_url: `${rig.vendor.url}/files/j.mp4` })
  await expect.poll(() => rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
})

it('a video whose channel was deleted ends, is not charged, and says why', async () => {
  const { answers } = rig.vendor
  await rig.addChannel(72, {
    type: 55,
    models: ['sora-2-pro'],
    priority: 9,
    baseUrl: rig.vendor.url,
  })
  answers.set('POST /v1/videos', { body: { id: 'video_2', status: 'queued' } })
  answers.set('GET /v1/videos/video_2', { body: { id: 'video_2', status: 'queued' } })
  const { json } = await rig.post('/v1/videos', { model: 'sora-2-pro', prompt: 'the sea' })
  const deleted = { channelIds: [72] }
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: deleted })
  await expect.poll(() => rig.money(json.id)).toEqual(['CallAdmitted', 'CallReleased'])
  const shown = await rig.ask(`/v1/videos/${json.id}`)
  expect(shown.json).toMatchObject({ status: 'failed' })
  expect(shown.json.error.message).toMatch(/deleted|删除/)
})

it('a drawing is asked about with each of the keys that replaced its own one', async () => {
  const { answers } = rig.vendor
  answers.set('POST /mj/submit/blend', { body: { code: 1, description: '', result: 'drawing_1' } })
  answers.set('POST /mj/task/list-by-condition', { body: [] })
  const picture = 'data:image/png;base64,iVBORw0KGgo='
  const { json, text } = await rig.ask('/mj/submit/blend', { base64Array: [picture, picture] })
  expect(json.code, text).toBe(1)
  await replaceKeys(71, { type: 2, models: ['mj_blend'] }, [NEW_KEY, OTHER_KEY])
  const asked = () => new Set(keysOf('POST', '/mj/task/list-by-condition').map(String))
  await expect.poll(() => [...asked()].filter((key) => key.includes(NEW_KEY))).toHaveLength(1)
  await expect.poll(() => [...asked()].filter((key) => key.includes(OTHER_KEY))).toHaveLength(1)
  expect(await rig.money(json.result)).toEqual(['CallAdmitted'])
  const done = { id: 'drawing_1', status: 'SUCCESS', progress: '100%', imageUrl: '' }
  answers.set('POST /mj/task/list-by-condition', { body: [done] })
  await expect.poll(() => rig.money(json.result)).toEqual(['CallAdmitted', 'CallSettled'])
})

it('a video of a channel that has expired meanwhile is billed, and no other is sent', async () => {
  const { answers } = rig.vendor
  const channel = { type: 55, models: ['sora-2-expiring'] }
  await rig.addChannel(73, { ...channel, baseUrl: rig.vendor.url })
  await rig.setOption('ModelPrice', { 'sora-2-expiring': 0.05 })
  answers.set('POST /v1/videos', { body: { id: 'video_3', status: 'queued' } })
  answers.set('GET /v1/videos/video_3', { body: { id: 'video_3', status: 'queued' } })
  const body = { model: 'sora-2-expiring', prompt: 'the sea' }
  const { json, text } = await rig.post('/v1/videos', body)
  expect(json.id, text).toBeDefined()
  await replaceKeys(73, { ...channel, expiredTime: 1 }, [NEW_KEY])
  const sent = keysOf('POST', '/v1/videos').length
  expect((await rig.post('/v1/videos', body)).status).toBe(503)
  expect(keysOf('POST', '/v1/videos')).toHaveLength(sent)
  answers.set('GET /v1/videos/video_3', { body: { id: 'video_3', status: 'completed' } })
  await expect.poll(() => rig.money(json.id)).toEqual(['CallAdmitted', 'CallSettled'])
})
