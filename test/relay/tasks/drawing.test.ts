import { beforeAll, describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { KEY } from '../support/relay-rig.ts'
import { tasksRig, UNKNOWN_TASK } from './tasks-rig.ts'

const OTHER_KEY = 'zyxwvutsrqponmlkjihgfedcba9876543210ABCDEFGHIJKL'
const PRICE = 50_000n
const BARE = 'iVBORw0KGgo='
const PICTURE = `data:image/png;base64,${BARE}`
/** As some languages write them. */
const SLASHED = PICTURE.replace('/', '\\/')
const ESCAPED = `{"base64Array":["${SLASHED}","data:image/png;base64,\\u002BA=="]}`

const TASK_MS = 300

const rig = startedOnce(() =>
  tasksRig({}, { taskMs: TASK_MS, taskNow: () => heldAt ?? Date.now() }),
)
/** The provider's clock while it stands still; null: it goes. */
let heldAt: number | null = null
beforeAll(async () => {
  await rig.addUser(8)
  await rig.addToken(4, 8, OTHER_KEY)
  await rig.grant(8, 1_000_000_000n)
})

const statusOf = (task: string) =>
  expect.poll(async () => (await rig.ask(`/mj/task/${task}/fetch`)).json.status)

describe('a drawing', () => {
  it('is held at submit and settled when it succeeds', async () => {
    const before = await rig.balance()
    const submittedAt = Date.now()
    heldAt = submittedAt
    const submission = { prompt: 'a lighthouse', state: 'order 7 · 灯塔' }
    const answer = await rig.ask('/mj/submit/imagine', submission)
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ code: 1, description: 'submitted', properties: {} })
    const task = answer.json.result as string
    expect(answer.headers.get('x-request-id')).toBe(task)
    expect(await rig.balance()).toBe(before - PRICE)
    expect(await rig.money(task)).toEqual(['CallAdmitted'])
    heldAt = submittedAt + TASK_MS / 2
    await statusOf(task).toBe('IN_PROGRESS')
    heldAt = submittedAt + TASK_MS
    await statusOf(task).toBe('SUCCESS')
    expect(await rig.balance()).toBe(before - PRICE)
    expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
    const events = await rig.taskEvents(task)
    expect(events.map(({ type }) => type)).toEqual([
      'TaskSubmitted',
      'TaskRouted',
      'TaskAccepted',
      'TaskStatusChanged',
      'TaskSucceeded',
    ])
    const end = (await rig.callEvents()).find(({ type }) => type === 'CallSettled')
    expect(end?.data).toMatchObject({ charge: 50_000, costRatio: '0.4', cost: 20_000 })
    expect(end?.data).toMatchObject({ usageSource: 'estimated' })
    const { json } = await rig.ask(`/mj/task/${task}/fetch`)
    expect(json).toMatchObject({
      id: task,
      action: 'IMAGINE',
      prompt: 'a lighthouse',
      state: 'order 7 · 灯塔',
      progress: '100%',
      imageUrl: `${rig.url}/mj/image/${task}`,
      failReason: '',
    })
    expect(json.buttons).toHaveLength(4)
    expect(json.startTime).toBeGreaterThanOrEqual(json.submitTime)
    const picture = await rig.ask(`/mj/image/${task}`, undefined, { 'mj-api-secret': '' })
    expect(picture.headers.get('content-type')).toBe('image/png')
    expect(picture.headers.get('content-security-policy')).toContain('sandbox')
    const list = await rig.ask('/mj/task/list-by-condition', { ids: [task, UNKNOWN_TASK] })
    expect(list.json.map(({ id }: { id: string }) => id)).toEqual([task])
    const seed = await rig.ask(`/mj/task/${task}/image-seed`)
    expect(seed.json).toMatchObject({ code: 1, result: expect.stringMatching(/^\d+$/) })
    heldAt = null
  })

  it('that fails costs nothing', async () => {
    const before = await rig.balance()
    const task = await rig.imagine('failing')
    await statusOf(task).toBe('FAILURE')
    expect(await rig.balance()).toBe(before)
    expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallReleased'])
    const { json } = await rig.ask(`/mj/task/${task}/fetch`)
    expect(json).toMatchObject({ failReason: 'the simulated model gave up', imageUrl: '' })
    expect(json.state).toBe('')
    expect((await rig.taskEvents(task))[0]?.data).not.toHaveProperty('state')
  })

  it('that its provider refuses costs nothing, and the answer gives the reason', async () => {
    const before = await rig.balance()
    const { status, json } = await rig.ask('/mj/submit/imagine', { prompt: 'a banned word' })
    expect(status).toBe(200)
    expect(json).toEqual({
      code: 24,
      description: 'banned prompt words',
      properties: {},
      result: '',
    })
    expect(await rig.balance()).toBe(before)
    expect((await rig.taskEvents()).at(-1)).toMatchObject({
      type: 'TaskFailed',
      data: { cause: 'refused', code: 24 },
    })
  })

  it('can be continued after it succeeds, at the same provider', async () => {
    const task = await rig.imagine()
    const early = await rig.ask('/mj/submit/change', { taskId: task, action: 'UPSCALE', index: 2 })
    expect(early).toMatchObject({ status: 400, json: { error: { code: 'task_not_finished' } } })
    await statusOf(task).toBe('SUCCESS')
    const submission: [path: string, body: object, model: string][] = [
      ['change', { taskId: task, action: 'upscale', index: 2 }, 'mj_upscale'],
      ['simple-change', { content: `${task} V3` }, 'mj_variation'],
      ['simple-change', { content: `${task} R` }, 'mj_reroll'],
      ['action', { taskId: task, customId: 'MJ::Outpaint::50::1::abc::SOLO' }, 'mj_zoom'],
      ['action', { taskId: task, customId: 'MJ::Inpaint::1::abc::SOLO' }, 'mj_inpaint'],
      ['modal', { taskId: task, prompt: 'a red door', maskBase64: PICTURE }, 'mj_modal'],
    ]
    const [{ data: accepted } = { data: {} }] = (await rig.taskEvents(task)).slice(2)
    for (const [path, body, model] of submission) {
      const { json } = await rig.ask(`/mj/submit/${path}`, body)
      expect(json, path).toMatchObject({ code: 1 })
      const [submitted, , taken] = await rig.taskEvents(json.result)
      expect(submitted?.data, path).toMatchObject({ model, origin: task })
      expect(taken?.data).toMatchObject({ channelId: 21, keyRef: 'ref-21' })
    }
    expect(accepted).toMatchObject({ channelId: 21 })
  })

  it('accepts pictures as input', async () => {
    const submission: [path: string, body: unknown, model: string][] = [
      ['submit/describe', { base64: PICTURE }, 'mj_describe'],
      ['submit/blend', { base64Array: [PICTURE, PICTURE] }, 'mj_blend'],
      ['submit/upload-discord-images', { base64Array: [PICTURE] }, 'mj_upload'],
      ['insight-face/swap', { sourceBase64: PICTURE, targetBase64: PICTURE }, 'swap_face'],
      ['submit/blend', ESCAPED, 'mj_blend'],
      ['submit/blend', { base64Array: [BARE, 'https://pictures.test/a.png'] }, 'mj_blend'],
      ['submit/shorten', { prompt: 'a very long prompt' }, 'mj_shorten'],
    ]
    for (const [path, body, model] of submission) {
      const { json } = await rig.ask(`/mj-relax/mj/${path}`, body)
      expect(json, path).toMatchObject({ code: 1 })
      expect((await rig.taskEvents(json.result))[0]?.data, path).toMatchObject({ model })
    }
  })
})

