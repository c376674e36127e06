import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { channelHealthStream } from '#domain/channel-health/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { type Scripted, scriptedProvider } from '../support/scripted-provider.ts'
import { VIDEO_SCRIPTS, type VideoScript } from './video-scripts.ts'
import { videosRig } from './videos-rig.ts'

/** Behind channels that are drawn before those of `rig.vendor`. */
const first = startedOnce(scriptedProvider)
const rig = startedOnce(() => videosRig())

const TYPES = {
  ...{ kling: 50, jimeng: 51, vidu: 52, doubao: 54, sora: 55, veo: 24, hailuo: 35, wan: 17 },
} as const
type Vendor = keyof typeof TYPES

beforeAll(async () => {
  await rig.setOption('RetryTimes', '1')
  await rig.setOption('channel_health.circuit_failures', '100')
  for (const [vendor, type] of Object.entries(TYPES)) {
    const { model } = scriptOf(vendor as Vendor)
    const terms = { type, models: [model], baseUrl: first.url, priority: 9 }
    await rig.addChannel(700 + type, terms)
  }
})
beforeEach(() => {
  first.requests.length = 0
})

const scriptOf = (vendor: Vendor): VideoScript => {
  const script = VIDEO_SCRIPTS[vendor]
  if (script === undefined) throw new Error('no script')
  return script
}
const submit = (vendor: Vendor) => {
  const { model, body } = scriptOf(vendor)
  return rig.post('/v1/videos', { model, prompt: 'the sea', ...body })
}
/** Adds channel 800 with two keys, which is drawn before all others. */
const addTwoKeys = (type: number, model: string) =>
  rig.append(CHANNELS_STREAM, {
    type: 'ChannelsCreated',
    v: 1,
    data: {
      terms: {
        ...{ ...PLAIN_CHANNEL_TERMS, type, models: [model], baseUrl: first.url },
        ...{ groups: ['default'], priority: 20 },
      },
      channels: [{ channelId: 800, name: 'two keys', keyRefs: ['key:first', 'key:second'] }],
      ...{ keyMode: 'polling', isEnabled: true },
    },
  })
/** Deletes channel 800 and waits until the hold of its open task is released. */
const deleteTwoKeys = async (task: string): Promise<void> => {
  await rig.append(CHANNELS_STREAM, {
    ...{ type: 'ChannelsDeleted', v: 1, data: { channelIds: [800] } },
  })
  await expect.poll(() => rig.money(task)).toEqual(['CallAdmitted', 'CallReleased'])
}
/** The refusals by a vendor and by its gateway, in its own format. */
const SECRET = 'the planted state of the account'
const google = (error: object): Scripted => ({
  status: 400,
  body: { error: { code: 400, message: SECRET, ...error } },
})
const REFUSALS: readonly [Vendor, string, Scripted][] = [
  ['wan', 'arrears', { status: 400, body: { code: 'Arrearage', message: SECRET } }],
  ['wan', 'a bill', { status: 429, body: { code: 'PostpaidBillOverdue', message: SECRET } }],
  ['wan', 'a model', { status: 404, body: { code: 'ModelNotFound', message: SECRET } }],
  ['hailuo', 'a balance', { body: { base_resp: { status_code: 1008, status_msg: SECRET } } }],
  ['hailuo', 'a key', { body: { base_resp: { status_code: 2049, status_msg: SECRET } } }],
  ['hailuo', 'a plan', { body: { base_resp: { status_code: 2061, status_msg: SECRET } } }],
  ['kling', 'arrears', { status: 429, body: { code: 1101, message: SECRET } }],
  ['kling', 'a resource pack', { status: 429, body: { code: 1102, message: SECRET } }],
  ['kling', 'an address', { status: 400, body: { code: 1304, message: SECRET } }],
  ['jimeng', 'an account', { body: { code: 50_400, message: SECRET } }],
  [
    'jimeng',
    'a signature',
    {
      status: 400,
      body: { ResponseMetadata: { Error: { Code: 'InvalidCredential', Message: SECRET } } },
    },
  ],
  [
    'vidu',
    'credits',
    { status: 400, body: { code: 400, reason: 'CreditInsufficient', message: SECRET } },
  ],
  [
    'doubao',
    'arrears',
    { status: 403, body: { error: { code: 'AccountOverdueError', message: SECRET } } },
  ],
  [
    'doubao',
    'a permission',
    { status: 403, body: { error: { code: 'AccessDenied', message: SECRET } } },
  ],
  [
    'doubao',
    'a model',
    { status: 404, body: { error: { code: 'ModelNotOpen', message: SECRET } } },
  ],
  [
    'sora',
    'a limit of spending',
    { status: 400, body: { error: { code: 'billing_hard_limit_reached', message: SECRET } } },
  ],
  ['veo', 'a key', google({ details: [{ reason: 'API_KEY_INVALID' }] })],
  ['veo', 'billing', google({ status: 'FAILED_PRECONDITION' })],
]

