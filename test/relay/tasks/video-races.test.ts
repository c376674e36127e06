import { expect, it, vi } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { TaskLedger } from '#relay/tasks/task-ledger.ts'
import { volcengineHeaders } from '#relay/tasks/videos/jimeng.ts'
import { klingToken } from '#relay/tasks/videos/kling.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { noProgress, serveRelay } from '../support/relay-rig.ts'
import { videosRig } from './videos-rig.ts'

const rig = startedOnce(() =>
  videosRig({ tasks: { pollTimes: { everyMs: 50, staleMs: 600_000 } } }),
)

async function submitted(): Promise<string> {
  rig.vendor.answers.set('POST /v1/videos', { body: { id: 'video_1', status: 'queued' } })
  rig.vendor.answers.set('GET /v1/videos/video_1', { status: 503 })
  const { json, text } = await rig.post('/v1/videos', { model: 'sora-2', prompt: 'the sea' })
  expect(json.id, text).toEqual(expect.any(String))
  return json.id as string
}

const endsOf = async (task: string) =>
  (await rig.taskEvents(task)).filter(({ type }) => /Succeeded|Failed/.test(type)).length

it('fifty reports at once settle a video once, within its hold', async () => {
  const task = await submitted()
  const ledger = new TaskLedger(rig.core)
  const record = await ledger.peek(task)
  if (!record?.place) throw new Error('not accepted')
  const { channelId, keyRef, upstreamId } = record.place
  const place = { channelId, keyRef, upstreamId }
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      ledger.report(record, {
        ...place,
        status: index % 2 === 0 ? 'SUCCESS' : 'FAILURE',
        result: '{"file":"content"}',
        made: { seconds: 1_000 + index, tokens: 5_000_000 },
      }),
    ),
  )
  expect(outcomes.filter((outcome) => outcome === 'changed')).toHaveLength(1)
  expect(await endsOf(task)).toBe(1)
  const money = await rig.money(task)
  expect(money).toHaveLength(2)
  // The vendor reports far more seconds than were requested: four are billed, at $0.10.
  if (money[1] === 'CallSettled') expect(await rig.chargeOf(task)).toBe(200_000)
})

it('a video is not sent to a channel that was disabled after the submission', async () => {
  const { actors } = rig.core
  const { handleTogether } = actors
  vi.spyOn(actors, 'handleTogether').mockImplementationOnce(async (...steps) => {
    const outcome = await handleTogether(...steps)
    const data = { channelIds: [555], tag: null }
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDisabled', v: 1, data })
    return outcome
  })
  const balance = await rig.balance()
  const sent = rig.vendor.requests.filter(({ method }) => method === 'POST').length
  const refused = await rig.post('/v1/videos', { model: 'sora-2', prompt: 'the sea' })
  expect(refused.status, refused.text).toBe(503)
  expect(rig.vendor.requests.filter(({ method }) => method === 'POST')).toHaveLength(sent)
  expect(await rig.balance()).toBe(balance)
  const data = { channelIds: [555], tag: null }
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsEnabled', v: 1, data })
  await expect
    .poll(async () => (await rig.post('/v1/videos', { model: 'sora-2', prompt: 'sea' })).status)
    .toBe(200)
})

it('a video of a killed relay is ended once by the next relay', async () => {
  const before = await rig.balance()
  const task = await submitted()
  await rig.relay.close()
  rig.vendor.answers.set('GET /v1/videos/video_1', {
    body: { id: 'video_1', status: 'completed', seconds: '4' },
  })
  const { findOpenTasks } = rig
  const pollTimes = { everyMs: 50, staleMs: 600_000 }
  const tasks = { progress: noProgress, findOpenTasks, pollTimes, findRecentTasks: async () => [] }
  const others = await Promise.all([
    serveRelay(rig.core, { tasks }),
    serveRelay(rig.core, { tasks }),
  ])
  await expect.poll(() => endsOf(task)).toBe(1)
  await Promise.all(others.map((other) => other.close()))
  expect(await endsOf(task)).toBe(1)
  expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
  expect(await rig.balance()).toBe(before - 200_000n)
})

it("Kling's token has the claims of the access key and a signature of the secret key", () => {
  const token = klingToken('access|secret', 1_700_000_000_000)
  const [header, claims, signature] = token.split('.')
  const read = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString())
  expect(read(header)).toEqual({ alg: 'HS256', typ: 'JWT' })
  expect(read(claims)).toEqual({ iss: 'access', exp: 1_700_001_800, nbf: 1_699_999_995 })
  expect(signature).toMatch(/^[\w-]{43}$/)
  expect(token).not.toContain('secret')
})

it("Jimeng's signature covers the body, the query and the time, and hides the key", () => {
  const url = new URL('https://visual.volcengineapi.com/?Version=2022-08-31&Action=Submit')
  const signed = (body: string, now = 1_700_000_000_000, at = url) =>
    volcengineHeaders('access|secret', { url: at, method: 'POST', body: Buffer.from(body) }, now)
  const first = signed('{}')
  expect(first['x-date']).toBe('20231114T221320Z')
  const parts = first.authorization?.split(', ') ?? []
  const credential = 'Credential=access/20231114/cn-north-1/cv/request'
  expect(parts[0]).toBe(`HMAC-SHA256 ${credential}`)
  expect(parts[1]).toBe('SignedHeaders=content-type;host;x-content-sha256;x-date')
  expect(parts[2]).toMatch(/^Signature=[0-9a-f]{64}$/)
  const others = [
    signed('{"a":1}'),
    signed('{}', 1_700_000_001_000),
    signed('{}', undefined, new URL('https://visual.volcengineapi.com/?Action=Get')),
  ]
  for (const { authorization } of others) expect(authorization).not.toBe(first.authorization)
  expect(JSON.stringify([first, ...others])).not.toContain('secret')
})
