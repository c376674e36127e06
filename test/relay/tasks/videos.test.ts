import { hash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { VIDEO_TYPES } from '../support/tested-channel-types.ts'
import { VIDEO_SCRIPTS, type VideoScript } from './video-scripts.ts'
import { videosRig } from './videos-rig.ts'

const rig = startedOnce(() => videosRig())

const PENDING = { status: 404, body: {} }
/** Each vendor has an id of its own, which the next task of the vendor gets as well. */
const submitTo = async ({ model, body, submit, accepted, query }: VideoScript) => {
  if (submit !== query) rig.vendor.answers.set(query, PENDING)
  rig.vendor.answers.set(submit, { body: accepted })
  return rig.post('/v1/videos', { model, prompt: 'the sea', ...body })
}
const statusOf = async (task: string) => (await rig.ask(`/v1/videos/${task}`)).json.status

/**
 * Leaves the vendor's videos to a channel of this type alone, because some vendors have several
 * types, of which any would otherwise serve them.
 */
async function serveBy(type: number, vendor: string, models: string[]): Promise<void> {
  const ofVendor = VIDEO_TYPES.filter((one) => one.vendor === vendor)
  if (ofVendor.length === 1) return
  const channelIds = ofVendor.map((one) => 500 + one.type)
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds } })
  await rig.addChannel(500 + type, { type, models, baseUrl: rig.vendor.url })
}

it.each([
  ['/v1/videos', 'GET, POST'],
  ['/v1/videos/x', 'GET, DELETE'],
  ['/v1/videos/x/content', 'GET, HEAD'],
  ['/v1/videos/x/remix', 'POST'],
  ['/kling/v1/videos/text2video', 'GET, POST'],
  ['/kling/v1/videos/text2video/x', 'GET'],
])('a wrong method at %s is answered with all methods of the path', async (path, methods) => {
  const response = await fetch(`${rig.url}${path}`, { method: 'PUT' })
  expect([response.status, response.headers.get('allow')]).toEqual([405, methods])
  expect(await response.text()).toContain(`Use ${methods}.`)
})

it.each(['edits', 'extensions', 'characters'])(
  'the method %s of OpenAI’s API is not offered',
  async (name) => {
    const body = { model: 'sora-2', prompt: 'x', video: { id: 'video_1' } }
    const answer = await rig.post(`/v1/videos/${name}`, body)
    expect([answer.status, answer.json.error.code]).toEqual([404, 'not_found'])
  },
)

/** The vendors whose scripted results have the length or the tokens of the video. */
const WITH_USAGE = ['kling', 'doubao', 'sora', 'wan']

describe.each(VIDEO_TYPES)('type $type, $name', ({ type, vendor, script }) => {
  const address = () => `${rig.vendor.url}/files/${vendor}.mp4`
  beforeAll(() => serveBy(type, vendor, [script.model]))

  it('holds the worst case and settles the result to the unit', async () => {
    const before = await rig.balance()
    const { status, json, text } = await submitTo(script)
    expect(status, text).toBe(200)
    expect(json).toMatchObject({ object: 'video', status: 'queued', model: script.model })
    expect(await rig.balance()).toBe(before - BigInt(script.hold))
    const accepted = (await rig.taskEvents(json.id)).find((one) => one.type === 'TaskAccepted')
    expect(accepted?.data).toMatchObject({ channelId: 500 + type })
    const [method = '', path = ''] = script.submit.split(' ')
    const sent = rig.vendor.requests.findLast(
      (one) => one.method === method && one.path.split('?')[0] === path,
    )
    expect(JSON.parse(sent?.body ?? '')).toMatchObject(script.sent)
    rig.vendor.answers.set(script.query, { body: script.done(address()) })
    await expect.poll(() => statusOf(json.id)).toBe('completed')
    expect(await rig.chargeOf(json.id)).toBe(script.charge)
    expect(await rig.balance()).toBe(before - BigInt(script.charge))
    expect(await rig.money(json.id)).toEqual(['CallAdmitted', 'CallSettled'])
    const usageSource = WITH_USAGE.includes(vendor) ? 'upstream' : 'estimated'
    const end = (await rig.callEvents()).findLast(({ type }) => type === 'CallSettled')
    expect(end?.data).toMatchObject({ call: json.id, usageSource })
    const shown = await rig.ask(`/v1/video/generations/${json.id}`)
    expect(shown.text).not.toContain(rig.vendor.url)
    const { madeSeconds: duration = Number(json.seconds) } = script
    expect(shown.json.data).toMatchObject({ metadata: { duration } })
    expect((await rig.ask(`/v1/videos/${json.id}`)).json.seconds).toBe(String(duration))
    expect(shown.json.data).toMatchObject({ status: 'completed', progress: '100%' })
  })

  it('releases the hold of a failed video', async () => {
    const before = await rig.balance()
    const { json } = await submitTo(script)
    const { failed: body, failedStatus: status = 200 } = script
    rig.vendor.answers.set(script.query, { status, body })
    await expect.poll(() => statusOf(json.id)).toBe('failed')
    expect(await rig.money(json.id)).toEqual(['CallAdmitted', 'CallReleased'])
    expect(await rig.balance()).toBe(before)
  })

  it('answers a refusal with an error, and charges nothing', async () => {
    const before = await rig.balance()
    rig.vendor.answers.set(script.submit, script.refused)
    const refused = await rig.post('/v1/videos', {
      ...script.body,
      model: script.model,
      prompt: 'x',
    })
    expect(refused.status, refused.text).toBeGreaterThanOrEqual(400)
    expect(refused.json.error.message).toEqual(expect.any(String))
    expect(refused.text).not.toContain(rig.vendor.url)
    expect(await rig.balance()).toBe(before)
  })
})

