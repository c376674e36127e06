import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { visibleNames } from '#relay/pipeline/http-exchange.ts'
import { bodyText, serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, KEY, onlyEnd, relayRig } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)
let sent: Record<string, unknown>[]
beforeEach(async () => {
  sent = []
})

const ANSWER = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
})

/** A provider that keeps what it was sent, behind the rig's only channel. */
async function recordingChannel(terms: object): Promise<void> {
  const provider = await serve(async (request, response) => {
    sent.push(JSON.parse(await bodyText(request)))
    response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER)
  })
  onTestFinished(provider.close)
  await rig.addChannel(1, { baseUrl: provider.url, models: ['sim-small'], ...terms })
}

const ROUTED = {
  ...{ models: ['openai/o1-pro'], route: 'fallback', plugins: [{ id: 'web' }] },
  ...{ service_tier: 'priority', best_of: 9, max_output_tokens: 100_000, api_base: 'http://x' },
}
const DROPPED = Object.keys(ROUTED)

const droppedOf = (headers: Headers) => headers.get('x-dropped-members')?.split(', ') ?? []

it.each(['false', 'true'])(
  'the relay drops members that change model, price or route (passed through: %s)',
  async (isPassedThrough) => {
    await recordingChannel({ type: 20 })
    await rig.setOption('global.pass_through_request_enabled', isPassedThrough)
    const { status, headers } = await chat(rig, { ...ROUTED, reasoning: { effort: 'low' } })
    expect(status).toBe(200)
    expect(Object.keys(sent[0] ?? {}).toSorted()).toEqual(['messages', 'model', 'reasoning'])
    expect(droppedOf(headers).toSorted()).toEqual(DROPPED.toSorted())
    expect(headers.get('access-control-expose-headers')).toContain('X-Dropped-Members')
  },
)

it('a channel allows only the members that its type may have', async () => {
  const setting = JSON.stringify({ allowed_members: ['models', 'service_tier', 'api_base'] })
  await recordingChannel({ type: 20, setting })
  const { headers } = await chat(rig, ROUTED)
  const { models, service_tier, api_base } = sent[0] ?? {}
  // No price of this model covers the tier.
  const kept = { models: ROUTED.models, service_tier: undefined, api_base: undefined }
  expect({ models, service_tier, api_base }).toEqual(kept)
  expect(droppedOf(headers)).toEqual([
    'route',
    'plugins',
    'service_tier',
    'best_of',
    'max_output_tokens',
    'api_base',
  ])
})

it('an admin’s override is sent, and a call without losses names no dropped members', async () => {
  await recordingChannel({ paramOverride: '{"service_tier":"flex","Odd":1}' })
  const { headers } = await chat(rig, { service_tier: 'priority', odd: 2 })
  expect(sent[0]).toMatchObject({ service_tier: 'flex', Odd: 1 })
  expect(sent[0]).not.toHaveProperty('odd')
  expect(droppedOf(headers)).toEqual([])
})

it('a stream names its dropped members, too', async () => {
  const { status, headers } = await chat(rig, { stream: true, speed: 'fast' })
  expect([status, droppedOf(headers)]).toEqual([200, ['speed']])
})

it('the end of a call records the dropped members', async () => {
  await recordingChannel({ type: 20 })
  await chat(rig, { route: 'fallback', speed: 'fast' })
  expect((await onlyEnd(rig)).data).toMatchObject({ dropped: ['route', 'speed'] })
})

it('only the first names are recorded, and none with unusual characters', () => {
  const names = Array.from({ length: 30 }, (_, at) => `member_${at}`)
  expect(visibleNames(['a\n', 'x'.repeat(129), ...names], 20)).toEqual(names.slice(0, 20))
})

it('names losses by their places, at most twenty, and records them without places', async () => {
  const cache_control = { type: 'ephemeral' }
  const content = Array.from({ length: 30 }, () => ({ type: 'text', text: 'Hi.', cache_control }))
  const { status, headers } = await fetch(`${rig.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': `sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'sim-small', max_tokens: 16, messages: [{ role: 'user', content }] },
    }),
  })
  expect(status).toBe(200)
  const names = Array.from({ length: 20 }, (_, at) => `messages[0].content[${at}].cache_control`)
  expect(headers.get('x-conversion-loss')?.split(', ')).toEqual([...names, '(10 more)'])
  const losses = ['messages[].content[].cache_control']
  expect((await onlyEnd(rig)).data).toMatchObject({ losses })
})

it('the end of a call without dropped members does not mention them', async () => {
  await recordingChannel({ type: 20 })
  await chat(rig, {})
  const { data } = await onlyEnd(rig)
  for (const name of ['dropped', 'losses', 'formats']) expect(data).not.toHaveProperty(name)
})

it('betas that are not sent are named in the answer and recorded', async () => {
  const message = { role: 'assistant', content: [{ type: 'text', text: 'yes' }], model: 'm' }
  const usage = { input_tokens: 3, output_tokens: 1 }
  const provider = await serve(async (request, response) => {
    sent.push({ beta: request.headers['anthropic-beta'] })
    await bodyText(request)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'msg_1', type: 'message', ...message, usage }))
  })
  onTestFinished(provider.close)
  await rig.addChannel(1, { type: 14, baseUrl: provider.url, models: ['sim-small'] })
  const betas = ['context-1m-2025-08-07', 'fast-mode-2026-02-01', 'interleaved-thinking-2025-05-14']
  const request = { model: 'sim-small', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
  const { status, headers } = await fetch(`${rig.url}/v1/messages`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      'anthropic-beta': betas.join(),
    },
    body: JSON.stringify(request),
  })
  expect(status).toBe(200)
  expect(sent).toEqual([{ beta: betas[2] }])
  const dropped = betas.slice(0, 2).map((beta) => `anthropic-beta: ${beta}`)
  expect(droppedOf(headers)).toEqual(dropped)
  expect((await onlyEnd(rig)).data).toMatchObject({ dropped })
})
