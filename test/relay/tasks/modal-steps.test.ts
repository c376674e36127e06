import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { type ScriptedProvider, scriptedProvider } from '../support/scripted-provider.ts'
import { type Answered, HOUR, tasksRig } from './tasks-rig.ts'

const PICTURE = `data:image/png;base64,${Buffer.from('a picture').toString('base64')}`
const MINUTE = 60_000
const VIDEO = 400_000n
const STEP = 50_000n
const REPORTS = '/mj/task/list-by-condition'

let aheadMs = 0
const vendor: ScriptedProvider = startedOnce(scriptedProvider)
const rig = startedOnce(() => tasksRig({}, { now: () => Date.now() + aheadMs }))

beforeAll(async () => {
  const models = ['mj_video', 'mj_modal', 'mj_upscale', 'mj_reroll']
  const channel = { type: 2, models, groups: ['default'], baseUrl: vendor.url, priority: 10 }
  await rig.addChannel(81, channel)
})

/** The reports of the provider on its tasks, by their ids. */
const reports = new Map<string, string>()
const report = (id: string, status: string) => {
  reports.set(id, status)
  const body = [...reports].map(([one, state]) => ({ id: one, status: state }))
  vendor.answers.set(`POST ${REPORTS}`, { body })
}
const status = async (task: string) => (await rig.ask(`/mj/task/${task}/fetch`)).json.status
const requests = (path: string) => vendor.requests.filter((request) => request.path === path).length
/** Waits for so many further polls that a task that they do not mention would be given up. */
const pollsFollow = async () => {
  const before = requests(REPORTS)
  await expect.poll(() => requests(REPORTS)).toBeGreaterThan(before + 12)
}

let count = 0
let first: string
let name: string
let before: bigint
beforeEach(async () => {
  aheadMs = 0
  reports.clear()
  before = await rig.balance()
  count += 1
  name = `video-${count}`
  report(name, 'MODAL')
  const answer = { code: 21, description: 'ok', properties: { status: 'MODAL' } }
  vendor.answers.set('POST /mj/submit/video', { body: { ...answer, result: name } })
  first = (await rig.ask('/mj/submit/video', { prompt: 'x', image: PICTURE })).json.result
})

/** Submits a modal step, which the provider accepts with the id `id`. */
const submit = (id: string, taskId = first): Promise<Answered> => {
  vendor.answers.set('POST /mj/submit/modal', { body: { code: 1, description: 'ok', result: id } })
  return rig.ask('/mj/submit/modal', { taskId, prompt: 'y' })
}