describe('a dated version of a model without a built-in price', () => {
  it('costs its price for each second, at the resolution', async () => {
    const model = 'sora-2-pro-2025-10-06'
    await rig.setOption('ModelPrice', { viduq2: 0.05, jimeng_t2v_v30: 0.04, [model]: 0.1 })
    await rig.addChannel(600, { type: 55, models: [model], baseUrl: rig.vendor.url })
    const { sora } = VIDEO_SCRIPTS as Record<'sora', VideoScript>
    const heldFor = async (body: Record<string, unknown>) => {
      const before = await rig.balance()
      const { json } = await submitTo({ ...sora, model, body })
      const held = before - (await rig.balance())
      rig.vendor.answers.set(sora.query, { body: sora.failed })
      await expect.poll(() => statusOf(json.id)).toBe('failed')
      return held
    }
    expect(await heldFor({ seconds: 4, size: '720x1280' })).toBe(200_000n)
    expect(await heldFor({ seconds: 20, size: '720x1280' })).toBe(1_000_000n)
    expect(await heldFor({ seconds: 12, size: '1792x1024' })).toBe(1_000_000n)
  })
})

describe('the sound of a video that is billed by tokens', () => {
  const { doubao } = VIDEO_SCRIPTS
  // This channel is added again for each model. The rig's own channels serve later tests.
  const channelIds = [654]
  const made = { status: 'succeeded', usage: { total_tokens: 100_000 }, duration: 5 }
  const BODY = { resolution: '480p', seconds: '5' }

  it.each([
    ['doubao-seedance-1-5-pro-251215', false, 1],
    ['doubao-seedance-1-5-pro-251215', true, 2],
    // The name of an endpoint tells no model, so sound is assumed to cost more.
    ['ep-20260101-abcde', true, 2],
    ['doubao-seedance-2-0-260128', true, 1],
  ])('of %s with sound: %s is held and charged at the ratio %d', async (model, sound, ratio) => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds } })
    await rig.addChannel(654, { type: 54, models: [model], baseUrl: rig.vendor.url })
    await rig.setOption('ModelRatio', { [model]: 4 })
    const before = await rig.balance()
    const body = { ...BODY, generate_audio: sound }
    const { json, text } = await submitTo({ ...(doubao as VideoScript), model, body })
    expect(json, text).toMatchObject({ status: 'queued' })
    // 450 000 pixels · 24 frames · 6 seconds / 1 024, at a ratio of 4.
    expect(before - (await rig.balance())).toBe(BigInt(63_282 * 4 * ratio))
    const content = { video_url: `${rig.vendor.url}/files/doubao.mp4` }
    const usage = { total_tokens: 50_000 }
    rig.vendor.answers.set((doubao as VideoScript).query, { body: { ...made, content, usage } })
    await expect.poll(() => statusOf(json.id)).toBe('completed')
    expect(await rig.chargeOf(json.id)).toBe(50_000 * 4 * ratio)
    expect(before - (await rig.balance())).toBe(BigInt(50_000 * 4 * ratio))
  })
})

