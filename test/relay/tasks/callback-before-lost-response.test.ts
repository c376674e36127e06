import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AttemptEnd } from '#relay/pipeline/attempt-end-types.ts'
import { mayBeAccepted } from '#relay/tasks/judge-submission-outcome.ts'
import { PROVIDER_KEY } from '../support/relay-rig.ts'
import {
  type Scripted,
  type ScriptedProvider,
  scriptedProvider,
} from '../support/scripted-provider.ts'
import { type TasksRig, tasksRig } from './tasks-rig.ts'

const IMAGINE = '/mj/submit/imagine'
const PRICE = 50_000n
const TAKEN: Scripted = { body: { code: 1, description: 'ok', result: '77', properties: {} } }

let rig: TasksRig
let aheadMs = 0
/** The open tasks that are looked after. */
let looked: readonly string[] = []
let first: ScriptedProvider
let second: ScriptedProvider

/** The first is preferred; both are told where to call back, and nobody asks. */
beforeAll(async () => {
  rig = await tasksRig(
    {
      tasks: {
        findOpenTasks: async (...page) =>
          (await rig.findOpenTasks(...page)).filter(({ task }) => looked.includes(task)),
      },
    },
    { now: () => Date.now() + aheadMs },
  )
  ;[first, second] = await Promise.all([scriptedProvider(), scriptedProvider()])
  await rig.setOption('MjNotifyEnabled', 'true')
  await rig.setOption('ServerAddress', rig.url)
  await rig.setOption('RetryTimes', '1')
})
afterAll(async () => {
  await rig.close()
  await Promise.all([first.close(), second.close()])
})

let channels = 100
/** New ones for each case: a circuit that opened is no other case's. */
beforeEach(async () => {
  channels += 20
  const drawing = { type: 5, models: ['mj_imagine'], groups: ['default'] }
  const priority = channels
  await rig.addChannel(channels, { ...drawing, baseUrl: first.url, priority: priority + 1 })
  await rig.addChannel(channels + 1, { ...drawing, baseUrl: second.url, priority })
  for (const { requests: asked, answers } of [first, second]) {
    asked.length = 0
    answers.set(`POST ${IMAGINE}`, TAKEN)
  }
})

const imagine = (headers = {}) => rig.ask(IMAGINE, { prompt: 'a boat' }, headers)
const hookOf = ({ requests: asked }: ScriptedProvider) =>
  new URL(JSON.parse(asked.at(-1)?.body ?? '{}').notifyHook).pathname
const callBack = (path: string, body: object) =>
  rig.ask(path, { id: '77', ...body }, { 'mj-api-secret': '' })
const callsOf = async (task: string) =>
  (await rig.callEvents()).filter(({ data }) => 'call' in data && data.call === task)
const taskIn = (path: string) => path.split('/')[3] ?? ''

/** What the caller is told once its provider called back, and then answered with a fault. */
async function answeredAfter(notice: object, status: number, headers = {}) {
  const gate = Promise.withResolvers<void>()
  first.answers.set(`POST ${IMAGINE}`, { status, body: {}, until: gate.promise })
  const asking = imagine(headers)
  await expect.poll(() => first.requests.length).toBe(1)
  const path = hookOf(first)
  expect((await callBack(path, notice)).status).toBe(200)
  gate.resolve()
  return { answer: await asking, path }
}

describe('a callback before a lost answer', () => {
  it('keeps the task: it is answered, charged once, and its key stays claimed', async () => {
    const before = await rig.balance()
    const key = { 'idempotency-key': 'lost 1' }
    const { answer, path } = await answeredAfter({ status: 'IN_PROGRESS' }, 500, key)
    expect(answer).toMatchObject({ status: 200, json: { code: 1, result: taskIn(path) } })
    expect((await imagine(key)).status).toBe(409)
    await callBack(path, { status: 'SUCCESS', imageUrl: 'https://pictures.example/1.png' })
    expect((await imagine(key)).status).toBe(409)
    expect(await rig.money(taskIn(path))).toEqual(['CallAdmitted', 'CallSettled'])
    expect(await rig.balance()).toBe(before - PRICE)
    expect(first.requests.length + second.requests.length).toBe(1)
  })

  it('that reports success completes and charges the task', async () => {
    const before = await rig.balance()
    const { answer, path } = await answeredAfter({ status: 'SUCCESS' }, 500)
    expect(answer).toMatchObject({ status: 200, json: { code: 1, result: taskIn(path) } })
    expect(await rig.balance()).toBe(before - PRICE)
  })

  it('that reports failure fails the task, charges nothing and frees its key', async () => {
    const before = await rig.balance()
    const key = { 'idempotency-key': 'lost 2' }
    const { answer } = await answeredAfter({ status: 'FAILURE' }, 500, key)
    expect(answer.status).toBe(502)
    expect(await rig.balance()).toBe(before)
    first.answers.set(`POST ${IMAGINE}`, TAKEN)
    expect((await imagine(key)).json).toMatchObject({ code: 1 })
  })

  it('keeps the task with that provider, and no other is asked', async () => {
    const { answer, path } = await answeredAfter({ status: 'SUBMITTED' }, 503)
    expect(answer).toMatchObject({ status: 200, json: { code: 1, result: taskIn(path) } })
    expect(second.requests).toHaveLength(0)
    const [, , accepted] = await rig.taskEvents(taskIn(path))
    expect(accepted?.data).toMatchObject({ channelId: channels })
  })
})