describe.each(REFUSALS)('%s refuses the account because of %s', (vendor, _cause, refusal) => {
  const { submit: path, accepted } = scriptOf(vendor)
  beforeEach(() => void first.answers.set(path, refusal))

  it('and another channel makes the video', async () => {
    rig.vendor.answers.set(path, { body: accepted })
    const { status, json, text } = await submit(vendor)
    expect(status, text).toBe(200)
    const taken = (await rig.taskEvents(json.id)).find(({ type }) => type === 'TaskAccepted')
    expect(taken?.data).toMatchObject({
      channelId: 500 + TYPES[vendor],
      attempts: [{ channelId: 700 + TYPES[vendor] }, { channelId: 500 + TYPES[vendor] }],
    })
  })

  it('and the caller learns nothing of the account if no channel is left', async () => {
    rig.vendor.answers.set(path, refusal)
    const before = await rig.balance()
    const { status, json, text, headers } = await submit(vendor)
    expect({ status, code: json.error.code }).toEqual({ status: 502, code: 'upstream_account' })
    expect(text).not.toContain(SECRET)
    expect(await rig.balance()).toBe(before)
    const released = (await rig.callEvents()).findLast(({ type }) => type === 'CallReleased')
    expect(released?.data).toMatchObject({ errorCode: 'upstream_account', statusCode: 502 })
    const failed = await rig.taskEvents(headers.get('x-request-id') ?? '')
    expect(failed.at(-1)?.data).toMatchObject({ cause: 'refused', code: null, failReason: null })
  })
})

describe('a refusal of the request itself', () => {
  it.each(['wan', 'hailuo', 'kling', 'vidu', 'doubao', 'sora', 'veo'] as const)(
    'by %s reaches the caller, and no other channel gets the request',
    async (vendor) => {
      const { submit: path, refused } = scriptOf(vendor)
      first.answers.set(path, refused)
      rig.vendor.requests.length = 0
      const { status, text } = await submit(vendor)
      expect(status).toBe(400)
      expect(text).toContain('the value is bad')
      expect(first.requests).toHaveLength(1)
      const method = (one: { readonly method: string; readonly path: string }) =>
        `${one.method} ${one.path.split('?')[0]}`
      expect(rig.vendor.requests.map(method)).not.toContain(path)
    },
  )
})

describe('a prompt that a vendor refuses for its content with status 403', () => {
  const words = 'Content violates usage guidelines: the sea'
  const metadata = { reasons: ['violence'], flagged_input: 'the sea' }
  const denied = 'The caller does not have permission to execute the specified operation'
  it.each([
    ['sora', { error: { code: 403, message: words, metadata } }],
    ['sora', { code: denied, error: words }],
    ['doubao', { error: { code: 403, message: words, metadata } }],
    ['kling', { code: denied, error: words }],
  ] as const)('by %s with %j costs nothing and goes nowhere else', async (vendor, body) => {
    const { submit: path, accepted } = scriptOf(vendor)
    first.answers.set(path, { status: 403, body })
    rig.vendor.answers.set(path, { body: accepted })
    rig.vendor.requests.length = 0
    const before = await rig.balance()
    const { status, text, headers } = await submit(vendor)
    expect(status, text).toBe(400)
    expect(text).toContain(words)
    expect(first.requests).toHaveLength(1)
    const isSent = rig.vendor.requests.some((one) => `${one.method} ${one.path}` === path)
    expect(isSent).toBe(false)
    expect(await rig.balance()).toBe(before)
    const events = await rig.taskEvents(headers.get('x-request-id') ?? '')
    expect(events.at(-1)).toMatchObject({ type: 'TaskFailed', data: { cause: 'refused' } })
  })
})

