import { beforeEach, describe, expect, it } from 'vitest'
import type { CallSettled } from '#domain/accounts/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { recomputedCharge } from '../domain/pricing/independent-charge.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'claude-searching'
const PATH = 'POST /v1/messages'
/** The price of one search at $10 per 1000. */
const SEARCH = 5_000
/** The price of the input that one search may add, at the price of the one-hour cache. */
const RESULTS = 10_000 * 1.5 * 1.6
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

const ALLOWED = JSON.stringify({ allowed_members: ['tools'] })

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1.5 })
  await rig.setOption('CompletionRatio', { [MODEL]: 5 })
})

const addChannel = (setting: string, more: object = {}) =>
  rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [MODEL], setting, ...more })

const search = (limit: object = {}) => ({
  type: 'web_search_20250305',
  name: 'web_search',
  ...limit,
})
const requestWith = (...tools: readonly object[]) => ({
  model: MODEL,
  max_tokens: 64,
  messages: [{ role: 'user', content: 'What happened today?' }],
  tools,
})

const TOKENS = { input_tokens: 100, output_tokens: 50 }
const TOKEN_CHARGE = (100 + 50 * 5) * 1.5
const answer = (usage: object, content: readonly object[] = []) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: MODEL,
  content: [...content, { type: 'text', text: 'Nothing.' }],
  stop_reason: 'end_turn',
  usage: { ...TOKENS, ...usage },
})
const searched = (count: unknown) => ({ server_tool_use: { web_search_requests: count } })
const SEARCH_BLOCK = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'a' } }

