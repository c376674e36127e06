import { beforeAll, describe, expect, it } from 'vitest'
import { userStream } from '#domain/users/events.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { USER } from '../support/relay-rig.ts'
import { type ScriptedProvider, scriptedProvider } from '../support/scripted-provider.ts'
import { tasksRig } from './tasks-rig.ts'

const PICTURE = `data:image/png;base64,${Buffer.from('a picture').toString('base64')}`
const NO_KEY = { 'mj-api-secret': '' }
const MP4 = Buffer.from('0123456789'.repeat(1_000))

const vendor: ScriptedProvider = startedOnce(scriptedProvider)
const rig = startedOnce(() => tasksRig())

const MODELS = ['mj_edits', 'mj_video', 'mj_imagine', 'mj_upload', 'mj_modal']

beforeAll(async () => {
  await rig.addChannel(81, {
    ...{ type: 2, models: MODELS },
    ...{ groups: ['default'], baseUrl: vendor.url, priority: 10 },
  })
})

const sent = (path: string) =>
  JSON.parse(vendor.requests.findLast((request) => request.path === path)?.body ?? '{}')

let count = 0
/** Submits a drawing task whose provider finishes it at once with `result`. Returns its id. */
async function done(path: string, body: object, result: object = {}): Promise<string> {
  count += 1
  const id = `up-${count}`
  const accepted = { code: 1, description: 'submitted', result: id }
  vendor.answers.set(`POST ${path}`, { body: accepted })
  const { json, text } = await rig.ask(path, body)
  expect(json, text).toMatchObject({ code: 1 })
  const report = { id, status: 'SUCCESS', progress: '100%', ...result }
  vendor.answers.set('POST /mj/task/list-by-condition', { body: [report] })
  const statusOf = async () => (await rig.ask(`/mj/task/${json.result}/fetch`)).json.status
  await expect.poll(statusOf).toBe('SUCCESS')
  return json.result as string
}

const videosAt = (...names: string[]) => ({
  videoUrls: names.map((name) => ({ url: `${vendor.url}/${name}` })),
})

describe('/mj/submit/edits', () => {
  it('sends the pictures and the mask, and charges the price of an edit', async () => {
    const before = await rig.balance()
    const body = { prompt: 'a red door', base64Array: [PICTURE], maskBase64: PICTURE }
    const task = await done('/mj/submit/edits', body)
    expect(sent('/mj/submit/edits')).toMatchObject(body)
    const [submitted] = await rig.taskEvents(task)
    expect(submitted?.data).toMatchObject({ action: 'EDITS', model: 'mj_edits' })
    expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
    expect(await rig.balance()).toBe(before - 50_000n)
  })

  it('takes one picture as `image` or `base64`, which may be a web address', async () => {
    for (const body of [{ image: 'https://a.example/1.png' }, { base64: PICTURE }]) {
      await done('/mj/submit/edits', { prompt: 'a red door', ...body })
      expect(sent('/mj/submit/edits')).toMatchObject(body)
    }
  })

  it('names a member that is missing or invalid, and holds nothing', async () => {
    const before = await rig.balance()
    const bad = [
      [{ base64Array: [PICTURE] }, 'prompt'],
      [{ prompt: 'x' }, 'base64'],
      [{ prompt: 'x', image: 'no picture' }, 'image'],
      [{ prompt: 'x', base64Array: [] }, 'base64Array'],
      [{ prompt: 'x', base64: PICTURE, maskBase64: 'no mask' }, 'maskBase64'],
    ] as const
    for (const [body, param] of bad) {
      const { status, json, text } = await rig.ask('/mj/submit/edits', body)
      expect([status, json.error.param], text).toEqual([400, param])
    }
    expect(await rig.balance()).toBe(before)
  })
})