it('a failure of a vendor with the code of an account sends no second request', async () => {
  const { submit: request } = scriptOf('sora')
  // Earlier tasks are still polled, also by POST.
  const isSubmission = ({ method, path }: { readonly method: string; readonly path: string }) =>
    `${method} ${path}` === request
  first.answers.set(request, { status: 500, body: { error: { code: 'insufficient_quota' } } })
  rig.vendor.requests.length = 0
  expect((await submit('sora')).status).toBe(502)
  expect(first.requests.filter(isSubmission)).toHaveLength(1)
  expect(rig.vendor.requests.filter(isSubmission)).toEqual([])
})

it('a failure inside of a vendor is no fault of the request', async () => {
  const { submit: path } = scriptOf('hailuo')
  first.answers.set(path, { body: { base_resp: { status_code: 1033, status_msg: 'system' } } })
  const { status, json } = await submit('hailuo')
  expect({ status, code: json.error.code }).toEqual({ status: 502, code: 'upstream_error' })
})

it('a channel whose account is refused with status 200 is avoided', async () => {
  const { submit: path, accepted } = scriptOf('hailuo')
  first.answers.set(path, { body: { base_resp: { status_code: 1008, status_msg: SECRET } } })
  rig.vendor.answers.set(path, { body: accepted })
  await rig.setOption('channel_health.circuit_failures', '3')
  for (let n = 0; n < 3; n += 1) expect((await submit('hailuo')).status).toBe(200)
  const opened = () => rig.eventsOf(channelHealthStream(735))
  await expect
    .poll(opened)
    .toMatchObject([{ type: 'CircuitOpened', data: { reason: 'status-402' } }])
  first.requests.length = 0
  expect((await submit('hailuo')).status).toBe(200)
  expect(first.requests).toEqual([])
  await rig.setOption('channel_health.circuit_failures', '100')
})

it('a key without permission is set aside, and another key of its channel is used', async () => {
  const { submit: path, accepted, model } = scriptOf('doubao')
  await rig.setOption('AutomaticDisableChannelEnabled', 'true')
  await rig.setOption('channel_health.disable_failures', '1')
  await addTwoKeys(54, model)
  const body = { error: { code: 'AccessDenied', message: SECRET } }
  first.answers.set(path, { status: 403, body, next: { body: accepted } })
  const { status, json, text } = await submit('doubao')
  expect(status, text).toBe(200)
  const taken = (await rig.taskEvents(json.id)).find(({ type }) => type === 'TaskAccepted')
  expect(taken?.data).toMatchObject({
    channelId: 800,
    attempts: [{ channelId: 800, status: 403 }, { channelId: 800 }],
  })
  // Nobody ends this failure by topping up the account, so the operator must learn of it.
  const setAside = async () =>
    (await rig.eventsOf(CHANNELS_STREAM)).filter(({ type }) => type === 'ChannelKeySetAside')
  await expect.poll(setAside).toMatchObject([{ data: { channelId: 800, reason: 'status-403' } }])
  await rig.setOption('AutomaticDisableChannelEnabled', 'false')
  await deleteTwoKeys(json.id)
})

