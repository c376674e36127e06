import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { BodyMemory } from '#relay/limits/body-memory.ts'
import { drawingSubmitAnswer } from '#relay/tasks/read-provider-task-answers.ts'
import { PROVIDER_KEY } from '../support/relay-rig.ts'
import {
  type Scripted,
  type ScriptedProvider,
  scriptedProvider,
} from '../support/scripted-provider.ts'
import { type TasksRig, tasksRig } from './tasks-rig.ts'

let rig: TasksRig
let first: ScriptedProvider
let second: ScriptedProvider

/** Two channels of a group of their own: the first is preferred. */
beforeAll(async () => {
  rig = await tasksRig()
  ;[first, second] = await Promise.all([scriptedProvider(), scriptedProvider()])
  const drawing = { type: 5, models: ['mj_imagine', 'mj_describe'] }
  await rig.addChannel(51, { ...drawing, baseUrl: first.url, priority: 9 })
  await rig.addChannel(52, { ...drawing, baseUrl: second.url, priority: 8 })
  await rig.setOption('RetryTimes', '1')
})
afterAll(async () => {
  await rig.close()
  await Promise.all([first.close(), second.close()])
})
beforeEach(() => {
  for (const { requests: asked, answers } of [first, second]) {
    asked.length = 0
    answers.clear()
    answers.set('POST /mj/submit/imagine', TAKEN)
  }
})

const PATH = 'POST /mj/submit/imagine'
const TAKEN: Scripted = { body: { code: 1, description: 'ok', result: '77', properties: {} } }
const submitted = ({ requests: asked }: ScriptedProvider) =>
  asked.filter(({ path }) => path.startsWith('/mj/submit/'))
const imagine = (body: object = {}) => rig.ask('/mj/submit/imagine', { prompt: 'a boat', ...body })

describe('request that a provider receives', () => {
  it('has the caller’s body without restricted members, and the provider’s key', async () => {
    const came = { prompt: 'a boat --fast', notifyHook: 'http://evil.example', state: 'x' }
    await imagine({ ...came, accountFilter: { modes: ['FAST'] } })
    const [sent] = submitted(first)
    expect(sent?.headers['mj-api-secret']).toBe(PROVIDER_KEY)
    expect(sent?.headers.authorization).toBeUndefined()
    expect(JSON.parse(sent?.body ?? '')).toEqual({ prompt: 'a boat --fast', state: 'x' })
  })

  it('is a copy whose memory is counted beside the caller’s body', async () => {
    const held = { now: 0, most: 0 }
    const count = (bytes: number) => {
      held.now += bytes
      held.most = Math.max(held.most, held.now)
    }
    const take = vi.spyOn(BodyMemory.prototype, 'take').mockImplementation((bytes) => {
      count(bytes)
      return true
    })
    const giveBack = vi.spyOn(BodyMemory.prototype, 'giveBack')
    giveBack.mockImplementation((bytes) => count(-bytes))
    await imagine()
    const { length } = JSON.stringify({ prompt: 'a boat' })
    await expect.poll(() => held).toEqual({ now: 0, most: 2 * length })
    take.mockImplementation((bytes) => {
      count(bytes)
      return held.now <= length
    })
    const refused = await imagine()
    expect(refused).toMatchObject({ status: 503, json: { error: { code: 'overloaded' } } })
    vi.restoreAllMocks()
    expect(submitted(first)).toHaveLength(1)
  })

  it('follows the mode in the path and the options', async () => {
    await rig.setOption('MjModeClearEnabled', 'true')
    await rig.setOption('MjAccountFilterEnabled', 'true')
    const body = { prompt: 'a boat --fast --ar 1:1', accountFilter: { instanceId: 'a' } }
    await rig.ask('/mj-relax/mj/submit/imagine', body)
    await rig.setOption('MjModeClearEnabled', 'false')
    await rig.setOption('MjAccountFilterEnabled', 'false')
    expect(JSON.parse(submitted(first)[0]?.body ?? '')).toEqual({
      prompt: 'a boat --ar 1:1',
      accountFilter: { instanceId: 'a', modes: ['RELAX'] },
    })
  })
})

