import { request as httpRequest } from 'node:http'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { readChatRequest } from '#relay/dialects/openai-chat/chat-request.ts'
import { candidateOf, formBoundsOf } from '#relay/pipeline/plan-call.ts'
import type { RelayChannel } from '#relay/views/channel-view.ts'
import { OptionView } from '#relay/views/option-view.ts'
import { channelRules } from '#relay/views/parsed-channel-settings.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { loopStallMs } from '#test/support/event-loop-stall.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { relayRig } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)

const POOR = { user: 21, token: 22, key: 'P'.repeat(48) }
const LARGE = 24_000_000
const CHANNELS = 10
const ROUNDS = 3

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

it('a large body of a user with $0 is not read again for each overriding channel', async () => {
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
}, 120_000)

const { options } = new OptionView(new Map(), 1)
const limit = fc.constantFrom<unknown>(0, 1, 5, 64, 10_000_000, null)
const limits = fc.record(
  { n: fc.constantFrom<unknown>(1, 3, 128, null), max_tokens: limit, max_completion_tokens: limit },
  { requiredKeys: [] },
)
const others = fc.record(
  {
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
const requestText = fc
  .tuple(limits, others, content, fc.boolean(), rawLimits)
  .map(([limits, { temperature, user, tools, extra }, content, stream, raw]) => {
    const rest = { ...limits, temperature, user, tools, extra, stream }
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
    const [bounds] = formBoundsOf(request, [{ channels: [channel], sums: [1] }], options)
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
  fc.assert(property, { numRuns: 1_000 })
  for (const [kind, count] of Object.entries(seen)) expect(count, kind).toBeGreaterThan(50)
})