it('both keys of a channel in arrears leave the only retry to the next channel', async () => {
  const { submit: path, accepted, model } = scriptOf('kling')
  await addTwoKeys(50, model)
  const arrears = { status: 429, body: { code: 1101, message: SECRET } }
  first.answers.set(path, { ...arrears, next: { ...arrears, next: { body: accepted } } })
  const { status, json, text } = await submit('kling')
  expect(status, text).toBe(200)
  const taken = (await rig.taskEvents(json.id)).find(({ type }) => type === 'TaskAccepted')
  expect(taken?.data).toMatchObject({
    channelId: 750,
    attempts: [{ channelId: 800 }, { channelId: 800 }, { channelId: 750 }],
  })
  await rig.append(CHANNELS_STREAM, {
    ...{ type: 'ChannelsDeleted', v: 1, data: { channelIds: [800] } },
  })
})

it('keys beyond the retries are not replaced by another channel', async () => {
  const { submit: path, model } = scriptOf('kling')
  await rig.setOption('RetryTimes', '0')
  await addTwoKeys(50, model)
  first.answers.set(path, { status: 429, body: { code: 1101, message: SECRET } })
  const { status } = await submit('kling')
  await rig.setOption('RetryTimes', '1')
  await rig.append(CHANNELS_STREAM, {
    ...{ type: 'ChannelsDeleted', v: 1, data: { channelIds: [800] } },
  })
  expect(status).toBe(502)
  // Earlier tasks are still polled.
  const keys = first.requests.flatMap(({ method, path: sentTo, headers }) =>
    `${method} ${sentTo}` === path ? [headers.authorization] : [],
  )
  expect(keys.toSorted()).toEqual(['Bearer first', 'Bearer second'])
})

const callOf = ({ data }: { readonly data: object }) => ('call' in data ? data.call : null)

describe('a vendor’s limit', () => {
  const { submit: path, accepted, model } = scriptOf('kling')
  const limited = (retryAfter: string): Scripted => ({
    status: 429,
    headers: { 'retry-after': retryAfter },
    body: { code: 1302, message: 'too many requests', error: { message: 'too many requests' } },
  })

  it('leads to another key of the same channel', async () => {
    await addTwoKeys(50, model)
    first.answers.set(path, { ...limited('1'), next: { body: accepted } })
    const { status, json, text } = await submit('kling')
    expect(status, text).toBe(200)
    const keys = first.requests.flatMap(({ method, headers }) =>
      method === 'POST' ? [headers.authorization] : [],
    )
    expect(keys.toSorted()).toEqual(['Bearer first', 'Bearer second'])
    const taken = (await rig.taskEvents(json.id)).find(({ type }) => type === 'TaskAccepted')
    expect(taken?.data).toMatchObject({
      channelId: 800,
      attempts: [{ channelId: 800, status: 429 }, { channelId: 800 }],
    })
    await deleteTwoKeys(json.id)
  })

  it('is answered with the delay in the body of a Google error', async () => {
    const gemini = scriptOf('veo')
    const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }
    const error = { code: 429, message: 'Slow', status: 'RESOURCE_EXHAUSTED', details: [info] }
    for (const { answers } of [first, rig.vendor]) {
      answers.set(gemini.submit, { status: 429, body: { error } })
    }
    const path = `/v1beta/models/${gemini.model}:predictLongRunning`
    const { status, headers } = await rig.post(path, { instances: [{ prompt: 'x' }] })
    expect([status, headers.get('retry-after')]).toEqual([429, '7'])
  })

  it('is answered with its status and a bounded delay once no channel is left', async () => {
    const gemini = scriptOf('veo')
    const ways: readonly [string, string, object, object][] = [
      [
        path,
        '/v1/videos',
        { model, prompt: 'x' },
        { error: { type: 'rate_limit_error', message: 'too many requests' } },
      ],
      [path, '/kling/v1/videos/text2video', { model_name: model, prompt: 'x' }, { code: 429 }],
      [
        gemini.submit,
        `/v1beta/models/${gemini.model}:predictLongRunning`,
        { instances: [{ prompt: 'x' }] },
        { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } },
      ],
    ]
    for (const [vendorPath, ownPath, body, error] of ways) {
      for (const [requested, shown] of [
        ['7', '7'],
        ['99999999', '3600'],
      ] as const) {
        for (const { answers } of [first, rig.vendor]) answers.set(vendorPath, limited(requested))
        // Earlier videos may end meanwhile, so the balance tells nothing about this call.
        const before = new Set((await rig.callEvents()).map(callOf))
        const { status, headers, json } = await rig.post(ownPath, body)
        expect([ownPath, status, headers.get('retry-after')]).toEqual([ownPath, 429, shown])
        expect(json).toMatchObject(error)
        const added = (await rig.callEvents()).filter((event) => !before.has(callOf(event)))
        expect(added.map(({ type }) => type)).toEqual(['CallAdmitted', 'CallReleased'])
      }
    }
  })

  it('is told to clients of drawings and music as well', async () => {
    await rig.setOption('RetryTimes', '0')
    await rig.addChannel(702, { type: 2, models: ['mj_imagine'], baseUrl: first.url, priority: 9 })
    await rig.addChannel(736, { type: 36, models: ['suno_music'], baseUrl: first.url, priority: 9 })
    first.answers.set('POST /mj/submit/imagine', limited('7'))
    first.answers.set('POST /suno/submit/MUSIC', limited('7'))
    const drawing = await rig.ask('/mj/submit/imagine', { prompt: 'a boat' })
    expect([drawing.status, drawing.json.code, drawing.headers.get('retry-after')]).toEqual([
      429,
      23,
      '7',
    ])
    const music = await rig.ask('/suno/submit/music', { prompt: 'a shanty' })
    expect([music.status, music.json.message, music.headers.get('retry-after')]).toEqual([
      429,
      'too many requests',
      '7',
    ])
  })
})