describe('/mj/submit/video', () => {
  it('starts with a picture, charges the price of a video and serves its files', async () => {
    const before = await rig.balance()
    vendor.answers.set('GET /1.mp4', {
      ...{ headers: { 'content-type': 'video/mp4', 'content-length': `${MP4.length}` } },
      pieces: [MP4],
    })
    const body = { prompt: 'waves', motion: 'low', image: PICTURE, videoType: 'vid_1.1_i2v_720' }
    const task = await done('/mj/submit/video', body, videosAt('0.mp4', '1.mp4'))
    const { videoType, ...kept } = body
    expect(sent('/mj/submit/video')).toMatchObject(kept)
    expect(sent('/mj/submit/video')).not.toHaveProperty('videoType')
    expect(await rig.balance()).toBe(before - 400_000n)
    const { json, text } = await rig.ask(`/mj/task/${task}/fetch`)
    const links = [0, 1].map((index) => `${rig.url}/mj/video/${task}/${index}`)
    expect(json).toMatchObject({
      ...{ action: 'VIDEO', videoUrl: links[0] },
      videoUrls: links.map((url) => ({ url })),
    })
    expect(text).not.toContain(vendor.url)
    const headers = { ...NO_KEY, range: 'bytes=0-' }
    const file = await rig.ask(`/mj/video/${task}/1`, undefined, headers)
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'video/mp4'])
    expect(file.text).toBe(MP4.toString())
    expect(vendor.requests.at(-1)?.headers).toMatchObject({ range: 'bytes=0-' })
    expect(await rig.ask(`/mj/video/${task}/2`, undefined, NO_KEY)).toMatchObject({ status: 404 })
  })

  it('continues a task at the channel that has it', async () => {
    const picture = await done('/mj/submit/imagine', { prompt: 'a boat' })
    const task = await done('/mj/submit/video', { taskId: picture, index: 0, motion: 'high' })
    expect(sent('/mj/submit/video')).toMatchObject({ taskId: `up-${count - 1}`, index: 0 })
    const [submitted] = await rig.taskEvents(task)
    expect(submitted?.data).toMatchObject({ origin: picture, model: 'mj_video' })
  })

  it('repeats a video at the price of a video, also a repeated one', async () => {
    let task = await done('/mj/submit/video', { prompt: 'x', image: PICTURE })
    for (const path of ['/mj/submit/change', '/mj/submit/action']) {
      const before = await rig.balance()
      const customId = 'MJ::JOB::reroll::0::a::SOLO'
      task = await done(path, { taskId: task, action: 'REROLL', customId })
      const [submitted] = await rig.taskEvents(task)
      expect(submitted?.data).toMatchObject({ action: 'REROLL', model: 'mj_video' })
      expect(await rig.balance()).toBe(before - 400_000n)
    }
  })

  it('is made by a button below a picture, which may also extend a video', async () => {
    let task = await done('/mj/submit/imagine', { prompt: 'a boat' })
    for (const name of ['animate_high', 'animate_low', 'animate_high_extend']) {
      const before = await rig.balance()
      const customId = `MJ::JOB::${name}::1::a::SOLO`
      task = await done('/mj/submit/action', { taskId: task, customId })
      const [submitted] = await rig.taskEvents(task)
      expect(submitted?.data).toMatchObject({ action: 'VIDEO', model: 'mj_video' })
      expect(await rig.balance()).toBe(before - 400_000n)
    }
  })

  it('needs a picture, a task or a prompt that names a picture', async () => {
    const { status, json } = await rig.ask('/mj/submit/video', { motion: 'low' })
    expect([status, json.error.param]).toEqual([400, 'image'])
    const bad = await rig.ask('/mj/submit/video', { prompt: 'x', endImage: 'no picture' })
    expect([bad.status, bad.json.error.param]).toEqual([400, 'endImage'])
    await done('/mj/submit/video', { prompt: 'https://a.example/1.png waves' })
  })
})

