import { beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, PROVIDER_KEY, relayRig } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'
import { CODEX, type RecordedTurn, TURNS } from './recorded-turns.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

const headersOf = ({ headers }: RecordedTurn): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace('KEY', `sk-${KEY}`)]),
  )

const send = (turn: RecordedTurn) =>
  fetch(`${rig.url}${turn.path}`, {
    method: 'POST',
    headers: { ...headersOf(turn), cookie: 'a=b', 'x-forwarded-for': '192.0.2.1' },
    body: new Uint8Array(turn.body),
  })

async function serveTurn({ model, channelType }: RecordedTurn): Promise<void> {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: channelType, baseUrl: provider.url, models: [model] })
  await rig.setOption('ModelRatio', { [model]: 1.5 })
  await rig.setOption('CompletionRatio', { [model]: 5 })
  await rig.setOption('CacheRatio', { [model]: 0.1 })
  await rig.setOption('CreateCacheRatio', { [model]: 1.25 })
}

describe.each(TURNS)('a turn of $name', (turn) => {
  const { answer, charge } = turn
  const providerPath = (turn.providerPath ?? turn.path).split('?')[0]

  beforeEach(() => serveTurn(turn))

  it('passes byte for byte in both directions and is billed to the unit', async () => {
    const headers = { 'content-type': 'text/event-stream', 'x-codex-turn-state': 'state-1' }
    const half = Math.floor(answer.length / 2)
    const pieces = [answer.subarray(0, half), answer.subarray(half)]
    provider.answers.set(`POST ${providerPath}`, { headers, pieces })
    const received = await send(turn)
    expect(Buffer.from(await received.arrayBuffer()).toString()).toBe(answer.toString())
    expect(received.headers.get('content-type')).toContain('text/event-stream')
    const state = received.headers.get('x-codex-turn-state')
    expect(state).toBe(turn.name === 'Codex' ? 'state-1' : null)
    const [request] = provider.requests
    expect(request?.body).toBe(turn.body.toString())
    for (const name of turn.passed) expect(request?.headers[name]).toBe(turn.headers[name])
    const texts = JSON.stringify(request?.headers)
    expect(texts).toContain(PROVIDER_KEY)
    for (const foreign of [KEY, 'a=b', '192.0.2.1']) expect(texts).not.toContain(foreign)
    expect((await onlyEnd(rig)).data).toMatchObject({
      end: 'done',
      charge,
      usageSource: 'upstream',
    })
  })

  it('gets the provider’s error in the words that its retries read', async () => {
    const error = {
      type: 'overloaded_error',
      message: 'Overloaded',
      code: 503,
      status: 'UNAVAILABLE',
    }
    const headers = { 'retry-after': '7' }
    provider.answers.set('*', { status: 503, headers, body: { type: 'error', error } })
    const received = await send(turn)
    expect([received.status, received.headers.get('retry-after')]).toEqual([503, '7'])
    expect(await received.text()).toContain('Overloaded')
  })
})

describe('Claude Code before its first turn', () => {
  const [turn] = TURNS as [RecordedTurn]

  beforeEach(async () => {
    await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [turn.model, 'gpt-x'] })
    await rig.setOption('ModelRatio', { [turn.model]: 1.5, 'gpt-x': 1 })
  })

  it('finds the models and the size of its request, free of charge', async () => {
    const headers = headersOf(turn)
    const models = await fetch(`${rig.url}/v1/models?limit=1000`, { headers, redirect: 'manual' })
    expect(models.status).toBe(200)
    const { data, has_more } = (await models.json()) as {
      data: { id: string }[]
      has_more: boolean
    }
    expect(data.map(({ id }) => id)).toContain(turn.model)
    expect(has_more).toBe(false)
    const { stream: _stream, max_tokens: _limit, ...counted } = JSON.parse(turn.body.toString())
    const body = JSON.stringify(counted)
    const init = { method: 'POST', headers, body }
    const count = await fetch(`${rig.url}/v1/messages/count_tokens?beta=true`, init)
    expect(((await count.json()) as { input_tokens: number }).input_tokens).toBeGreaterThan(50)
    expect(provider.requests).toEqual([])
    expect(await rig.callEvents()).toEqual([])
  })
})

describe('Codex', () => {
  beforeEach(() => serveTurn(CODEX))

  it('has its turn on a websocket, with the events of the provider as they are', async () => {
    const pieces = [CODEX.answer]
    const streamed = { 'content-type': 'text/event-stream' }
    provider.answers.set(`POST ${CODEX.path}`, { headers: streamed, pieces })
    const url = `${rig.url.replace('http', 'ws')}${CODEX.path}`
    const beta = { 'openai-beta': 'responses_websockets=2026-02-06' }
    const socket = new WebSocket(url, { headers: { ...headersOf(CODEX), ...beta } })
    const messages: string[] = []
    socket.on('message', (data) => messages.push(String(data)))
    await new Promise((opened) => socket.once('open', opened))
    const { stream: _, ...request } = JSON.parse(CODEX.body.toString())
    socket.send(JSON.stringify({ type: 'response.create', ...request }))
    const events = [...CODEX.answer.toString().matchAll(/^data: (.*)$/gm)].map(([, data]) => data)
    await expect.poll(() => messages.length).toBe(events.length)
    socket.close()
    expect(messages).toEqual(events)
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toEqual({ ...request, stream: true })
    const { headers = {} } = provider.requests[0] ?? {}
    for (const name of CODEX.passed) expect(headers[name]).toBe(CODEX.headers[name])
    expect(JSON.stringify(headers)).not.toMatch(/websocket/i)
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'done', charge: CODEX.charge })
  })

  it('compacts its conversation byte for byte, and pays for it', async () => {
    const { model, input, tools, parallel_tool_calls, reasoning } = JSON.parse(`${CODEX.body}`)
    const own = { model, input, instructions: 'Summarise.', tools, parallel_tool_calls, reasoning }
    const body = Buffer.from(JSON.stringify(own))
    const item = { id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAA' }
    const usage = {
      ...{ input_tokens: 2100, output_tokens: 50, total_tokens: 2150 },
      input_tokens_details: { cached_tokens: 2000 },
    }
    const compacted = { id: 'resp_2', object: 'response.compaction', output: [item], usage }
    const path = '/v1/responses/compact'
    provider.answers.set(`POST ${path}`, { body: compacted })
    const received = await send({ ...CODEX, path, body })
    expect(await received.text()).toBe(JSON.stringify(compacted))
    expect(provider.requests[0]?.body).toBe(body.toString())
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'done', charge: CODEX.charge })
  })
})
