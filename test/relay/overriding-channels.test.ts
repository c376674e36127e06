import { request as httpRequest } from 'node:http'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { readChatRequest } from '#relay/dialects/openai-chat/chat-format.ts'
import { callTerms } from '#relay/pipeline/compute-hold-and-output-limit.ts'
import { variantBoundsOf } from '#relay/pipeline/cost-bounds-of-request-variants.ts'
import { candidateOf } from '#relay/pipeline/prepare-request-for-channel.ts'
import type { RelayChannel } from '#relay/views/channel-view.ts'
import { OptionView } from '#relay/views/option-view.ts'
import { channelRules } from '#relay/views/parse-channel-rules.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { loopStallMs } from '#test/support/event-loop-stall.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, onlyEnd, relayRig } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)

const POOR = { user: 21, token: 22, key: 'P'.repeat(48) }
const LARGE = 24_000_000
const CHANNELS = 10
const ROUNDS = 12

/** Returns the status of the answer. */
function post(body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer sk-${POOR.key}`, 'content-type': 'application/json' }
    const options = { method: 'POST', headers: { ...headers, 'content-length': body.length } }
    const call = httpRequest(`${rig.url}/v1/chat/completions`, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    call.on('error', reject)
    call.end(body)
  })
}

/** Returns the shortest of some stalls, because other processes lengthen single stalls. */
async function stallOf(model: string): Promise<number> {
  const messages = [{ role: 'user', content: 'a b '.repeat(LARGE / 4) }]
  const body = Buffer.from(JSON.stringify({ model, messages }))
  const stalls: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    stalls.push(await loopStallMs(async () => expect(await post(body)).toBe(402)))
  }
  return Math.min(...stalls)
}

it('a large body of a user with $0 is not parsed again for each overriding channel', async () => {
  await rig.addUser(POOR.user)
  await rig.addToken(POOR.token, POOR.user, POOR.key)
  for (let channel = 0; channel < CHANNELS; channel += 1) {
    await rig.addChannel(2 + channel, { models: ['plain', 'free'] })
    const paramOverride = JSON.stringify({ top_p: channel / CHANNELS })
    await rig.addChannel(100 + channel, { models: ['overridden'], paramOverride })
  }
  // While another model is free, the relay reads the bodies of users who can't pay.
  await rig.setOption('ModelRatio', { plain: 2, overridden: 2, free: 0 })
  const plain = await stallOf('plain')
  const overridden = await stallOf('overridden')
  console.info(`stalls: ${plain.toFixed(0)} ms, with overrides ${overridden.toFixed(0)} ms`)
  expect(overridden).toBeLessThan(plain * 3)
})

it.each([null, { include_usage: false }])(
  'a stream is charged by the usage of its provider if the override is %j',
  async (override) => {
    const paramOverride = JSON.stringify({ stream_options: override })
    const modelMapping = JSON.stringify({ overridden: 'sim-small' })
    await rig.addChannel(2, { models: ['overridden'], paramOverride, modelMapping })
    await rig.setOption('ModelRatio', { overridden: 2 })
    for (const include_usage of [true, false]) {
      const asked = { model: 'overridden', stream: true, stream_options: { include_usage } }
      const { text } = await chat(rig, asked)
      expect(text.includes('"usage"')).toBe(include_usage)
    }
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    const settled = { data: { usageSource: 'upstream', end: 'done' } }
    expect(ends).toMatchObject([settled, settled])
  },
)

describe('a price per call is charged for each choice that the channel is sent', () => {
  it.each([
    [{ n: 1 }, { n: 4 }, 1, 4],
    [{ n: null }, { n: 4 }, 1, 4],
    [{ n: 3 }, {}, 3, 3],
    [{ n: 3 }, { n: 2, stream: true }, 3, 3],
    [{ n: 4 }, { n: 2, messages: [{ role: 'user', content: 'a b '.repeat(2_000) }] }, 4, 4],
  ])('with the override %j', async (override, asked, billed, held) => {
    const paramOverride = JSON.stringify(override)
    const modelMapping = JSON.stringify({ overridden: 'sim-small' })
    await rig.addChannel(2, { models: ['overridden'], paramOverride, modelMapping })
    await rig.setOption('ModelPrice', { overridden: 0.01 })
    expect((await chat(rig, { model: 'overridden', ...asked })).status).toBe(200)
    const data = { charge: billed * 5_000, hold: held * 5_000 }
    expect(await onlyEnd(rig)).toMatchObject({ type: 'CallSettled', data })
  })
})

const { options } = new OptionView(new Map(), 1)
const limit = fc.constantFrom<unknown>(0, 1, 5, 64, 10_000_000, null)
const limits = fc.record(
  { n: fc.constantFrom<unknown>(1, 3, 128, null), max_tokens: limit, max_completion_tokens: limit },
  { requiredKeys: [] },
)
/** Long and short values, also such as no provider accepts. */
const streamOptions = fc.constantFrom<unknown>(
  ...[null, {}, { include_usage: true }, { include_usage: false }, { include_obfuscation: false }],
  ...[{ include_usage: false, note: 'x'.repeat(2_000) }, { note: '字'.repeat(500) }, 'x'],
)
const others = fc.record(
  {
    ...{ stream_options: streamOptions, Stream_Options: streamOptions },
    ...{ temperature: fc.double({ noNaN: true, min: 0 }), user: fc.string(), extra: fc.json() },
    ...{ model: fc.string({ minLength: 1 }), top_p: fc.nat(1), service_tier: fc.string() },
    ...{ tools: fc.constant([{ type: 'web_search' }]), max_output_tokens: limit },
  },
  { requiredKeys: [] },
)
/** Overrides that remove a member of the caller, or that make every request invalid. */
const oddities = fc.constantFrom<object>({}, {}, {}, { N: 2 }, { Max_Tokens: 9 }, { top_p: 'x' })
const text = fc.constantFrom('lorem ipsum ', '字', '\n\t"').map((made) => made.repeat(1_500))
const picture = { type: 'image_url', image_url: { url: 'https://a.example/x' } }
const content = fc.oneof(
  text,
  text.map((made) => [{ type: 'text', text: made }, picture]),
)
const rawLimits = fc.constantFrom('', '"n":1e1,', '"max_tokens":1E6,', '"n":2.0,"max_tokens":5e0,')
const requestText: fc.Arbitrary<string> = fc
  .tuple(limits, others, content, fc.boolean(), rawLimits)
  .map(([limits, { temperature, user, tools, extra, ...more }, content, stream, raw]) => {
    const { stream_options } = more
    const options = stream_options === 'x' ? {} : { stream_options }
    const rest = { ...limits, temperature, user, tools, extra, stream, ...options }
    const made = { model: 'm', messages: [{ role: 'user', content }], ...rest }
    if (raw === '') return JSON.stringify(made)
    return `{${raw}${JSON.stringify({ ...made, n: undefined, max_tokens: undefined }).slice(1)}`
  })
const channelWith = (overrides: object, mapped: string, setting: object): RelayChannel => {
  const modelMapping = JSON.stringify(mapped === '' ? {} : { m: mapped })
  const texts = { paramOverride: JSON.stringify(overrides), setting: JSON.stringify(setting) }
  const terms = { ...PLAIN_CHANNEL_TERMS, modelMapping, ...texts }
  return { channelId: 1, terms, rules: channelRules(terms), target: null } as never
}
const setting = fc.record({ include_usage: fc.boolean() }, { requiredKeys: [] })
const overrides = fc.tuple(limits, others, oddities).map((parts) => Object.assign({}, ...parts))
const channel = fc
  .tuple(overrides, fc.string({ maxLength: 30 }), setting)
  .map(([overrides, mapped, setting]) => channelWith(overrides, mapped, setting))

it('the hold of a long body covers what each overriding channel receives', () => {
  const seen = { forms: 0, invalid: 0, dearer: 0, longer: 0 }
  const property = fc.property(requestText, channel, (json, channel) => {
    const request = readChatRequest(Buffer.from(json))
    if (isRelayError(request)) throw new Error(request.code)
    if (channel.rules.overrides.size === 0) return
    const form = candidateOf(channel, request)
    const [bounds] = variantBoundsOf(request, [{ channels: [channel], sums: [1] }], options)
    if (isRelayError(form)) {
      seen.invalid += 1
      return
    }
    const { choices, outputTokensMax, inputBound } = form.request
    seen.forms += 1
    if (choices > request.choices) seen.dearer += 1
    if (inputBound.tokens > request.inputBound.tokens) seen.longer += 1
    expect(bounds).toMatchObject({ choices, outputTokensMax })
    const tokens = Math.max(bounds?.inputBound.tokens ?? 0, request.inputBound.tokens)
    expect(tokens).toBeGreaterThanOrEqual(inputBound.tokens)
  })
  fc.assert(property, { numRuns: 2_000 })
  for (const [kind, count] of Object.entries(seen)) expect(count, kind).toBeGreaterThan(50)
})

/** Requests that differ in what the overrides below replace. */
const ASKED = [
  {},
  { stream: true },
  { stream: true, stream_options: { include_usage: true } },
  { stream: true, stream_options: { include_usage: false, include_obfuscation: false } },
  { stream: true, n: 3, max_tokens: 50, max_completion_tokens: 50 },
]
const OVERRIDES: readonly object[] = [
  { stream_options: { include_usage: false } },
  { stream_options: { include_usage: false, note: 'x'.repeat(2_000) } },
  { stream_options: { note: 'x'.repeat(2_000) } },
  { stream_options: null },
  { STREAM_OPTIONS: { include_usage: false, note: 'x'.repeat(2_000) } },
  { n: 5 },
  { n: null },
  { N: 5 },
  { max_tokens: 9_000 },
  { max_tokens: 0 },
  { max_tokens: null, max_completion_tokens: null },
  { Max_Completion_Tokens: 9_000 },
  { stream: true },
  { stream: false },
  { Stream: false },
  { Messages: [] },
]
const shortened = (value: object): string => JSON.stringify(value).slice(0, 60)
const CASES = ASKED.flatMap((asked) =>
  OVERRIDES.map(
    (overrides) => [`${shortened(asked)}, ${shortened(overrides)}`, asked, overrides] as const,
  ),
)
const PRICE = perTokenPrice({ completion: '4' })

describe('the terms of a long body', () => {
  it.each(CASES)('the terms are those of the sent body or higher (%s)', (_, asked, overrides) => {
    for (const include_usage of [true, false]) {
      const messages = [{ role: 'user', content: 'lorem ipsum '.repeat(1_500) }]
      const json = JSON.stringify({ model: 'm', messages, ...asked })
      const request = readChatRequest(Buffer.from(json))
      if (isRelayError(request)) throw new Error(request.code)
      const channel = channelWith(overrides, '', { include_usage })
      const form = candidateOf(channel, request)
      const outlined = variantBoundsOf(request, [{ channels: [channel], sums: [1] }], options)
      if (isRelayError(form)) {
        // Nothing is sent if a misspelt override and the gateway's own options would both be sent.
        expect(overrides).toHaveProperty('STREAM_OPTIONS')
        expect([include_usage, request.isStream]).toEqual([true, true])
        continue
      }
      const terms = callTerms(PRICE, [request, ...outlined], options)
      const exact = callTerms(PRICE, [request, form.request], options)
      expect(terms.hold).toBeGreaterThanOrEqual(exact.hold)
      expect(terms).toMatchObject({ isOpenEnded: exact.isOpenEnded, isStream: exact.isStream })
      expect(form.request.isStream).toBe(request.isStream)
      const { choices, outputTokens, inputTokens } = exact.bounds
      expect(terms.bounds).toMatchObject({ choices, outputTokens })
      expect(terms.bounds.inputTokens).toBeGreaterThanOrEqual(inputTokens)
      // A channel that takes `include_usage` reports the usage of each stream, so it is metered.
      const sent = JSON.parse(form.body.toString()) as { stream_options?: object }
      const usage = { include_usage: true }
      if (include_usage && request.isStream) expect(sent.stream_options).toMatchObject(usage)
    }
  })
})
