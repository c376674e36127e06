import { describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { videosRig } from './videos-rig.ts'

const rig = startedOnce(() => videosRig())
const VERSION = 'Version=2022-08-31'
const SUBMIT = `/jimeng/?Action=CVSync2AsyncSubmitTask&${VERSION}`
const RESULT = `/jimeng/?Action=CVSync2AsyncGetResult&${VERSION}`
const MODEL = 'jimeng_t2v_v30'

const lastSubmission = () =>
  JSON.parse(rig.vendor.requests.findLast(({ path }) => path.includes('SubmitTask'))?.body ?? '{}')

async function submitted(): Promise<string> {
  rig.vendor.answers.set('POST /', { body: { code: 10_000, data: { task_id: 'j1' } } })
  const image = Buffer.alloc(96, 7).toString('base64')
  const body = { req_key: MODEL, prompt: 'the sea', frames: 241, binary_data_base64: [image] }
  const { json, text } = await rig.post(SUBMIT, body)
  expect(json, text).toMatchObject({ code: 10_000, message: 'Success' })
  expect(lastSubmission()).toMatchObject(body)
  return json.data.task_id as string
}

const resultOf = async (task_id: string) =>
  (await rig.post(RESULT, { req_key: MODEL, task_id })).json

describe('the format of Jimeng', () => {
  it('submits a video and shows its result, with a link that needs no key', async () => {
    const before = await rig.balance()
    const task = await submitted()
    expect(['in_queue', 'generating']).toContain((await resultOf(task)).data.status)
    const video_url = `${rig.vendor.url}/j.mp4`
    const done = { code: 10_000, data: { status: 'done', video_url, task_id: 'j1' } }
    rig.vendor.answers.set('POST /', { body: done })
    rig.vendor.answers.set('GET /j.mp4', {
      ...{ headers: { 'content-type': 'video/mp4' }, pieces: [Buffer.from('a video')] },
    })
    await expect.poll(async () => (await resultOf(task)).data.status).toBe('done')
    const { data } = await resultOf(task)
    expect(data.video_url).not.toContain(rig.vendor.url)
    expect(await (await fetch(data.video_url)).text()).toBe('a video')
    expect(await rig.balance()).toBe(before - 200_000n)
  })

  it('shows a failed video as an error', async () => {
    const task = await submitted()
    const failed = { code: 50_411, message: 'the picture was unfit', data: { task_id: 'j1' } }
    rig.vendor.answers.set('POST /', { status: 400, body: failed })
    await expect.poll(async () => (await resultOf(task)).code).toBe(50_500)
    expect(await resultOf(task)).toMatchObject({ message: failed.message, data: null })
  })

  it('names what is missing or invalid', async () => {
    const bad = [
      [SUBMIT, { prompt: 'x' }, 400, 'req_key'],
      [SUBMIT, { req_key: MODEL, prompt: 'x', frames: 100 }, 400, 'frames'],
      [SUBMIT, { req_key: MODEL, prompt: 'x', image_urls: 'x' }, 400, 'image_urls'],
      [RESULT, { req_key: MODEL }, 400, 'task_id'],
      ['/jimeng/', {}, 400, 'Action'],
      [`/jimeng?Action=Other&${VERSION}`, {}, 400, 'Action'],
    ] as const
    for (const [path, body, status, param] of bad) {
      const answer = await rig.post(path, body)
      expect([answer.status, answer.json.error.param], answer.text).toEqual([status, param])
      expect(answer.json).toMatchObject({ code: 400, request_id: expect.any(String) })
    }
    const unknown = { req_key: MODEL, task_id: '019ab0de-2c00-7000-8000-0000000000ff' }
    expect(await rig.post(RESULT, unknown)).toMatchObject({ status: 404 })
    expect(await rig.post(RESULT, { ...unknown, task_id: 'x' })).toMatchObject({ status: 404 })
    expect((await rig.ask(SUBMIT)).status).toBe(405)
  })

  it('names the members that are not sent', async () => {
    rig.vendor.answers.set('POST /', { body: { code: 10_000, data: { task_id: 'j1' } } })
    const body = { req_key: MODEL, prompt: 'the sea', seed: 7, template_id: 'x' }
    const { headers } = await rig.post(SUBMIT, body)
    expect(headers.get('x-dropped-members')).toBe('template_id')
    expect(lastSubmission()).toMatchObject({ req_key: MODEL, seed: 7 })
  })

  it('is served only by channels of Jimeng, as that of Kling by channels of Kling', async () => {
    const submissions = () => rig.vendor.requests.filter(({ body }) => body.includes('a storm'))
    const other = [
      [SUBMIT, { req_key: 'kling-v1-6', prompt: 'a storm' }],
      ['/kling/v1/videos/text2video', { model_name: 'sora-2', prompt: 'a storm' }],
    ] as const
    for (const [path, body] of other) {
      const { status, text } = await rig.post(path, body)
      // Clients would repeat a request after the status 503 in vain.
      expect(status, text).toBe(404)
    }
    expect(submissions()).toEqual([])
  })
})
