import { beforeEach, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { outcomeOf } from '#relay/channel-health/attempt-outcome.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)
const CHAT = '/v1/chat/completions'

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { m: 1 })
  await rig.addChannel(3, { type: 1, baseUrl: `${provider.url}/next`, models: ['m'] })
  const message = { role: 'assistant', content: 'Hello' }
  const body = { choices: [{ index: 0, message, finish_reason: 'stop' }] }
  provider.answers.set(`POST /next${CHAT}`, { body })
})

/** Adds a channel that is drawn first and whose provider sends an error. */
async function addFailing(type: number, path: string, status: number, body: object): Promise<void> {
  const terms = { type, models: ['m'], other: 'account', baseUrl: provider.url, priority: 1 }
  await rig.addChannel(2, terms)
  provider.answers.set(`POST ${path}`, { status, body })
}
const outcomeFor = (status: number, body: object) =>
  outcomeOf({
    ...{ kind: 'failed', error: 'status', status, retryAfterMs: 0 },
    body: Buffer.from(JSON.stringify(body)),
  })

const metadata = { reasons: ['violence'], flagged_input: 'Hel…', provider_name: 'OpenAI' }
const DENIED = 'The caller does not have permission to execute the specified operation'
const VIOLATION = 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_CSAM'

it.each([
  [20, { error: { code: 403, message: 'Input flagged', metadata } }],
  [48, { code: DENIED, error: VIOLATION }],
])('a prompt that type %i refuses with status 403 and %o reaches no other', async (type, body) => {
  await addFailing(type, CHAT, 403, body)
  await rig.setOption('RetryTimes', '1')
  const { status, text } = await chat(rig, { model: 'm' })
  expect([status, provider.requests.length], text).toEqual([403, 1])
  expect(text).toMatch(/Input flagged|Content violates usage guidelines/)
  expect((await onlyEnd(rig)).data).toMatchObject({ errorCode: 'upstream_status', statusCode: 403 })
  expect(outcomeFor(403, body)).toBe('well')
})

it.each([
  [48, { code: DENIED, error: "Your newly created teams doesn't have any credits yet." }],
  [48, { code: DENIED, error: `Access is denied: ${VIOLATION}` }],
  [48, { error: VIOLATION }],
  [20, { error: { code: 403, message: 'Key limit exceeded', metadata: { reasons: [] } } }],
  [20, { error: { code: 403, message: 'Input flagged', metadata: { reasons: ['x'] } } }],
  [20, { error: { code: 403, message: VIOLATION } }],
])('any other refusal by type %i with status 403 and %o blames the account', async (type, body) => {
  await addFailing(type, CHAT, 403, body)
  expect((await chat(rig, { model: 'm' })).status).toBe(502)
  await rig.setOption('RetryTimes', '1')
  expect((await chat(rig, { model: 'm' })).status).toBe(200)
})

const invalidModel = { message: 'Invalid model', type: 'invalid_model' }
const noModel = { code: 5_007, message: 'No such model' }
const CLOUDFLARE = '/client/v4/accounts/account/ai/v1/chat/completions'

it.each([
  [26, '/api/paas/v4/chat/completions', { error: { code: '1211', message: '模型不存在' } }],
  [42, CHAT, { object: 'error', ...invalidModel, param: null, code: '1500' }],
  [27, '/chat/completions', { error: { ...invalidModel, code: 400 } }],
  [40, CHAT, { code: 20_012, message: 'Model does not exist.', data: null }],
  [39, CLOUDFLARE, { success: false, errors: [noModel] }],
])('a model that type %i at %s lacks by %o is served by another', async (type, path, body) => {
  await addFailing(type, path, 400, body)
  expect((await chat(rig, { model: 'm' })).status).toBe(400)
  await rig.setOption('RetryTimes', '1')
  expect((await chat(rig, { model: 'm' })).status).toBe(200)
  expect(outcomeFor(400, body)).toEqual({ reason: 'status-400', blame: 'model' })
})

it.each([
  [400, { error: { code: 1211, message: 'x' } }],
  [400, { error: { message: 'invalid_model', type: 'invalid_request_error', code: 'x' } }],
  [400, { code: '20012', message: 'x' }],
  [400, { error: { code: 5_007 } }],
  [400, { success: false, errors: { 0: noModel } }],
  [400, { error: { type: 'invalid_request_error', code: 'model_not_found', param: 'tools' } }],
  [422, { error: invalidModel }],
])('an error %i with %o is a fault of the request', (status, body) => {
  expect(outcomeFor(status, body)).toBe('well')
})
