import { beforeEach, describe, expect, it } from 'vitest'
import type { CallSettled } from '#domain/accounts/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { recomputedCharge } from '../domain/pricing/independent-charge.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import {
  BEGUN,
  ENDED_TEXT,
  event,
  MESSAGE,
  responseOf,
  textDelta,
} from './support/responses-provider.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'gpt-6'
const PATH = 'POST /v1/responses'
const ALLOWED = JSON.stringify({ allowed_members: ['tools', 'web_search_options'] })
/** 1000 tokens of input and 500 of output, at four times the price of input. */
const TOKEN_CHARGE = 3_000
/** The prices of one use, at 500 000 units for a dollar. */
const SEARCH = 5_000
const PREVIEW = 5_000
const FILES = 1_250
const CONTAINER = 15_000
const PICTURE = 75_000

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
})

const addChannel = (setting = ALLOWED, more: object = {}) =>
  rig.addChannel(2, { type: 1, baseUrl: provider.url, models: [MODEL], setting, ...more })

const FUNCTION = { type: 'function', name: 'f', parameters: { type: 'object' } }
const requestWith = (tools: readonly object[], more: object = {}) => ({
  model: MODEL,
  input: 'What happened today?',
  max_output_tokens: 64,
  tools,
  ...more,
})
const USAGE = { input_tokens: 1_000, output_tokens: 500, total_tokens: 1_500 }
const answer = (...items: readonly object[]) => ({
  ...responseOf([...items, MESSAGE]),
  usage: USAGE,
})
const searchItem = (id: string, action: object = { type: 'search', query: 'a' }) => ({
  ...{ id, type: 'web_search_call', status: 'completed', action },
})
const codeItem = (id: string, container_id: string) => ({
  ...{ id, type: 'code_interpreter_call', status: 'completed', code: '1', container_id },
})