describe('a lost answer', () => {
  it('leaves a task with a callback open, and no other channel is asked', async () => {
    const before = await rig.balance()
    first.answers.set(`POST ${IMAGINE}`, { status: 504, body: '<html>' })
    const answer = await imagine({ 'idempotency-key': 'lost 3' })
    const path = hookOf(first)
    expect(answer).toMatchObject({ status: 200, json: { code: 22, result: taskIn(path) } })
    expect(answer.json.description).toContain('not confirmed')
    expect(second.requests).toHaveLength(0)
    expect(await rig.money(taskIn(path))).toEqual(['CallAdmitted'])
    await callBack(path, { status: 'SUCCESS' })
    expect(await rig.money(taskIn(path))).toEqual(['CallAdmitted', 'CallSettled'])
    expect(await rig.balance()).toBe(before - PRICE)
    expect((await imagine({ 'idempotency-key': 'lost 3' })).status).toBe(409)
  })

  it('is recorded with the channel, and the hold is released after ten minutes', async () => {
    const before = await rig.balance()
    first.answers.set(`POST ${IMAGINE}`, { body: '<html>' })
    expect((await imagine()).json).toMatchObject({ code: 22 })
    const task = taskIn(hookOf(first))
    const attempts = [{ channelId: channels, status: 200, error: 'format' }]
    const sentTo = { channelId: channels, keyRef: `ref-${channels}`, attempts }
    expect((await rig.taskEvents(task))[2]).toMatchObject({ type: 'TaskUnconfirmed', data: sentTo })
    looked = [task]
    aheadMs = 601_000
    await expect.poll(() => rig.money(task)).toEqual(['CallAdmitted', 'CallReleased'])
    aheadMs = 0
    const [, released] = await callsOf(task)
    expect(released?.data).toMatchObject({ channelId: channels, attempts })
    expect(await rig.balance()).toBe(before)
  })

  it('to each of fifty tasks at once ends each once, by callback or expiry', async () => {
    const before = await rig.balance()
    const gate = Promise.withResolvers<void>()
    first.answers.set(`POST ${IMAGINE}`, { status: 504, until: gate.promise })
    const asking = Array.from({ length: 50 }, () => imagine())
    await expect.poll(() => first.requests.length).toBe(50)
    const paths = first.requests.map(({ body }) => new URL(JSON.parse(body).notifyHook).pathname)
    const early = paths.slice(0, 25).map((path) => callBack(path, { status: 'SUCCESS' }))
    gate.resolve()
    const codes = (await Promise.all(asking)).map(({ json }) => json.code)
    expect(codes).toEqual(Array(50).fill(22))
    await Promise.all(early)
    aheadMs = 601_000
    looked = paths.map(taskIn)
    const late = paths.slice(25).map((path) => callBack(path, { status: 'SUCCESS' }))
    await Promise.all(late)
    const ends = async () => {
      const all = await Promise.all(paths.map((path) => rig.money(taskIn(path))))
      return all.map((types) => types.slice(1).join())
    }
    await expect.poll(async () => (await ends()).includes('')).toBe(false)
    aheadMs = 0
    const ended = await ends()
    expect(ended.slice(0, 25)).toEqual(Array(25).fill('CallSettled'))
    expect(ended.filter((end) => !/^Call(Settled|Released)$/.test(end))).toEqual([])
    const settled = ended.filter((end) => end === 'CallSettled').length
    expect(await rig.balance()).toBe(before - BigInt(settled) * PRICE)
  })

  it('is not assumed when the provider is down, so hold and key are freed', async () => {
    const before = await rig.balance()
    first.answers.set(`POST ${IMAGINE}`, { status: 502, body: '<html>' })
    const key = { 'idempotency-key': 'down 1' }
    const answers = await Promise.all([imagine(key), imagine()])
    expect(answers.map(({ status }) => status)).toEqual([502, 502])
    expect(await rig.balance()).toBe(before)
    first.answers.set(`POST ${IMAGINE}`, TAKEN)
    expect((await imagine(key)).json).toMatchObject({ code: 1 })
  })

  it.each(['no TLS', 'a closed port'])(
    'is not assumed with %s, and another channel is asked',
    async (why) => {
      const port = why === 'no TLS' ? new URL(first.url).port : 9
      const baseUrl = why === 'no TLS' ? `https://127.0.0.1:${port}` : `http://127.0.0.1:${port}`
      const drawing = { type: 5, models: ['mj_imagine'], groups: ['default'] }
      await rig.addChannel(900 + channels, { ...drawing, baseUrl, priority: channels + 9 })
      expect((await imagine()).json).toMatchObject({ code: 1 })
      expect([first.requests.length, second.requests.length]).toEqual([1, 0])
    },
  )

  it.each([500, 502, 408, 409])(
    'does not lead to another channel after the status %s',
    async (status) => {
      await rig.setOption('MjNotifyEnabled', 'false')
      const before = await rig.balance()
      first.answers.set(`POST ${IMAGINE}`, { status, body: {} })
      const answer = await imagine()
      await rig.setOption('MjNotifyEnabled', 'true')
      expect([1, 22]).not.toContain(answer.json.code)
      expect(second.requests).toHaveLength(0)
      expect(await rig.balance()).toBe(before)
    },
  )

  it.each([401, 403, 404, 429, 503, 521])(
    'leads to another channel after the status %s, as no task was accepted',
    async (status) => {
      first.answers.set(`POST ${IMAGINE}`, { status, body: {} })
      expect((await imagine()).json).toMatchObject({ code: 1 })
      expect(second.requests).toHaveLength(1)
    },
  )

  it('is assumed after a timeout, a cut, an invalid body or a gateway error', () => {
    const failed = { kind: 'failed', body: Buffer.alloc(0), retryAfterMs: 0 } as const
    type Fault = Extract<AttemptEnd, { kind: 'failed' }>['error']
    const lost = (error: Fault, status: number | null, latencyMs = 5_000) =>
      mayBeAccepted({ end: { ...failed, error, status }, latencyMs })
    expect([lost('timeout', null), lost('cut', 200), lost('status', 524)]).toEqual(
      Array(3).fill(true),
    )
    expect([lost('format', 200), lost('too-large', 200), lost('status', 502)]).toEqual(
      Array(3).fill(true),
    )
    expect([lost('connect', null), lost('status', 500), lost('status', 429)]).toEqual(
      Array(3).fill(false),
    )
    // Whoever stands before the provider found nobody there.
    expect(lost('status', 502, 40)).toBe(false)
  })
})

