import { describe, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY } from '../support/relay-rig.ts'
import { VERTEX_TOKEN, videosRig } from './videos-rig.ts'

const MODEL = 'veo-3.1-generate-001'
const PROJECT = 'planted-project-4711'
const PUBLISHED = `projects/${PROJECT}/locations/us-central1/publishers/google/models/${MODEL}`
const OPERATION = `${PUBLISHED}/operations/a1b07c8e-7b5a-4aba-bb34-3e1ccb8afcc8`
const [SUBMIT, QUERY] = [
  `/v1/${PUBLISHED}:predictLongRunning`,
  `/v1/${PUBLISHED}:fetchPredictOperation`,
]
const rig = startedForEach(() => videosRig())

/** Longer than any answer that a poll may keep in memory. */
const MP4 = Buffer.alloc(6 * 1024 * 1024, 'a video of the sea, ')
const owner = { authorization: `Bearer sk-${KEY}` }
const sentTo = (path: string) => rig.vendor.requests.filter((request) => request.path === path)

/** The answer in pieces whose ends are not those of base64's groups. */
function answerPieces(bytesBase64Encoded: string): Buffer[] {
  const response = {
    raiMediaFilteredCount: 0,
    videos: [{ bytesBase64Encoded, mimeType: 'video/mp4' }],
  }
  const body = Buffer.from(JSON.stringify({ name: OPERATION, done: true, response }))
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; at += 100_001) pieces.push(body.subarray(at, at + 100_001))
  return pieces
}

async function submitted(): Promise<string> {
  rig.vendor.answers.set(`POST ${SUBMIT}`, { body: { name: OPERATION } })
  const { json, text, status } = await rig.post('/v1/videos', { model: MODEL, prompt: 'the sea' })
  expect(status, text).toBe(200)
  return json.id as string
}
const statusOf = async (task: string) => (await rig.ask(`/v1/videos/${task}`)).json.status

describe('a video of Veo on Vertex AI', () => {
  it('is requested and polled with a token of the service account', async () => {
    rig.vendor.answers.set(`POST ${QUERY}`, { body: { name: OPERATION } })
    const task = await submitted()
    await expect.poll(() => statusOf(task)).toBe('in_progress')
    for (const { headers } of [...sentTo(SUBMIT), ...sentTo(QUERY)]) {
      expect(headers.authorization).toBe(`Bearer ${VERTEX_TOKEN}`)
    }
    expect(JSON.parse(sentTo(QUERY)[0]?.body ?? '')).toEqual({ operationName: OPERATION })
    expect(JSON.stringify(rig.vendor.requests.map(({ headers }) => headers))).not.toMatch(/PRIVATE/)
    expect(sentTo('/token')).toHaveLength(1)
  })

  it('is streamed out of the answer, whatever its size, without its account', async () => {
    rig.vendor.answers.set(`POST ${QUERY}`, { pieces: answerPieces(MP4.toString('base64')) })
    const task = await submitted()
    await expect.poll(() => statusOf(task)).toBe('completed')
    const file = await fetch(`${rig.url}/v1/videos/${task}/content`, { headers: owner })
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'video/mp4'])
    expect(Buffer.from(await file.arrayBuffer()).equals(MP4)).toBe(true)
    const shown = await rig.ask(`/v1/video/generations/${task}`)
    expect(`${shown.text}${JSON.stringify([...file.headers])}`).not.toContain(PROJECT)
    rig.vendor.answers.set(`POST ${QUERY}`, { status: 404, body: {} })
    const gone = await fetch(`${rig.url}/v1/videos/${task}/content`, { headers: owner })
    expect(gone.status).toBe(404)
    expect(await gone.text()).not.toContain(PROJECT)
  })

  it('fails if the answer contains no video, and costs nothing', async () => {
    const before = await rig.balance()
    rig.vendor.answers.set(`POST ${QUERY}`, { pieces: answerPieces('') })
    const task = await submitted()
    await expect.poll(() => statusOf(task)).toBe('failed')
    expect(await rig.balance()).toBe(before)
  })

  it('is refused with Google’s words if the service account is refused', async () => {
    const before = await rig.balance()
    const refused = { error: 'invalid_grant', error_description: `no account of ${PROJECT}` }
    rig.vendor.answers.set('POST /token', { status: 400, body: refused })
    const { status, text } = await rig.post('/v1/videos', { model: MODEL, prompt: 'the sea' })
    expect(status, text).toBeGreaterThanOrEqual(400)
    expect(text).not.toContain(PROJECT)
    expect(sentTo(SUBMIT)).toEqual([])
    expect(await rig.balance()).toBe(before)
    const end = (await rig.callEvents()).at(-1)
    if (end?.type !== 'CallReleased') throw new Error('not released')
    expect(end.data.attempts).toMatchObject([{ status: 401, error: 'status' }])
    expect(end.data.attempts[0]).not.toHaveProperty('evidence')
  })

  it('can be requested and fetched in Gemini’s format', async () => {
    rig.vendor.answers.set(`POST ${SUBMIT}`, { body: { name: OPERATION } })
    rig.vendor.answers.set(`POST ${QUERY}`, { pieces: answerPieces('AAAA') })
    const body = { instances: [{ prompt: 'x' }], parameters: { durationSeconds: 4 } }
    const { json, text } = await rig.post(`/v1beta/models/${MODEL}:predictLongRunning`, body)
    expect(json.name, text).toMatch(/^models\/veo-3\.1-generate-001\/operations\/0/)
    const operation = async () => (await rig.ask(`/v1beta/${json.name}`)).json
    await expect.poll(async () => (await operation()).done).toBe(true)
    const [sample] = (await operation()).response.generateVideoResponse.generatedSamples
    const file = await fetch(sample.video.uri)
    expect([file.status, (await file.arrayBuffer()).byteLength]).toEqual([200, 3])
  })
})