describe('modal steps of one waiting video', () => {
  it('are one at a time, so that no further video is made at the price of a step', async () => {
    const sent = requests('/mj/submit/modal')
    const answers = await Promise.all(Array.from({ length: 50 }, () => submit(`${name}-2`)))
    const accepted = answers.filter((answer) => answer.status === 200)
    expect(accepted).toHaveLength(1)
    const modal = accepted[0]?.json.result as string
    for (const { status: code, json } of answers.filter((answer) => answer.status !== 200)) {
      expect([code, json.error.code]).toEqual([409, 'task_step_running'])
      expect(json.error.message).toContain(modal)
    }
    expect(requests('/mj/submit/modal') - sent).toBe(1)
    report(`${name}-2`, 'SUCCESS')
    for (const task of [first, modal]) await expect.poll(() => status(task)).toBe('SUCCESS')
    expect(await rig.balance()).toBe(before - VIDEO - STEP)
    const next = (await submit(`${name}-3`)).json.result
    expect((await rig.taskEvents(next))[0]?.data).toMatchObject({ model: 'mj_video' })
    report(`${name}-3`, 'SUCCESS')
    await expect.poll(() => status(next)).toBe('SUCCESS')
    expect(await rig.balance()).toBe(before - VIDEO - STEP - VIDEO)
  })

  it('can not complete a step that runs, so that no chain of steps evades the rule', async () => {
    const modal = (await submit(`${name}-2`)).json.result
    const { status: code, json } = await submit(`${name}-3`, modal)
    expect([code, json.error.code]).toEqual([409, 'task_step_running'])
    report(`${name}-2`, 'SUCCESS')
    await expect.poll(() => status(modal)).toBe('SUCCESS')
    expect(await rig.balance()).toBe(before - VIDEO - STEP)
  })

  it('make a video, so that what continues them has the price of a video', async () => {
    const modal = (await submit(`${name}-2`)).json.result
    report(`${name}-2`, 'SUCCESS')
    for (const task of [first, modal]) await expect.poll(() => status(task)).toBe('SUCCESS')
    const next = (await submit(`${name}-3`, modal)).json.result
    vendor.answers.set('POST /mj/submit/change', {
      body: { code: 1, description: 'ok', result: `${name}-4` },
    })
    const change = { taskId: modal, action: 'REROLL' }
    const repeated = (await rig.ask('/mj/submit/change', change)).json.result
    const modelOf = async (task: string) => (await rig.taskEvents(task))[0]?.data
    for (const task of [next, repeated]) {
      expect(await modelOf(task)).toMatchObject({ model: 'mj_video' })
    }
    expect(await rig.balance()).toBe(before - VIDEO - STEP - VIDEO - VIDEO)
    // Whatever continues a video is a video, also if it has a price of its own.
    report(`${name}-4`, 'SUCCESS')
    await expect.poll(() => status(repeated)).toBe('SUCCESS')
    vendor.answers.set('POST /mj/submit/change', {
      body: { code: 1, description: 'ok', result: `${name}-5` },
    })
    const upscale = { taskId: repeated, action: 'UPSCALE', index: 1 }
    const larger = (await rig.ask('/mj/submit/change', upscale)).json.result
    expect(await modelOf(larger)).toMatchObject({ model: 'mj_upscale' })
    report(`${name}-5`, 'SUCCESS')
    await expect.poll(() => status(larger)).toBe('SUCCESS')
    const again = { taskId: larger, action: 'REROLL' }
    const last = (await rig.ask('/mj/submit/change', again)).json.result
    expect(await modelOf(last)).toMatchObject({ model: 'mj_video' })
  })

  it('are charged with their video if the provider reports its window as failed', async () => {
    const modal = (await submit(`${name}-2`)).json.result
    report(name, 'FAILURE')
    await pollsFollow()
    expect(await rig.money(first)).toEqual(['CallAdmitted'])
    report(`${name}-2`, 'SUCCESS')
    for (const task of [first, modal]) await expect.poll(() => status(task)).toBe('SUCCESS')
    expect(await rig.balance()).toBe(before - VIDEO - STEP)
  })

  it('may follow each other after a step has failed', async () => {
    const modal = (await submit(`${name}-2`)).json.result
    expect((await submit(`${name}-3`)).status).toBe(409)
    report(`${name}-2`, 'FAILURE')
    await expect.poll(() => status(modal)).toBe('FAILURE')
    expect((await submit(`${name}-3`)).status).toBe(200)
  })
})

describe('a modal step of an old video', () => {
  it('is refused, and holds nothing, if the video might expire before the step ends', async () => {
    const sent = requests('/mj/submit/modal')
    aheadMs = 46 * MINUTE
    const { status: code, json } = await submit(`${name}-2`)
    expect([code, json.error.code]).toEqual([400, 'task_step_too_late'])
    expect(requests('/mj/submit/modal')).toBe(sent)
    expect(await rig.balance()).toBe(before - VIDEO)
  })

  it.each([
    ['reported as waiting', true],
    ['no longer reported', false],
  ])('keeps a video from expiring uncharged that is %s', async (_case, isReported) => {
    if (!isReported) reports.delete(name)
    aheadMs = 44 * MINUTE
    const modal = (await submit(`${name}-2`)).json.result
    aheadMs = HOUR + MINUTE
    report(`${name}-2`, 'IN_PROGRESS')
    await pollsFollow()
    expect(await rig.money(first)).toEqual(['CallAdmitted'])
    report(`${name}-2`, 'SUCCESS')
    for (const task of [first, modal]) {
      await expect.poll(() => status(task)).toBe('SUCCESS')
      expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
    }
  })

  it('lets the video expire as soon as the step has failed', async () => {
    const modal = (await submit(`${name}-2`)).json.result
    aheadMs = 50 * MINUTE
    report(`${name}-2`, 'FAILURE')
    await expect.poll(() => status(modal)).toBe('FAILURE')
    aheadMs = HOUR + MINUTE
    await expect.poll(() => status(first)).toBe('FAILURE')
    expect(await rig.money(first)).toEqual(['CallAdmitted', 'CallReleased'])
  })
})