describe('a provider that echoes confidential text', () => {
  it('reveals neither its key nor the callback address to the caller', async () => {
    const host = new URL(first.url).host
    const echo = { promptEn: 'a boat', bannedWord: `${PROVIDER_KEY} at ${host}` }
    const gate = Promise.withResolvers<void>()
    const answer = { body: {}, until: gate.promise }
    first.answers.set(`POST ${IMAGINE}`, answer)
    const asking = imagine()
    await expect.poll(() => first.requests.length).toBe(1)
    const path = hookOf(first)
    const mark = path.split('/').at(-1) ?? ''
    const properties = { ...echo, finalPrompt: `a boat ${rig.url}${path}` }
    Object.assign(answer.body, { code: 1, description: `ok ${mark}`, result: '77', properties })
    gate.resolve()
    const { json } = await asking
    expect(json).toMatchObject({ code: 1, properties: { promptEn: 'a boat' } })
    const buttons = [{ customId: `MJ::${mark}`, label: 'U1', more: [{ host, [mark]: mark }] }]
    const told = { promptEn: `a boat ${mark}`, properties, buttons, prompt: 'a boat' }
    await callBack(path, { status: 'SUCCESS', ...told })
    const shown = await rig.ask(`/mj/task/${json.result}/fetch`)
    expect(shown.json).toMatchObject({ status: 'SUCCESS', promptEn: 'a boat ***' })
    expect(shown.json.buttons[0]).toMatchObject({ customId: 'MJ::***', label: 'U1' })
    for (const text of [JSON.stringify(json), shown.text]) {
      for (const word of [mark, PROVIDER_KEY, host]) expect(text).not.toContain(word)
    }
  })
})
