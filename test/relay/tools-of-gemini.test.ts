import { beforeEach, describe, expect, it } from 'vitest'
import type { CallSettled } from '#domain/accounts/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { recomputedCharge } from '../domain/pricing/independent-charge.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'gemini-3.8-flash'
const OLDER = 'gemini-2.5-flash'
const ALLOWED = JSON.stringify({ allowed_members: ['tools'] })
/** 1000 tokens of input and 500 of output, at four times the price of input. */
const TOKEN_CHARGE = 3_000
/** The price of one query at $14 for 1000, and of one prompt of an older model. */
const QUERY = 7_000
const PROMPT = 17_500
const MAPS_PROMPT = 12_500

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1, [OLDER]: 1 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4, [OLDER]: 4 })
  await rig.setOption('AudioRatio', { [MODEL]: 1, [OLDER]: 1 })
  await rig.setOption('ContextTierRatio', { [MODEL]: [], [OLDER]: [] })
})

const addChannel = (setting = ALLOWED) =>
  rig.addChannel(2, { type: 24, baseUrl: provider.url, models: [MODEL, OLDER], setting })

const USAGE = { promptTokenCount: 1_000, candidatesTokenCount: 500, totalTokenCount: 1_500 }
const candidate = (groundingMetadata?: object, finishReason: string | undefined = 'STOP') => ({
  content: { role: 'model', parts: [{ text: 'Nothing.' }] },
  index: 0,
  ...(groundingMetadata === undefined ? {} : { groundingMetadata }),
  ...(finishReason === undefined ? {} : { finishReason }),
})
const answer = (grounding?: object, usage: object = {}, model = MODEL) => ({
  candidates: [candidate(grounding)],
  usageMetadata: { ...USAGE, ...usage },
  modelVersion: model,
})
const queries = (...webSearchQueries: readonly unknown[]) => ({ webSearchQueries })
const MAPS = { groundingChunks: [{ maps: { uri: 'https://maps.google.com/?cid=1' } }] }

const pathOf = (model: string, method = 'generateContent') => `/v1beta/models/${model}:${method}`