describe('a video whose provider asks for a modal step', () => {
  /** Submits a task, which its provider accepts with the id. Returns the id of the task. */
  const submit = async (path: string, body: object, id: string, status?: string) => {
    const answer = { code: status === undefined ? 1 : 21, description: 'ok', result: id }
    vendor.answers.set(`POST ${path}`, { body: { ...answer, properties: { status } } })
    const { json, text } = await rig.ask(path, body)
    expect(json.result, text).toEqual(expect.any(String))
    return json.result as string
  }
  const report = (...rows: (readonly [id: string, status: string, more?: object])[]) => {
    const body = rows.map(([id, status, more]) => ({ id, status, ...more }))
    vendor.answers.set('POST /mj/task/list-by-condition', { body })
  }
  const status = (task: string) =>
    expect.poll(async () => (await rig.ask(`/mj/task/${task}/fetch`)).json.status)
  /** Submits a video and its modal step. `step` is the provider's id of the step. */
  const twoSteps = async (name: string, step: string) => {
    report([name, 'MODAL'])
    const video = { prompt: 'x', image: PICTURE }
    const first = await submit('/mj/submit/video', video, name, 'MODAL')
    const modal = await submit('/mj/submit/modal', { taskId: first, prompt: 'y' }, step)
    expect(sent('/mj/submit/modal')).toMatchObject({ taskId: name })
    return [first, modal] as const
  }

  it.each([
    ['one id for both steps', 'one-1', 'one-1'],
    ['an id for each step', 'two-1', 'two-2'],
  ])('costs a video and a modal step, and has one result: %s', async (_ids, name, step) => {
    const before = await rig.balance()
    const tasks = await twoSteps(name, step)
    report(
      [name, name === step ? 'SUCCESS' : 'MODAL', videosAt('0.mp4')],
      [step, 'SUCCESS', videosAt('0.mp4')],
    )
    for (const task of tasks) {
      await status(task).toBe('SUCCESS')
      expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
      expect((await rig.ask(`/mj/task/${task}/fetch`)).json.videoUrls).toHaveLength(1)
    }
    expect(await rig.balance()).toBe(before - 400_000n - 50_000n)
  })

  it.each([
    ['the code 21 alone names the window', null],
    ['the provider reports another status before the window', 'QUEUED'],
  ])('is charged and gets the result also if %s', async (_case, reported) => {
    const before = await rig.balance()
    const name = `unnamed-${reported}`
    const answer = { code: 21, description: 'ok', result: name }
    report()
    vendor.answers.set('POST /mj/submit/video', { body: answer })
    const first = (await rig.ask('/mj/submit/video', { prompt: 'x', image: PICTURE })).json.result
    if (reported !== null) {
      report([name, reported])
      await status(first).toBe(reported)
    }
    const modal = await submit('/mj/submit/modal', { taskId: first, prompt: 'y' }, `${name}-2`)
    report([`${name}-2`, 'SUCCESS', videosAt('0.mp4')])
    for (const task of [first, modal]) {
      await status(task).toBe('SUCCESS')
      expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
    }
    expect(await rig.balance()).toBe(before - 400_000n - 50_000n)
  })

  it('still waits, and costs nothing, if the step fails', async () => {
    const before = await rig.balance()
    const [first, modal] = await twoSteps('failed-1', 'failed-2')
    report(['failed-1', 'MODAL'], ['failed-2', 'FAILURE'])
    await status(modal).toBe('FAILURE')
    expect(await rig.money(modal)).toEqual(['CallAdmitted', 'CallReleased'])
    expect(await rig.money(first)).toEqual(['CallAdmitted'])
    const again = await submit('/mj/submit/modal', { taskId: first, prompt: 'z' }, 'failed-3')
    report(['failed-1', 'MODAL'], ['failed-3', 'SUCCESS'])
    for (const task of [first, again]) await status(task).toBe('SUCCESS')
    expect(await rig.balance()).toBe(before - 400_000n - 50_000n)
  })

  it('has the price of a video for a step after its end, which makes another one', async () => {
    const task = await done('/mj/submit/video', { prompt: 'x', image: PICTURE })
    const before = await rig.balance()
    const modal = await done('/mj/submit/modal', { taskId: task, prompt: 'y' })
    const [submitted] = await rig.taskEvents(modal)
    expect(submitted?.data).toMatchObject({ action: 'MODAL', model: 'mj_video' })
    expect(await rig.balance()).toBe(before - 400_000n)
  })
})

