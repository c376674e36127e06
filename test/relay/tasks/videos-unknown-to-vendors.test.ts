import { expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import type { Scripted } from '../support/scripted-provider.ts'
import { videosRig } from './videos-rig.ts'

const rig = startedOnce(() => videosRig())

/** The answers one after the other. The last one is given to all further requests. */
const inTurn = (bodies: readonly unknown[]): Scripted => {
  const [body, ...others] = bodies
  return others.length === 0 ? { body } : { body, next: inTurn(others) }
}
const times = (count: number, body: unknown) => Array.from({ length: count }, () => body)
const statusOf = async (task: string) => (await rig.ask(`/v1/videos/${task}`)).json.status
const submit = async (model: string) =>
  (await rig.post('/v1/videos', { model, prompt: 'the sea' })).json.id as string

const jimeng = (data: object) => ({ code: 10_000, data })
const NOT_FOUND = jimeng({ status: 'not_found' })
const DONE = jimeng({ status: 'done', video_url: 'https://videos.example/j.mp4' })

it('a video that its vendor knows only after some polls is delivered and billed', async () => {
  // More polls in all say that the video is unknown than would be enough in a row.
  const running = jimeng({ status: 'generating' })
  const polls = [...times(4, NOT_FOUND), running, ...times(4, NOT_FOUND), DONE]
  rig.vendor.answers.set('POST /', inTurn([jimeng({ task_id: 'j1' }), ...polls]))
  const task = await submit('jimeng_t2v_v30')
  await expect.poll(() => statusOf(task)).toBe('completed')
  expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
})

it('a video that its vendor does not know over a time fails once and costs nothing', async () => {
  const before = await rig.balance()
  rig.vendor.answers.set('POST /', inTurn([jimeng({ task_id: 'j2' }), NOT_FOUND]))
  const task = await submit('jimeng_t2v_v30')
  await expect.poll(() => statusOf(task)).toBe('failed')
  expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallReleased'])
  expect(await rig.balance()).toBe(before)
})

it('a video that DashScope does not know yet does not stop the polls of the others', async () => {
  const accepted = (id: string) => ({ body: { output: { task_id: id, task_status: 'PENDING' } } })
  const path = 'POST /api/v1/services/aigc/video-generation/video-synthesis'
  const unknown = { output: { task_status: 'UNKNOWN' } }
  const done = { output: { task_status: 'SUCCEEDED', video_url: 'https://videos.example/w.mp4' } }
  rig.vendor.answers.set('GET /api/v1/tasks/w1', inTurn([...times(3, unknown), done]))
  rig.vendor.answers.set('GET /api/v1/tasks/w2', { body: unknown })
  rig.vendor.answers.set(path, accepted('w2'))
  const lost = await submit('wan2.5-t2v-preview')
  rig.vendor.answers.set(path, accepted('w1'))
  const late = await submit('wan2.5-t2v-preview')
  await expect.poll(() => statusOf(late)).toBe('completed')
  await expect.poll(() => statusOf(lost)).toBe('failed')
  expect(await rig.money(lost)).toEqual(['CallAdmitted', 'CallReleased'])
})