async function send(body: object) {
  const response = await fetch(`${rig.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': `sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

const sentTools = () => JSON.parse(provider.requests[0]?.body ?? '').tools

/** Returns the bill of the only call, after recomputing it from its event. */
async function billOf(isWithinHold = true): Promise<CallSettled['data']> {
  const { data } = (await onlyEnd(rig)) as CallSettled
  const { price, usage, calls, charge } = JSON.parse(JSON.stringify(data))
  expect(recomputedCharge(price, usage, calls)).toBe(BigInt(charge))
  if (isWithinHold) expect(charge).toBeLessThanOrEqual(data.hold)
  return data
}

describe('a web search that a channel allows', () => {
  it('is billed by the uses that the provider reports, and held at its limit', async () => {
    await addChannel(ALLOWED)
    provider.answers.set(PATH, { body: answer(searched(3)) })
    expect((await send(requestWith(search({ max_uses: 5 })))).status).toBe(200)
    const data = await billOf()
    expect(data).toMatchObject({
      charge: TOKEN_CHARGE + 3 * SEARCH,
      usage: { toolCalls: 3, tools: { web_search: 3 } },
      price: { tools: { web_search: '10' } },
      anomaly: null,
    })
    expect(data.hold).toBeGreaterThanOrEqual(5 * (SEARCH + RESULTS))
    expect(data.hold).toBeLessThan(5 * (SEARCH + RESULTS) + SEARCH)
    expect(sentTools()).toEqual([search({ max_uses: 5 })])
  })

  it.each([
    [{}, 10],
    [{ max_uses: null }, 10],
    [{ max_uses: 'many' }, 10],
    [{ max_uses: 1e9 }, 100],
  ])('with the limit %j is sent with the limit %d, which the hold covers', async (limit, most) => {
    await addChannel(ALLOWED)
    provider.answers.set(PATH, { body: answer(searched(0)) })
    await send(requestWith({ name: 'Read', input_schema: { type: 'object' } }, search(limit)))
    expect(sentTools()[1]).toEqual(search({ max_uses: most }))
    expect((await billOf()).hold).toBeGreaterThanOrEqual(most * (SEARCH + RESULTS))
  })

  it('that an override adds is held, limited and billed', async () => {
    const overrides = JSON.stringify({ tools: [search()] })
    await addChannel('', { paramOverride: overrides })
    provider.answers.set(PATH, { body: answer(searched(2)) })
    await send(requestWith({ name: 'Read', input_schema: { type: 'object' } }))
    expect(sentTools()).toEqual([search({ max_uses: 10 })])
    const { charge, hold } = await billOf()
    expect(charge).toBe(TOKEN_CHARGE + 2 * SEARCH)
    expect(hold).toBeGreaterThanOrEqual(10 * (SEARCH + RESULTS))
  })

  it.each([
    [searched(-3), 0, 'negative'],
    [searched(1e12), 5, 'absurd'],
    [searched(6), 5, 'absurd'],
    [searched(1.5), 2, 'fraction'],
    [searched('3'), 3, 'not-a-number'],
    [searched({}), 0, 'not-a-number'],
    [{ server_tool_use: 7 }, 0, null],
    [{}, 0, null],
  ])('is neither credited nor overcharged by the usage %j', async (usage, uses, anomaly) => {
    await addChannel(ALLOWED)
    provider.answers.set(PATH, { body: answer(usage) })
    await send(requestWith(search({ max_uses: 5 })))
    expect(await billOf()).toMatchObject({ charge: TOKEN_CHARGE + uses * SEARCH, anomaly })
  })

  it('whose uses are not reported is billed by the searches in the answer', async () => {
    await addChannel(ALLOWED)
    provider.answers.set(PATH, { body: answer({}, [SEARCH_BLOCK, SEARCH_BLOCK]) })
    await send(requestWith(search()))
    expect(await billOf()).toMatchObject({ charge: TOKEN_CHARGE + 2 * SEARCH })
  })

  it('that failed is not billed, because the report does not count it', async () => {
    await addChannel(ALLOWED)
    provider.answers.set(PATH, { body: answer(searched(1), [SEARCH_BLOCK, SEARCH_BLOCK]) })
    await send(requestWith(search()))
    expect(await billOf()).toMatchObject({ charge: TOKEN_CHARGE + SEARCH })
  })

  it('is billed for all input that its results may add, and not for more', async () => {
    await addChannel(ALLOWED)
    for (const [input_tokens, isPlausible] of [
      [300_000, true],
      [9_000_000, false],
    ] as const) {
      provider.answers.set(PATH, { body: answer({ input_tokens, ...searched(2) }) })
      await send(requestWith(search({ max_uses: 2 })))
      const { data } = ((await rig.callEvents()) as CallSettled[]).findLast(
        ({ type }) => type === 'CallSettled',
      ) as CallSettled
      expect(data.anomaly).toBe(isPlausible ? null : 'absurd')
      if (isPlausible) expect(data.usage.inputUncached).toBe(input_tokens)
      else expect(data.usage.inputUncached).toBeLessThan(450_000)
    }
  })

  it('is refused if its limit is ambiguous', async () => {
    await addChannel(ALLOWED)
    const body = JSON.stringify(requestWith(search({ max_uses: 1, Max_Uses: 90 })))
    const { status, text } = await send(JSON.parse(body))
    expect(status).toBe(400)
    expect(text).toContain('tools')
    expect(provider.requests).toEqual([])
  })

  it('needs a balance that covers its limit', async () => {
    await addChannel(ALLOWED)
    await rig.setBudget(7, 3, BigInt(5 * (SEARCH + RESULTS)))
    expect((await send(requestWith(search({ max_uses: 5 })))).status).toBe(402)
    expect(provider.requests).toEqual([])
    await rig.setBudget(7, 3, BigInt(6 * (SEARCH + RESULTS)))
    provider.answers.set(PATH, { body: answer(searched(5)) })
    expect((await send(requestWith(search({ max_uses: 5 })))).status).toBe(200)
  })
})

it('a tool that reads pages costs only tokens, all of which are billed', async () => {
  await addChannel(ALLOWED)
  provider.answers.set(PATH, { body: answer({ input_tokens: 900_000 }) })
  const fetching = { type: 'web_fetch_20250910', name: 'web_fetch' }
  const container = { type: 'code_execution_20260120', name: 'code_execution' }
  await send(requestWith(container, fetching))
  expect(sentTools()).toEqual([fetching])
  const data = await billOf(false)
  expect(data).toMatchObject({ charge: (900_000 + 50 * 5) * 1.5, anomaly: null })
  expect(data.hold).toBeGreaterThanOrEqual(100_000 * 1.5 * 1.6)
  expect(data.price).not.toHaveProperty('tools')
})

it('a web search that no channel allows is removed, and no price of it is held', async () => {
  await addChannel('')
  provider.answers.set(PATH, { body: answer(searched(3)) })
  await send(requestWith(search({ max_uses: 5 })))
  const data = await billOf()
  expect(data.charge).toBe(TOKEN_CHARGE)
  expect(data.hold).toBeLessThan(SEARCH)
  expect(data.price).not.toHaveProperty('tools')
  expect(data.usage).not.toHaveProperty('tools')
})

it('a web search that is removed is not chosen either, so the rest is accepted', async () => {
  await addChannel('')
  provider.answers.set(PATH, { body: answer(searched(0)) })
  const read = { name: 'read', input_schema: { type: 'object' } }
  const tool_choice = { type: 'tool', name: 'web_search' }
  await send({ ...requestWith(read, search()), tool_choice })
  const sent = JSON.parse(provider.requests[0]?.body ?? '')
  expect([sent.tools, sent.tool_choice]).toEqual([[read], undefined])
  expect((await onlyEnd(rig)).data).toMatchObject({ dropped: ['tools', 'tool_choice'] })
})

describe('a stream with web searches', () => {
  const event = (data: { readonly type: string } & Record<string, unknown>): string =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const begun = event({
    type: 'message_start',
    message: { ...answer(searched(0)), content: [], stop_reason: null },
  })
  const block = (index: number) =>
    event({ type: 'content_block_start', index, content_block: { ...SEARCH_BLOCK, input: {} } })
  const delta = (text: string) =>
    event({ type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text } })
  const ending = (usage: object) =>
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage })
  const stop = event({ type: 'message_stop' })
  const body = { ...requestWith(search()), stream: true }

  it.each([
    ['is billed by its last report', [ending({ ...TOKENS, ...searched(2) }), stop], 2],
    [
      'is not made cheaper by a later report of zero',
      [ending({ ...TOKENS, ...searched(2) }), ending({ ...TOKENS, ...searched(0) }), stop],
      2,
    ],
    ['that is cut is billed by the searches that were delivered', [], 2],
  ])('%s', async (_name, last, uses) => {
    await addChannel(ALLOWED)
    const text = [begun, block(0), block(1), delta('Nothing.'), ...last].join('')
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set(PATH, { headers, pieces: [Buffer.from(text)] })
    await send(body)
    expect((await billOf()).usage).toMatchObject({ tools: { web_search: uses } })
  })
})