describe('a flag in a prompt that asks for a video', () => {
  it.each(['waves --video', 'waves —VIDEO 1', '––video', 'waves --video --fast'])(
    'is refused at the price of a picture: %j',
    async (prompt) => {
      await rig.setOption('MjModeClearEnabled', 'true')
      const before = await rig.balance()
      const requests = vendor.requests.length
      for (const path of ['/mj/submit/imagine', '/mj/submit/edits', '/mj/submit/shorten']) {
        const { status, json } = await rig.ask(path, { prompt, base64: PICTURE })
        expect([status, json.error.code]).toEqual([400, 'parameter_not_supported'])
      }
      expect(await rig.balance()).toBe(before)
      expect(vendor.requests).toHaveLength(requests)
    },
  )

  it('is kept at the price of a video, and so are other words and flags of a picture', async () => {
    const prompt = 'https://a.example/1.png waves --video 1'
    await done('/mj/submit/video', { prompt })
    expect(sent('/mj/submit/video')).toMatchObject({ prompt })
    const drawn = 'a video camera --no video --videography'
    await done('/mj/submit/imagine', { prompt: drawn })
    expect(sent('/mj/submit/imagine')).toMatchObject({ prompt: drawn })
  })
})

describe('/mj/submit/upload-discord-images', () => {
  it('answers with the addresses that the provider names at once, and charges once', async () => {
    const before = await rig.balance()
    const result = ['https://cdn.example/1.png', 'https://cdn.example/2.png']
    const answer = { code: 1, description: 'success', result }
    vendor.answers.set('POST /mj/submit/upload-discord-images', { body: answer })
    const body = { base64Array: [PICTURE, PICTURE] }
    const { json, text, headers } = await rig.ask('/mj/submit/upload-discord-images', body)
    expect(json, text).toMatchObject({ code: 1, result })
    const task = headers.get('x-request-id') ?? ''
    const types = (await rig.taskEvents(task)).map(({ type }) => type)
    expect(types).toEqual(['TaskSubmitted', 'TaskRouted', 'TaskAccepted', 'TaskSucceeded'])
    expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
    expect(await rig.balance()).toBe(before - 25_000n)
  })

  it('is refused and costs nothing if the provider names anything else', async () => {
    const before = await rig.balance()
    for (const result of [[], ['no address'], [{}], null]) {
      vendor.answers.set('POST /mj/submit/upload-discord-images', { body: { code: 1, result } })
      const body = { base64Array: [PICTURE] }
      const { status } = await rig.ask('/mj/submit/upload-discord-images', body)
      expect(status).toBe(502)
    }
    expect(await rig.balance()).toBe(before)
  })
})