async function send(body: object, path = '/v1/responses') {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

const sentBody = () => JSON.parse(provider.requests[0]?.body ?? '')

/** Returns the bill of the only call, after recomputing it from its event. */
async function billOf(): Promise<CallSettled['data']> {
  const { data } = (await onlyEnd(rig)) as CallSettled
  const { price, usage, calls, charge } = JSON.parse(JSON.stringify(data))
  expect(recomputedCharge(price, usage, calls)).toBe(BigInt(charge))
  return data
}

describe('a tool of the Responses API that a channel allows', () => {
  it.each([
    ['web_search', {}, [searchItem('a'), searchItem('b')], 2 * SEARCH],
    ['web_search_2025_08_26', {}, [searchItem('a')], SEARCH],
    ['web_search_preview', {}, [searchItem('a')], PREVIEW],
    ['file_search', {}, [{ id: 'f', type: 'file_search_call' }], FILES],
    ['code_interpreter', { container: { type: 'auto' } }, [codeItem('a', 'c')], CONTAINER],
    ['image_generation', {}, [{ id: 'i', type: 'image_generation_call' }], PICTURE],
  ])('%s is billed by its items, and held at its limit', async (type, members, items, charge) => {
    await addChannel()
    provider.answers.set(PATH, { body: answer(...items) })
    const tools = [{ type, ...members }, FUNCTION]
    expect((await send(requestWith(tools, { max_tool_calls: 5 }))).status).toBe(200)
    const data = await billOf()
    expect(data).toMatchObject({ charge: TOKEN_CHARGE + charge, anomaly: null })
    expect(data.hold).toBeGreaterThanOrEqual((5 * charge) / items.length + 5 * 10_000)
    expect(sentBody()).toMatchObject({ tools, max_tool_calls: 5 })
  })

  it.each([
    [{}, 10],
    [{ max_tool_calls: null }, 10],
    [{ max_tool_calls: 1e9 }, 100],
    [{ max_tool_calls: 3 }, 3],
  ])('with the limit %j is sent with the limit %d', async (limit, most) => {
    await addChannel()
    provider.answers.set(PATH, { body: answer() })
    await send(requestWith([{ type: 'web_search' }], limit))
    expect(sentBody().max_tool_calls).toBe(most)
    const { hold, charge } = await billOf()
    expect(hold).toBeGreaterThanOrEqual(most * (SEARCH + 10_000))
    expect(charge).toBe(TOKEN_CHARGE)
  })

  it('is limited if an override adds it, or sets a limit', async () => {
    const overrides = { tools: [{ type: 'web_search' }], max_tool_calls: 500 }
    await addChannel('', { paramOverride: JSON.stringify(overrides) })
    provider.answers.set(PATH, { body: answer(searchItem('a')) })
    await send(requestWith([FUNCTION], { max_tool_calls: 2 }))
    expect(sentBody()).toMatchObject({ tools: overrides.tools, max_tool_calls: 100 })
    const { charge, hold } = await billOf()
    expect(charge).toBe(TOKEN_CHARGE + SEARCH)
    expect(hold).toBeGreaterThanOrEqual(100 * (SEARCH + 10_000))
  })

  it('is limited if only the limit is overridden', async () => {
    await addChannel(ALLOWED, { paramOverride: '{"max_tool_calls":4}' })
    provider.answers.set(PATH, { body: answer(searchItem('a')) })
    await send(requestWith([{ type: 'web_search' }], { max_tool_calls: 200 }))
    expect(sentBody().max_tool_calls).toBe(4)
    expect((await billOf()).charge).toBe(TOKEN_CHARGE + SEARCH)
  })

  it.each([1, 2_000])('is held if an override raises its limit (text %d times)', async (times) => {
    await addChannel(ALLOWED, { paramOverride: '{"max_tool_calls":40}' })
    provider.answers.set(PATH, { body: answer(searchItem('a')) })
    const more = { max_tool_calls: 1, input: 'a b '.repeat(times) }
    await send(requestWith([{ type: 'web_search' }], more))
    expect(sentBody().max_tool_calls).toBe(40)
    expect((await billOf()).hold).toBeGreaterThanOrEqual(40 * (SEARCH + 10_000))
  })

  it('is billed once for each container', async () => {
    await addChannel()
    const items = [codeItem('a', 'c1'), codeItem('b', 'c1'), codeItem('c', 'c2')]
    provider.answers.set(PATH, { body: answer(...items) })
    await send(requestWith([{ type: 'code_interpreter', container: { type: 'auto' } }]))
    expect((await billOf()).usage.tools).toEqual({ code_interpreter: 2 })
  })

  it('is billed for searches, but not for the pages that they read', async () => {
    await addChannel()
    const items = [searchItem('a'), searchItem('b', { type: 'open_page', url: 'https://a' })]
    provider.answers.set(PATH, { body: answer(...items) })
    await send(requestWith([{ type: 'web_search' }]))
    expect((await billOf()).usage.tools).toEqual({ web_search: 1 })
  })

  it('is not billed for more uses than were sent as the limit', async () => {
    await addChannel()
    const items = Array.from({ length: 7 }, (_, index) => searchItem(`s${index}`))
    provider.answers.set(PATH, { body: answer(...items) })
    await send(requestWith([{ type: 'web_search' }], { max_tool_calls: 2 }))
    expect((await billOf()).charge).toBe(TOKEN_CHARGE + 2 * SEARCH)
  })

  it('needs a balance that covers its limit', async () => {
    await addChannel()
    await rig.setBudget(7, 3, BigInt(5 * SEARCH))
    const { status } = await send(requestWith([{ type: 'web_search' }], { max_tool_calls: 5 }))
    expect(status).toBe(402)
    expect(provider.requests).toEqual([])
  })

  it('is sent without tools that no price covers', async () => {
    await addChannel()
    provider.answers.set(PATH, { body: answer(searchItem('a')) })
    const search = { type: 'web_search' }
    const mcp = { type: 'mcp', server_label: 's', server_url: 'https://a.example' }
    const { headers } = await send(requestWith([mcp, search, { type: 'web_search_preview' }]))
    expect(headers.get('x-dropped-members')).toBe('tools')
    expect(sentBody()).toMatchObject({ tools: [search], max_tool_calls: 10 })
    expect((await billOf()).charge).toBe(TOKEN_CHARGE + SEARCH)
  })
})

it('a tool that no channel allows is removed, and no price of it is held', async () => {
  await addChannel('')
  provider.answers.set(PATH, { body: answer(searchItem('a')) })
  await send(requestWith([{ type: 'web_search' }]))
  const data = await billOf()
  expect(data.charge).toBe(TOKEN_CHARGE)
  expect(data.price).not.toHaveProperty('tools')
  expect(data.usage).not.toHaveProperty('tools')
  expect(sentBody()).not.toHaveProperty('max_tool_calls')
})

describe('a stream with tools of the Responses API', () => {
  const added = (item: { id: string }, output_index: number) =>
    event({
      type: 'response.output_item.added',
      output_index,
      item: { ...item, status: 'in_progress', action: undefined },
    })
  const done = (item: object, output_index: number) =>
    event({ type: 'response.output_item.done', output_index, item })
  const [first, page] = [searchItem('a'), searchItem('b', { type: 'open_page' })] as const
  const second = searchItem('c')
  const items = [first, page, second]
  const begun = [BEGUN, added(first, 0), done(first, 0), added(page, 1), done(page, 1)].join('')
  const ended = event({ type: 'response.completed', response: answer(...items) })
  const body = requestWith([{ type: 'web_search' }], { stream: true })

  it.each([
    ['is billed once for each use', [begun, added(second, 2), done(second, 2), ended], 2],
    ['is billed by its last event alone', [BEGUN, ended], 2],
    ['that is cut is billed by what was delivered', [begun, textDelta('It')], 1],
    ['that is cut within a use is billed for it', [begun, added(second, 2), textDelta('It')], 2],
  ])('%s', async (_name, parts, uses) => {
    await addChannel()
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set(PATH, { headers, pieces: [Buffer.from(parts.join(''))] })
    await send(body)
    expect((await billOf()).usage).toMatchObject({ tools: { web_search: uses } })
  })

  it('is billed the same if it arrives byte by byte', async () => {
    await addChannel()
    const text = begun + added(second, 2) + done(second, 2) + ended
    const pieces = [...Buffer.from(text)].map((byte) => Buffer.from([byte]))
    provider.answers.set(PATH, { headers: { 'content-type': 'text/event-stream' }, pieces })
    await send(body)
    expect(await billOf()).toMatchObject({ charge: TOKEN_CHARGE + 2 * SEARCH })
  })
})

describe('a caller who leaves after a text', () => {
  it('pays for the searches that follow it', async () => {
    await addChannel()
    let finish = (): void => {}
    const pause = new Promise<void>((resolve) => {
      finish = resolve
    })
    const items = [searchItem('a'), searchItem('b')]
    const done = (index: number) =>
      event({ type: 'response.output_item.done', output_index: index, item: items[index] })
    const ended = event({ type: 'response.completed', response: answer(...items) })
    provider.answers.set(PATH, {
      headers: { 'content-type': 'text/event-stream' },
      pieces: [
        Buffer.from(BEGUN + done(0) + textDelta('It') + ENDED_TEXT),
        Buffer.from(done(1) + ended),
      ],
      pause,
    })
    const leaving = new AbortController()
    const response = await fetch(`${rig.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(requestWith([{ type: 'web_search' }], { stream: true })),
      signal: leaving.signal,
    })
    const reader = response.body?.getReader()
    let seen = ''
    while (!seen.includes('response.output_text.done')) {
      seen += Buffer.from((await reader?.read())?.value ?? []).toString()
    }
    leaving.abort()
    await reader?.closed.catch(() => {})
    await new Promise((resume) => setTimeout(resume, 50))
    finish()
    await expect.poll(async () => (await rig.callEvents()).at(-1)?.type).toBe('CallSettled')
    expect(await billOf()).toMatchObject({
      end: 'client-gone',
      charge: TOKEN_CHARGE + 2 * SEARCH,
    })
  })
})

describe('the search of a chat', () => {
  const CHAT_PATH = 'POST /v1/chat/completions'
  const request = {
    model: MODEL,
    max_tokens: 64,
    messages: [{ role: 'user', content: 'What happened today?' }],
    web_search_options: {},
  }
  const usage = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 }
  const message = { role: 'assistant', content: 'Nothing.' }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]

  it('is billed once for an answer, and held', async () => {
    await addChannel()
    provider.answers.set(CHAT_PATH, { body: { choices, usage, model: MODEL } })
    expect((await send(request, '/v1/chat/completions')).status).toBe(200)
    const data = await billOf()
    expect(data).toMatchObject({
      charge: TOKEN_CHARGE + PREVIEW,
      usage: { tools: { web_search_preview: 1 } },
    })
    expect(data.hold).toBeGreaterThanOrEqual(PREVIEW + 10_000)
    expect(sentBody().web_search_options).toEqual({})
  })

  it.each([1, 2_000])('is held for each choice of an override (text %d times)', async (times) => {
    await addChannel(ALLOWED, { paramOverride: '{"n":4}' })
    provider.answers.set(CHAT_PATH, { body: { choices, usage, model: MODEL } })
    const messages = [{ role: 'user', content: 'a b '.repeat(times) }]
    await send({ ...request, messages }, '/v1/chat/completions')
    const data = await billOf()
    expect(data.charge).toBe(TOKEN_CHARGE + 4 * PREVIEW)
    expect(data.hold).toBeGreaterThanOrEqual(4 * (PREVIEW + 10_000))
  })

  it('is removed and costs nothing if no channel allows it', async () => {
    await addChannel('')
    provider.answers.set(CHAT_PATH, { body: { choices, usage, model: MODEL } })
    const { headers } = await send(request, '/v1/chat/completions')
    expect(headers.get('x-dropped-members')).toBe('web_search_options')
    expect((await billOf()).charge).toBe(TOKEN_CHARGE)
  })
})