describe('another channel', () => {
  const FAILS: [string, Scripted][] = [
    ['a fault', { status: 503 }],
    ['a full queue', { body: { code: 23, description: 'queue full' } }],
    ['no account', { body: { code: 3, description: 'no account' } }],
  ]
  it.each(FAILS)('is tried after %s', async (_title, answer) => {
    first.answers.set(PATH, answer)
    const { json } = await imagine()
    expect(json).toMatchObject({ code: 1 })
    expect([submitted(first).length, submitted(second).length]).toEqual([1, 1])
    const accepted = (await rig.taskEvents(json.result)).at(3)
    expect(accepted?.data).toMatchObject({
      channelId: 52,
      attempts: [{ channelId: 51 }, { channelId: 52, error: null }],
    })
  })

  it('is not tried where the first may have accepted the task', async () => {
    first.answers.set(PATH, { body: 'no json' })
    const before = await rig.balance()
    expect(await imagine()).toMatchObject({ status: 502, json: { code: 4 } })
    expect(submitted(second)).toHaveLength(0)
    expect(await rig.balance()).toBe(before)
  })
})

describe('an answer of a provider', () => {
  it('reaches the caller without keys and addresses, and the hold is released', async () => {
    const before = await rig.balance()
    const description = `bad ${PROVIDER_KEY} at https://discord.example/x`
    first.answers.set(PATH, { body: { code: 24, description } })
    const { status, json } = await imagine()
    expect(status).toBe(200)
    expect(json).toMatchObject({ code: 24, description: 'bad *** at ***', result: '' })
    expect(await rig.balance()).toBe(before)
    await rig.setOption('global.hide_upstream_error_enabled', 'true')
    const hidden = await imagine()
    await rig.setOption('global.hide_upstream_error_enabled', 'false')
    expect(hidden.json.description).toBe('The provider answered with an error.')
  })

  it('that refuses the provider key becomes 502 upstream_account', async () => {
    for (const { answers } of [first, second]) answers.set(PATH, { status: 401 })
    const before = await rig.balance()
    expect(await imagine()).toMatchObject({
      status: 502,
      json: { error: { code: 'upstream_account' } },
    })
    expect(await rig.balance()).toBe(before)
  })

  it('with a picture at a private address shows no picture', async () => {
    for (const imageUrl of ['http://169.254.169.254/x', rig.url, 'http://127.0.0.1:1/x.png']) {
      const rows = [{ id: '77', status: 'SUCCESS', progress: '100%', imageUrl }]
      first.answers.set('POST /mj/task/list-by-condition', { body: rows })
      const { json } = await imagine()
      const task = json.result as string
      const shown = () => rig.ask(`/mj/task/${task}/fetch`)
      await expect.poll(async () => (await shown()).json.status).toBe('SUCCESS')
      expect((await rig.ask(`/mj/image/${task}`)).status).toBe(404)
    }
  })

  it('can name a picture of any size at that provider’s address', async () => {
    const imageUrl = `${first.url}/large.png`
    first.answers.set('POST /mj/task/list-by-condition', {
      body: [{ id: '77', status: 'SUCCESS', imageUrl }],
    })
    const pieces = Array.from({ length: 6 }, () => Buffer.alloc(1024 * 1024, 7))
    const headers = { 'content-type': 'image/png' }
    first.answers.set('GET /large.png', { headers, pieces })
    const { json } = await imagine()
    const shown = () => rig.ask(`/mj/task/${json.result}/fetch`)
    await expect.poll(async () => (await shown()).json.status).toBe('SUCCESS')
    const answer = await fetch(`${rig.url}/mj/image/${json.result}`)
    expect((await answer.arrayBuffer()).byteLength).toBe(6 * 1024 * 1024)
  })

  it('whose picture is not an image shows no picture', async () => {
    const imageUrl = `${first.url}/page`
    first.answers.set('POST /mj/task/list-by-condition', {
      body: [{ id: '77', status: 'SUCCESS', imageUrl }],
    })
    first.answers.set('GET /page', { headers: { 'content-type': 'text/html' }, body: '<script>' })
    const { json } = await imagine()
    const shown = () => rig.ask(`/mj/task/${json.result}/fetch`)
    await expect.poll(async () => (await shown()).json.status).toBe('SUCCESS')
    expect((await rig.ask(`/mj/image/${json.result}`)).status).toBe(404)
  })
})

it.each([true, [1], { toString: 1 }])('the result code %j does not accept a task', (code) => {
  const body = Buffer.from(JSON.stringify({ code, description: 'ok', result: '77' }))
  const answer = drawingSubmitAnswer(body, { isFollowUp: false })
  expect(answer).toMatchObject({ isAccepted: false, code: null })
})