describe('a faulty report of a vendor', () => {
  const { wan, doubao, sora, hailuo, kling } = VIDEO_SCRIPTS as Record<string, VideoScript>
  const url = 'https://videos.example/v.mp4'
  const output = { task_status: 'SUCCEEDED', video_url: url }
  const success = { status: 'succeeded', content: { video_url: url } }
  const task_result = { videos: [{ url, duration: true }] }
  it.each([
    ['seconds by DashScope', wan, { output, usage: { video_duration: 0 } }],
    ['tokens by Ark', doubao, { ...success, usage: { total_tokens: 0 }, duration: 0 }],
    ['seconds by Kling', kling, { data: { task_status: 'succeed', task_result } }],
    ['seconds by OpenAI', sora, { id: 'video_1', status: 'completed', seconds: '0' }],
  ] as const)('of no %s does not make a video cheaper', async (_name, script, body) => {
    if (script === undefined) throw new Error('no script')
    const before = await rig.balance()
    const { json } = await submitTo(script)
    rig.vendor.answers.set(script.query, { body })
    await expect.poll(() => statusOf(json.id)).toBe('completed')
    expect(await rig.chargeOf(json.id)).toBe(script.hold)
    expect(await rig.balance()).toBe(before - BigInt(script.hold))
  })

  it('with the name of an object member as status leaves the video open', async () => {
    if (sora === undefined) throw new Error('no script')
    const { json } = await submitTo(sora)
    for (const status of ['constructor', '__proto__', 'toString']) {
      const body = `{"id":"video_1","status":"${status}"}`
      const asked = rig.vendor.requests.length
      rig.vendor.answers.set(sora.query, { body })
      await expect.poll(() => rig.vendor.requests.length).toBeGreaterThan(asked + 1)
      expect(await statusOf(json.id)).toBe('queued')
    }
    const types = (await rig.taskEvents(json.id)).map(({ type }) => type)
    expect(types).not.toContain('TaskStatusChanged')
    rig.vendor.answers.set(sora.query, { body: sora.done('') })
    await expect.poll(() => statusOf(json.id)).toBe('completed')
  })

  it('of MiniMax on a failed video does not say that it was a success', async () => {
    if (hailuo === undefined) throw new Error('no script')
    const { json } = await submitTo(hailuo)
    const base_resp = { status_code: 0, status_msg: 'success' }
    rig.vendor.answers.set(hailuo.query, { body: { status: 'Fail', base_resp } })
    await expect.poll(() => statusOf(json.id)).toBe('failed')
    const { error } = (await rig.ask(`/v1/videos/${json.id}`)).json
    expect(error.message).not.toBe('')
    expect(error.message).not.toContain('success')
  })
})

it('a channel at its own limit is busy, which a video is told like a call', async () => {
  const [model, maxRpm] = ['lab-video', 1]
  await rig.setOption('ModelPrice', { [model]: 0.1 })
  await rig.addChannel(590, { type: 55, models: [model], baseUrl: rig.vendor.url, maxRpm })
  rig.vendor.answers.set('POST /v1/videos', { body: { id: 'video_busy', status: 'queued' } })
  const submit = () => rig.post('/v1/videos', { model, prompt: 'the sea', seconds: '4' })
  expect((await submit()).status).toBe(200)
  const full = await submit()
  expect(full).toMatchObject({ status: 429, json: { error: { code: 'channels_busy' } } })
  expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(10)
})

describe('the evidence about a vendor', () => {
  const settled = async (script: VideoScript, accepted: object) => {
    const { json } = await submitTo({ ...script, accepted })
    rig.vendor.answers.set(script.query, { body: script.done(`${rig.vendor.url}/files/e.mp4`) })
    await expect.poll(() => statusOf(json.id)).toBe('completed')
    const end = (await rig.callEvents()).find(
      ({ type, data }) => type === 'CallSettled' && data.call === json.id,
    )
    if (end?.type !== 'CallSettled') throw new Error('not settled')
    return end.data
  }
  const { sora, kling } = VIDEO_SCRIPTS as Record<'sora' | 'kling', VideoScript>

  it('has the digests of both bodies and the id of the task', async () => {
    const { attempts, anomaly, upstreamModel } = await settled(kling, kling.accepted as object)
    const answer = JSON.stringify(kling.accepted)
    expect(attempts).toMatchObject([
      {
        ...{ status: 200, error: null },
        evidence: {
          ...{ sentAt: expect.any(Number), hostHash: expect.stringMatching(/^[0-9a-f]{16}$/) },
          sent: { bytes: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
          received: { bytes: answer.length, sha256: hash('sha256', answer, 'hex') },
          fingerprint: { id: 'k1' },
        },
      },
    ])
    expect([anomaly, upstreamModel]).toEqual([null, null])
  })

  it('tells that another model answered than was billed', async () => {
    const same = await settled(sora, { ...(sora.accepted as object), model: 'sora-2-pro' })
    expect([same.anomaly, same.attempts[0]?.evidence?.model]).toEqual([null, 'sora-2-pro'])
    const other = await settled(sora, { ...(sora.accepted as object), model: 'sora-1' })
    expect([other.anomaly, other.attempts[0]?.evidence?.model]).toEqual(['other-model', 'sora-1'])
  })
})