describe('a context tier', () => {
  const TIERS = [{ above_input_tokens: 100, input_ratio: 2, output_ratio: 1.5 }]
  const plain = requestWith()

  it.each([
    [{ input_tokens: 100, output_tokens: 50 }, TOKEN_CHARGE],
    [{ input_tokens: 101, output_tokens: 50 }, (101 * 2 + 50 * 5 * 1.5) * 1.5],
    // Cached tokens count towards the limit.
    [{ input_tokens: 1, cache_read_input_tokens: 100, output_tokens: 0 }, 101 * 2 * 1.5],
  ])('is charged for the usage %j at %d', async (usage, charge) => {
    await rig.setOption('ContextTierRatio', { [MODEL]: TIERS })
    await addChannel('')
    provider.answers.set(PATH, { body: answer(usage) })
    await send(plain)
    expect(await billOf()).toMatchObject({ charge: Math.round(charge) })
  })

  it('is held if the longest possible input reaches it', async () => {
    await addChannel('')
    provider.answers.set(PATH, { body: answer({}) })
    await rig.setOption('ContextTierRatio', { [MODEL]: [{ ...TIERS[0], output_ratio: 2 }] })
    await send(plain)
    const { hold } = await billOf()
    await rig.setOption('ContextTierRatio', {
      [MODEL]: [{ ...TIERS[0], above_input_tokens: 1_000, output_ratio: 2 }],
    })
    await send(plain)
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends.map(({ data }) => (data as CallSettled['data']).hold)).toEqual([hold, hold / 2])
  })
})