describe('an Idempotency-Key', () => {
  it('counts for one task, unless the provider refuses that task', async () => {
    const before = await rig.balance()
    const headers = { 'idempotency-key': 'once' }
    const submission = { prompt: 'a boat' }
    const answers = await Promise.all(
      [1, 2, 3].map(() => rig.ask('/mj/submit/imagine', submission, headers)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect(await rig.balance()).toBe(before - PRICE)
    const banned = { prompt: 'a banned boat' }
    const again = { 'idempotency-key': 'twice' }
    for (let time = 0; time < 2; time += 1) {
      const { json } = await rig.ask('/mj/submit/imagine', banned, again)
      expect(json).toMatchObject({ code: 24 })
    }
  })
})

describe('owner of a task', () => {
  it('is the only user who can see and continue the task', async () => {
    const task = await rig.imagine()
    await statusOf(task).toBe('SUCCESS')
    const other = { 'mj-api-secret': OTHER_KEY }
    const notFound = { status: 404, json: { code: 4, error: { code: 'task_not_found' } } }
    expect(await rig.ask(`/mj/task/${task}/fetch`, undefined, other)).toMatchObject(notFound)
    expect(await rig.ask(`/mj/task/${task}/image-seed`, undefined, other)).toMatchObject(notFound)
    const list = await rig.ask('/mj/task/list-by-condition', { ids: [task] }, other)
    expect(list.json).toEqual([])
    const change = { taskId: task, action: 'REROLL' }
    expect(await rig.ask('/mj/submit/change', change, other)).toMatchObject(notFound)
    expect(await rig.ask(`/suno/fetch/${task}`)).toMatchObject({ status: 404 })
  })
})

describe('a refused request', () => {
  it.each([
    ['no key', { 'mj-api-secret': '' }, 401],
    ['a wrong key', { 'mj-api-secret': 'sk-abcdefgh12345678' }, 401],
  ])('is one with %s', async (_title, headers, status) => {
    const answer = await rig.ask('/mj/submit/imagine', { prompt: 'x' }, headers)
    expect(answer.status).toBe(status)
    expect(answer.json).toMatchObject({ code: 4, description: expect.any(String) })
  })

  it('is one by a token without the model or without quota', async () => {
    await rig.addToken(5, 8, `${OTHER_KEY}5`, { models: ['sim-small'] })
    const narrow = { 'mj-api-secret': `${OTHER_KEY}5` }
    const refused = await rig.ask('/mj/submit/imagine', { prompt: 'x' }, narrow)
    expect(refused).toMatchObject({ status: 403, json: { error: { code: 'model_not_allowed' } } })
    await rig.addUser(9)
    await rig.addToken(6, 9, `${OTHER_KEY}6`)
    const poor = { 'mj-api-secret': `${OTHER_KEY}6` }
    const unpaid = await rig.ask('/mj/submit/imagine', { prompt: 'x' }, poor)
    expect(unpaid).toMatchObject({ status: 402, json: { code: 30 } })
    expect(await rig.taskEvents()).not.toContainEqual(
      expect.objectContaining({ data: expect.objectContaining({ userId: 9 }) }),
    )
  })

  it('is every one while drawing is off', async () => {
    await rig.setOption('DrawingEnabled', 'false')
    const answer = await rig.ask('/mj/submit/imagine', { prompt: 'x' })
    await rig.setOption('DrawingEnabled', 'true')
    expect(answer).toMatchObject({ status: 403, json: { error: { code: 'tasks_off' } } })
  })

  it('is a chat with a model of a drawing channel', async () => {
    const chat = { model: 'mj_imagine', messages: [{ role: 'user', content: 'hi' }] }
    const headers = { authorization: `Bearer sk-${KEY}` }
    const answer = await rig.ask('/v1/chat/completions', chat, headers)
    const error = { code: 'model_not_at_endpoint' }
    expect(answer).toMatchObject({ status: 404, json: { error } })
  })
})

describe('bad input', () => {
  it.each([
    ['imagine', '', 'empty_body'],
    ['imagine', '[]', 'json_not_object'],
    ['imagine', '{"prompt":', 'json_incomplete'],
    ['imagine', {}, 'missing_parameter'],
    ['imagine', { prompt: 7 }, 'invalid_parameter'],
    ['imagine', { prompt: 'x', state: 'x'.repeat(1_025) }, 'string_above_max_length'],
    ['imagine', { prompt: 'x'.repeat(99_999) }, 'string_above_max_length'],
    ['imagine', { prompt: 'x'.repeat(16_385) }, 'string_above_max_length'],
    ['imagine', '{"prompt":"a\\u0000b"}', 'invalid_text'],
    ['imagine', { prompt: 'x', Prompt: 'y' }, 'ambiguous_key'],
    ['imagine', { prompt: 'x', notifyhook: 'http://example.com' }, 'ambiguous_key'],
    ['imagine', { prompt: 'x', accountFilter: { Modes: ['TURBO'] } }, 'ambiguous_key'],
    ['change', { taskId: UNKNOWN_TASK, action: 'UPSCALE' }, 'missing_parameter'],
    ['change', { taskId: UNKNOWN_TASK, action: 'UPSCALE', index: 5 }, 'invalid_parameter'],
    ['change', { taskId: UNKNOWN_TASK, action: 'PAINT', index: 1 }, 'invalid_parameter'],
    ['change', { taskId: '../x', action: 'REROLL' }, 'task_not_found'],
    ['simple-change', { content: 'U1' }, 'invalid_parameter'],
    ['action', { taskId: UNKNOWN_TASK, customId: 'MJ::Else' }, 'invalid_parameter'],
    ['modal', { prompt: 'x' }, 'missing_parameter'],
    ['blend', { base64Array: ['a'] }, 'invalid_parameter'],
    ['blend', { base64Array: [{}, {}] }, 'invalid_parameter'],
    ['blend', { base64Array: PICTURE }, 'invalid_parameter'],
    ['describe', { base64: 'a cat' }, 'invalid_parameter'],
    ['describe', {}, 'missing_parameter'],
  ])('%s with %j is refused as %s', async (path, body, code) => {
    const answer = await rig.ask(`/mj/submit/${path}`, body)
    expect(answer.json).toMatchObject({ error: { code } })
    expect(answer.status).toBeLessThan(500)
  })

  it.each([
    ['imagine', { prompt: 7 }, "'prompt': it must be a string"],
    ['imagine', { prompt: ' ' }, "'prompt': it must be a string"],
    ['change', { taskId: 'x', action: 'PAINT' }, "'action'. Possible values: UPSCALE, VARIATION"],
    ['change', { taskId: 'x', action: 'UPSCALE', index: 5 }, 'an integer in the range 1–4'],
    ['simple-change', { content: 'x' }, 'Possible values: "<task id> U1"'],
    ['blend', { base64Array: 5 }, '["data:image/png;base64,…", "data:image/png;base64,…"]'],
    ['blend', { base64Array: Array(9).fill(PICTURE) }, "'base64Array' has more than"],
    ['blend', { base64Array: [{}, {}] }, "'base64Array[0]'. Possible values: https://…, data:"],
    ['describe', { base64: 5 }, "'base64'. Possible values: https://…, data:"],
  ])('%s with %j is told what is possible', async (path, body, words) => {
    const { json } = await rig.ask(`/mj/submit/${path}`, body)
    expect(json.description).toContain(words)
    expect(json.error.code).toBe('invalid_parameter')
  })

  it.each([
    ['a number', 7, /base64Array\[1\]/],
    ['an empty text', '', /base64Array\[1\]/],
    ['words', 'a cat, please', /base64Array\[1\]/],
    ['base64 of words', 'YSBjYXQsIHBsZWFzZQ==', /base64Array\[1\]/],
    ['data of another kind', 'data:text/plain;base64,YSBjYXQ=', /base64Array\[1\]/],
    ['a data URL that breaks off', `${PICTURE}" x`, /base64Array\[1\]/],
    ['no data', 'data:image/png;base64,', /base64Array\[1\]/],
    ['an address that leads nowhere', 'https://', /base64Array\[1\]/],
    [
      'an oversized picture',
      `data:image/png;base64,${'A'.repeat(20 * 1024 * 1024)}`,
      /\[1\].+20971520/,
    ],
  ])(
    'a blend with %s as its second picture is refused, and costs nothing',
    async (_title, second, why) => {
      const before = await rig.balance()
      const sent = await rig.ask('/mj/submit/blend', { base64Array: [PICTURE, second] })
      expect(sent).toMatchObject({ status: 400, json: { code: 4 } })
      expect(sent.json.description).toMatch(why)
      expect(await rig.balance()).toBe(before)
    },
  )

  it('a text that is too long causes an error with the limit', async () => {
    const { json } = await rig.ask('/mj/submit/imagine', { prompt: 'x', state: 'x'.repeat(1_025) })
    expect(json.error.message).toMatch(/1024/)
  })

  it('invalid lists and paths are refused', async () => {
    for (const ids of [undefined, 'x', [1], Array(101).fill('x')]) {
      expect((await rig.ask('/mj/task/list-by-condition', { ids })).status).toBe(400)
    }
    for (const path of ['/mj', '/mj/submit/else', '/mj/task//fetch', '/slow/mj/submit/imagine']) {
      expect((await rig.ask(path, {})).status).toBe(404)
    }
    expect(await rig.ask('/mj/submit/imagine')).toMatchObject({ status: 405 })
    expect(await rig.ask(`/mj/image/${UNKNOWN_TASK}`)).toMatchObject({ status: 404 })
    expect(await rig.ask('/mj/task/%00/fetch')).toMatchObject({ status: 404 })
  })
})
