import { afterEach, expect, it, vi } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { AcceptedTaskWriter } from '#relay/tasks/accepted-task-writer.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { noProgress } from '../support/relay-rig.ts'
import { HOUR } from './tasks-rig.ts'
import { videosRig } from './videos-rig.ts'

const MINUTE = 60_000
const pollTimes = { everyMs: 20, staleMs: 600_000, missingMs: 200 }
let aheadMs = 0
const calls: Promise<unknown>[] = []
let endCalls = () => {}
afterEach(async () => {
  aheadMs = 0
  endCalls()
  await Promise.allSettled(calls.splice(0))
})

const rig = startedForEach(() =>
  videosRig({ tasks: { progress: noProgress, pollTimes } }, { now: () => Date.now() + aheadMs }),
)

const SUBMIT = 'POST /v1/videos/text2video'
const accepted = { code: 0, data: { task_id: 'k1', task_status: 'submitted' } }
const DENIED = { status: 404, body: { code: 1203, message: 'the task does not exist' } }
const done = {
  code: 0,
  data: { task_status: 'succeed', task_result: { videos: [{ url: 'https://v.example/k.mp4' }] } },
}
const searchFor = (task: string) => `GET /v1/videos/text2video/${task}`
const submit = (model = 'kling-v1-6') => rig.ask('/v1/videos', { model, prompt: 'the sea' })
const openTask = async () => (await rig.findOpenTasks({ submittedAt: 0, task: '' }, 9))[0]?.task
const endsOf = async (task: string) =>
  (await rig.taskEvents(task)).flatMap(({ type }) => (/Succeeded|Failed/.test(type) ? [type] : []))
const asked = (task: string) =>
  rig.vendor.requests.filter(({ path }) => path.endsWith(`/${task}`)).length

/**
 * Submits a video to a relay that does not get to record the acceptance, as if it were killed
 * before. Returns the id of the task.
 */
async function submittedBeforeKill(
  model = 'kling-v1-6',
  [path, body]: readonly [string, object] = [SUBMIT, accepted],
): Promise<string> {
  rig.vendor.answers.set(path, { body })
  const write = vi.spyOn(AcceptedTaskWriter.prototype, 'write')
  const end = new Promise<'pending'>((resolve) => {
    endCalls = () => resolve('pending')
  })
  write.mockReturnValueOnce(end)
  calls.push(submit(model))
  await expect.poll(() => write.mock.calls.length).toBe(1)
  return (await openTask()) ?? ''
}

it.each([
  ['soon', MINUTE],
  ['after hours', 5 * HOUR],
])('a video whose acceptance a kill has lost is found and charged once (%s)', async (_, later) => {
  const task = await submittedBeforeKill()
  expect(rig.vendor.requests.map(({ body }) => body).join()).toContain(
    `"external_task_id":"${task}"`,
  )
  rig.vendor.answers.set(searchFor(task), { ...DENIED, next: { body: accepted } })
  rig.vendor.answers.set(searchFor('k1'), { body: done })
  aheadMs = later
  await expect.poll(() => endsOf(task)).toEqual(['TaskSucceeded'])
  expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
})

it('a video that its vendor denies over a time is released', async () => {
  const before = await rig.balance()
  const task = await submittedBeforeKill()
  rig.vendor.answers.set(searchFor(task), DENIED)
  aheadMs = 11 * MINUTE
  await expect.poll(() => endsOf(task)).toEqual(['TaskFailed'])
  expect(asked(task)).toBeGreaterThanOrEqual(5)
  expect(await rig.balance()).toBe(before)
})

it('a video stays open while its vendor gives no answer to the search, for an hour', async () => {
  const task = await submittedBeforeKill()
  rig.vendor.answers.set(searchFor(task), { status: 429, body: { code: 1102, message: 'arrears' } })
  aheadMs = 11 * MINUTE
  await expect.poll(() => asked(task)).toBeGreaterThanOrEqual(8)
  expect(await endsOf(task)).toEqual([])
  aheadMs += HOUR + MINUTE
  await expect.poll(() => endsOf(task)).toEqual(['TaskFailed'])
})

it('a video whose answer is lost is answered with its id, found and charged', async () => {
  rig.vendor.answers.set(SUBMIT, { status: 504, body: '<html>' })
  const { status, json } = await submit()
  expect({ status, json }).toMatchObject({ status: 200, json: { id: await openTask() } })
  rig.vendor.answers.set(searchFor(json.id), { body: accepted })
  rig.vendor.answers.set(searchFor('k1'), { body: done })
  aheadMs = MINUTE
  await expect.poll(() => endsOf(json.id)).toEqual(['TaskSucceeded'])
  const settled = (await rig.callEvents()).find(({ type }) => type === 'CallSettled')
  expect(settled?.data).toMatchObject({ attempts: [{ channelId: 550 }] })
})

it('a video at a vendor that knows no ids of ours fails if its answer is lost', async () => {
  rig.vendor.answers.set('POST /ent/v2/text2video', { status: 504, body: '<html>' })
  const { status } = await submit('viduq2')
  expect(status).toBe(502)
  expect(await openTask()).toBeUndefined()
})

it.each([
  ['sora-2', 'POST /v1/videos', { id: 'video_1', status: 'queued' }],
  ['viduq2', 'POST /ent/v2/text2video', { task_id: 'v1', state: 'created' }],
])(
  '%s, whose vendor knows no ids of ours, is released ten minutes after a kill',
  async (...row) => {
    const [model, ...submission] = row
    const before = await rig.balance()
    const task = await submittedBeforeKill(model, submission)
    expect(await rig.money(task)).toEqual(['CallAdmitted'])
    expect(await rig.balance()).toBeLessThan(before)
    aheadMs = 11 * MINUTE
    await expect.poll(() => endsOf(task)).toEqual(['TaskFailed'])
    expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallReleased'])
    expect(await rig.balance()).toBe(before)
  },
)

it('a key that replaced that of the submission finds the video, but cannot deny it', async () => {
  const task = await submittedBeforeKill()
  await rig.append(CHANNELS_STREAM, {
    type: 'ChannelTermsChanged',
    v: 1,
    data: {
      channelId: 550,
      terms: {
        ...{ ...PLAIN_CHANNEL_TERMS, type: 50, models: ['kling-v1-6'], groups: ['default'] },
        baseUrl: rig.vendor.url,
      },
      ...{ keyRefs: ['key:new|secret'], keyMode: '', droppedKeyRefs: [] },
    },
  })
  rig.vendor.answers.set(searchFor(task), DENIED)
  aheadMs = 11 * MINUTE
  await expect.poll(() => asked(task)).toBeGreaterThanOrEqual(8)
  expect(await endsOf(task)).toEqual([])
  rig.vendor.answers.set(searchFor(task), { body: accepted })
  rig.vendor.answers.set(searchFor('k1'), { body: done })
  await expect.poll(() => endsOf(task)).toEqual(['TaskSucceeded'])
})