async function send(tools: readonly object[], path = pathOf(MODEL)) {
  const body = {
    contents: [{ role: 'user', parts: [{ text: 'What happened today?' }] }],
    tools,
    generationConfig: { maxOutputTokens: 64 },
  }
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': `sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

const sentTools = () => JSON.parse(provider.requests[0]?.body ?? '').tools

/** Returns the bill of the only call, after recomputing it from its event. */
async function billOf(): Promise<CallSettled['data']> {
  const { data } = (await onlyEnd(rig)) as CallSettled
  const { price, usage, calls, charge } = JSON.parse(JSON.stringify(data))
  expect(recomputedCharge(price, usage, calls)).toBe(BigInt(charge))
  return data
}

describe('a tool of Google that a channel allows', () => {
  it.each([
    ['each query', MODEL, { googleSearch: {} }, queries('a', 'b'), 2 * QUERY],
    ['each query once', MODEL, { google_search: {} }, queries('a', '', 'a', ' '), QUERY],
    ['a malformed query', MODEL, { googleSearch: {} }, queries(7, null, {}), 0],
    ['no query', MODEL, { googleSearch: {} }, {}, 0],
    ['a prompt', OLDER, { googleSearchRetrieval: {} }, queries('a', 'b', 'c'), PROMPT],
    ['maps', MODEL, { googleMaps: {} }, MAPS, QUERY],
    ['each query of maps', MODEL, { googleMaps: {} }, { ...MAPS, ...queries('a', 'b') }, 2 * QUERY],
    ['a prompt with maps', OLDER, { googleMaps: {} }, { ...MAPS, ...queries('a') }, MAPS_PROMPT],
    ['maps that were not used', MODEL, { googleMaps: {} }, queries('a'), 0],
    ['code', MODEL, { codeExecution: {} }, queries('a'), 0],
  ])('is billed for %s', async (_name, model, tool, grounding, charge) => {
    await addChannel()
    provider.answers.set(`POST ${pathOf(model)}`, { body: answer(grounding, {}, model) })
    expect((await send([tool], pathOf(model))).status).toBe(200)
    expect(await billOf()).toMatchObject({ charge: TOKEN_CHARGE + charge, anomaly: null })
    expect(sentTools()).toEqual([tool])
  })

  it('is held at a likely number of queries, and billed for more of them', async () => {
    await addChannel()
    const many = Array.from({ length: 30 }, (_, index) => `query ${index}`)
    provider.answers.set(`POST ${pathOf(MODEL)}`, { body: answer(queries(...many)) })
    await send([{ googleSearch: {} }])
    const { hold, charge } = await billOf()
    expect(hold).toBeGreaterThanOrEqual(10 * (QUERY + 10_000))
    expect(charge).toBe(TOKEN_CHARGE + 30 * QUERY)
  })

  it('is never billed for more than 100 queries', async () => {
    await addChannel()
    const many = Array.from({ length: 2_000 }, (_, index) => `query ${index}`)
    provider.answers.set(`POST ${pathOf(MODEL)}`, { body: answer(queries(...many)) })
    await send([{ googleSearch: {} }])
    expect((await billOf()).charge).toBe(TOKEN_CHARGE + 100 * QUERY)
  })

  it('without a price per use is held and billed for the input that it adds', async () => {
    await addChannel()
    const usage = { toolUsePromptTokenCount: 90_000, totalTokenCount: 91_500 }
    provider.answers.set(`POST ${pathOf(MODEL)}`, { body: answer(undefined, usage) })
    await send([{ urlContext: {} }, { codeExecution: {} }])
    const data = await billOf()
    expect(data).toMatchObject({ charge: TOKEN_CHARGE + 90_000, anomaly: null })
    expect(data.hold).toBeGreaterThanOrEqual(120_000)
    expect(data.price).not.toHaveProperty('tools')
  })

  it('that reads long pages is billed for all of them', async () => {
    await addChannel()
    const usage = { toolUsePromptTokenCount: 900_000, totalTokenCount: 901_500 }
    provider.answers.set(`POST ${pathOf(MODEL)}`, { body: answer(undefined, usage) })
    await send([{ urlContext: {} }])
    expect(await billOf()).toMatchObject({ charge: TOKEN_CHARGE + 900_000, anomaly: null })
  })

  it('is sent without tools that no price covers', async () => {
    await addChannel()
    provider.answers.set(`POST ${pathOf(MODEL)}`, { body: answer(queries('a')) })
    const declared = { functionDeclarations: [{ name: 'f' }] }
    const { headers } = await send([
      { enterpriseWebSearch: {} },
      { ...declared, googleSearch: {}, fileSearch: {} },
    ])
    expect(headers.get('x-dropped-members')).toBe('tools')
    expect(sentTools()).toEqual([{ ...declared, googleSearch: {} }])
    expect((await billOf()).charge).toBe(TOKEN_CHARGE + QUERY)
  })
})

it('a tool that no channel allows is removed, and no price of it is held', async () => {
  await addChannel('')
  provider.answers.set(`POST ${pathOf(MODEL)}`, { body: answer(queries('a')) })
  await send([{ googleSearch: {} }])
  const data = await billOf()
  expect(data.charge).toBe(TOKEN_CHARGE)
  expect(data.hold).toBeLessThan(QUERY)
  expect(data.usage).not.toHaveProperty('tools')
})

describe('a stream with Google’s tools', () => {
  const STREAM = pathOf(MODEL, 'streamGenerateContent')
  const event = (one: object): string =>
    `data: ${JSON.stringify({ candidates: [one], usageMetadata: USAGE, modelVersion: MODEL })}\n\n`
  const part = { content: { role: 'model', parts: [{ text: 'Nothing.' }] }, index: 0 }
  const grounded = { ...part, groundingMetadata: queries('a', 'b') }

  it.each([
    ['is billed for queries that its chunks repeat', [grounded, candidate(queries('b', 'a'))], 2],
    ['that is whole without queries is not billed for any', [part, candidate()], undefined],
    ['that is cut before its queries counts as one use', [part], 1],
    ['that is cut after its queries is billed for them', [grounded, part], 2],
  ])('%s', async (_name, chunks, uses) => {
    await addChannel()
    const headers = { 'content-type': 'text/event-stream' }
    const pieces = [Buffer.from(chunks.map(event).join(''))]
    provider.answers.set(`POST ${STREAM}`, { headers, pieces })
    await send([{ googleSearch: {} }], `${STREAM}?alt=sse`)
    expect((await billOf()).usage.tools?.google_search).toBe(uses)
  })
})