describe('the files of a drawing task', () => {
  it('are worth a retry if the file server fails, and gone if it does not have them', async () => {
    const imageUrl = `${vendor.url}/a.png`
    const result = { imageUrl, ...videosAt('a.mp4') }
    const task = await done('/mj/submit/video', { prompt: 'x', image: PICTURE }, result)
    for (const [file, path] of [
      ['/a.png', `/mj/image/${task}`],
      ['/a.mp4', `/mj/video/${task}/0`],
    ] as const) {
      for (const status of [500, 503, 429]) {
        vendor.answers.set(`GET ${file}`, { status })
        const answer = await rig.ask(path, undefined, NO_KEY)
        expect([answer.status, answer.json.error.code]).toEqual([503, 'file_fetch_failed'])
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      for (const status of [403, 404, 410]) {
        vendor.answers.set(`GET ${file}`, { status })
        const answer = await rig.ask(path, undefined, NO_KEY)
        expect([answer.status, answer.json.error.code]).toEqual([404, 'image_unavailable'])
        expect(answer.headers.get('retry-after')).toBeNull()
      }
    }
  })

  it('are fetched from a new address if that of the result has expired', async () => {
    const png = { headers: { 'content-type': 'image/png' }, pieces: [Buffer.from('a picture')] }
    const mp4 = { headers: { 'content-type': 'video/mp4' }, pieces: [Buffer.from('a video')] }
    const result = { imageUrl: `${vendor.url}/old.png`, ...videosAt('old.mp4') }
    const task = await done('/mj/submit/video', { prompt: 'x', image: PICTURE }, result)
    for (const name of ['/old.png', '/old.mp4']) vendor.answers.set(`GET ${name}`, { status: 403 })
    vendor.answers.set('GET /new.png', png)
    vendor.answers.set('GET /new.mp4', mp4)
    const report = { id: `up-${count}`, status: 'SUCCESS', imageUrl: `${vendor.url}/new.png` }
    const answer = { body: [{ ...report, ...videosAt('new.mp4') }] }
    vendor.answers.set('POST /mj/task/list-by-condition', answer)
    const textAt = async (path: string) => (await rig.ask(path, undefined, NO_KEY)).text
    expect(await textAt(`/mj/image/${task}`)).toBe('a picture')
    expect(await textAt(`/mj/video/${task}/0`)).toBe('a video')
    for (const [path, type] of [
      [`/mj/image/${task}`, 'image/png'],
      [`/mj/video/${task}/0`, 'video/mp4'],
    ]) {
      const head = await fetch(`${rig.url}${path}`, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-type')]).toEqual([200, type])
    }
    const other = await done('/mj/submit/video', { prompt: 'x', image: PICTURE }, result)
    vendor.answers.set('POST /mj/task/list-by-condition', { status: 500 })
    expect(await rig.ask(`/mj/image/${other}`, undefined, NO_KEY)).toMatchObject({ status: 503 })
    vendor.answers.set('POST /mj/task/list-by-condition', { body: [] })
    expect(await rig.ask(`/mj/image/${other}`, undefined, NO_KEY)).toMatchObject({ status: 404 })
  })

  it('cause one request for a new address, however many people view them', async () => {
    const result = { imageUrl: `${vendor.url}/past.png` }
    const task = await done('/mj/submit/imagine', { prompt: 'x' }, result)
    vendor.answers.set('GET /past.png', { status: 403 })
    const picture = { headers: { 'content-type': 'image/png' }, pieces: [Buffer.from('present')] }
    vendor.answers.set('GET /present.png', picture)
    const report = { id: `up-${count}`, status: 'SUCCESS' }
    const answerWith = (name: string) =>
      vendor.answers.set('POST /mj/task/list-by-condition', {
        body: [{ ...report, imageUrl: `${vendor.url}/${name}` }],
      })
    answerWith('present.png')
    const path = '/mj/task/list-by-condition'
    const looks = () => vendor.requests.filter((request) => request.path === path).length
    const before = looks()
    const view = () => rig.ask(`/mj/image/${task}`, undefined, NO_KEY)
    const views = await Promise.all(Array.from({ length: 50 }, view))
    expect(new Set(views.map(({ text }) => text))).toEqual(new Set(['present']))
    expect(looks() - before).toBe(1)
    // The new address expires as well, and the next view asks for another one.
    vendor.answers.set('GET /present.png', { status: 403 })
    vendor.answers.set('GET /future.png', picture)
    answerWith('future.png')
    expect(await view()).toMatchObject({ status: 404 })
    expect((await view()).text).toBe('present')
    expect(looks() - before).toBe(2)
  })

  it('are not cut at the size of a picture if the address of the picture is a video', async () => {
    const size = 70 * 1024 * 1024
    const piece = Buffer.alloc(1024 * 1024, 7)
    vendor.answers.set('GET /large.mp4', {
      headers: { 'content-type': 'video/mp4', 'content-length': `${size}` },
      pieces: Array.from({ length: 70 }, () => piece),
    })
    const imageUrl = `${vendor.url}/large.mp4`
    const task = await done('/mj/submit/video', { prompt: 'x', image: PICTURE }, { imageUrl })
    const response = await fetch(`${rig.url}/mj/image/${task}`)
    let length = 0
    for await (const part of response.body ?? []) length += part.length
    expect([response.status, length]).toEqual([200, size])
  })

  it('are not served while the owner of the task is disabled', async () => {
    const picture = { headers: { 'content-type': 'image/png' }, pieces: [Buffer.from('present')] }
    vendor.answers.set('GET /present.png', picture)
    const imageUrl = `${vendor.url}/present.png`
    const task = await done('/mj/submit/imagine', { prompt: 'x' }, { imageUrl })
    const view = async () => (await rig.ask(`/mj/image/${task}`, undefined, NO_KEY)).status
    expect(await view()).toBe(200)
    const change = (type: 'UserDisabled' | 'UserEnabled') =>
      rig.append(userStream(USER), { type, v: 1, data: { userId: USER } })
    await change('UserDisabled')
    await expect.poll(view).toBe(404)
    await change('UserEnabled')
    await expect.poll(view).toBe(200)
  })
})