describe('the status code mapping of a channel', () => {
  const statusCodeMapping = '{"400":"422","402":"503","404":"451","429":"529","500":"418"}'
  const TASKS = [
    [55, 'sora-map', 'POST /v1/videos', { model: 'sora-map', prompt: 'x' }],
    [36, 'suno_music', 'POST /suno/submit/MUSIC', { gpt_description_prompt: 'x' }],
    [2, 'mj_imagine', 'POST /mj/submit/imagine', { prompt: 'x' }],
  ] as const

  it.each(TASKS)('applies to tasks of type %i', async (type, model, path, body) => {
    const terms = { type, models: [model], baseUrl: first.url, priority: 30, statusCodeMapping }
    await rig.addChannel(900 + type, terms)
    await rig.setOption('RetryTimes', '0')
    await rig.setOption('ModelPrice', { 'sora-map': 0.1, suno_music: 0.1, mj_imagine: 0.1 })
    for (const [status, shown] of [
      [400, 422],
      [404, 451],
      [429, 529],
      [500, 418],
    ] as const) {
      first.answers.set(path, { status, body: { error: { message: 'no' } } })
      const { status: answered, text, headers } = await rig.post(path.replace('POST ', ''), body)
      expect(answered, `${status} ${text}`).toBe(shown)
      const task = headers.get('x-request-id') ?? ''
      expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallReleased'])
      const released = (await rig.callEvents()).findLast((event) => event.type === 'CallReleased')
      const attempts = [{ channelId: 900 + type, status }]
      expect(released?.data).toMatchObject({ call: task, statusCode: shown, attempts })
    }
    await rig.setOption('RetryTimes', '1')
  })

  it('applies to the cause that a vendor reports, and hides the account', async () => {
    const terms = { type: 50, models: ['kling-map'], baseUrl: first.url, statusCodeMapping }
    await rig.addChannel(950, terms)
    await rig.setOption('ModelPrice', { 'kling-map': 0.1 })
    const path = 'POST /v1/videos/text2video'
    for (const [code, shown] of [
      [1101, 503],
      [1302, 529],
      [1201, 422],
    ] as const) {
      first.answers.set(path, { status: 400, body: { code, message: SECRET } })
      const sent = { model_name: 'kling-map', prompt: 'x' }
      const { status, json, text } = await rig.post('/kling/v1/videos/text2video', sent)
      expect([status, json.code], text).toEqual([shown, shown])
      expect(text.includes(SECRET)).toBe(code !== 1101)
    }
  })
})
