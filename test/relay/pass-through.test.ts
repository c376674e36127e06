import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { reserializeJson } from '#relay/dialects/reserialize-json.ts'
import { bodyText, serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { budget, threadCpuMs } from '#test/support/time-limit.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)
let bodies: string[]
beforeEach(async () => {
  bodies = []
})

const ANSWER = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
})

/** A provider that keeps what it was sent, behind a channel that overrides the temperature. */
async function recordingChannel(): Promise<void> {
  const provider = await serve(async (request, response) => {
    bodies.push(await bodyText(request))
    response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER)
  })
  onTestFinished(provider.close)
  await rig.addChannel(1, {
    baseUrl: provider.url,
    ...{ models: ['sim-small'], modelMapping: '{"sim-small":"inner"}' },
    paramOverride: '{"temperature":0.1}',
  })
}

const BODY =
  '{ "model":"sim-small", "messages":[{"role":"user","content":"y"}],' +
  ' "temperature": 1.0, "seed":12345678901234567890, "odd":{"a":1,"a":2} }'

async function send(): Promise<string> {
  await fetch(`${rig.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: BODY,
  })
  return bodies.at(-1) ?? ''
}

it('the relay sends the request’s bytes with only the channel’s overrides changed', async () => {
  await recordingChannel()
  const sent = await send()
  expect(sent).toBe(
    BODY.replace('"sim-small"', '"inner"').replace('"temperature": 1.0', '"temperature": 0.1'),
  )
})

it('a passed-through request has no overrides and no duplicate members', async () => {
  await recordingChannel()
  await rig.setOption('global.pass_through_request_enabled', 'true')
  const sent = await send()
  expect(sent).toBe(
    '{"model":"inner","messages":[{"role":"user","content":"y"}],"temperature":1.0,' +
      '"seed":12345678901234567890,"odd":{"a":2}}',
  )
  expect(await onlyEnd(rig)).toMatchObject({ type: 'CallSettled', data: { model: 'sim-small' } })
})

describe('a body that is reserialized', () => {
  const again = (text: string): string => reserializeJson(Buffer.from(text)).toString()

  it.each([
    ['long numbers', '{"a":[12345678901234567890,-0.1234567890123456789]}'],
    ['long numbers with digits on both sides of the point', '{"a":123456789.123456789}'],
    ['exponents', '{"a":1e400,"b":1E-7}'],
    ['texts of all kinds', JSON.stringify({ a: '\u2028 "quoted" 中 🧾 \\' })],
    ['a member that is called __proto__', '{"a":{"__proto__":{"b":1}}}'],
    ['emptiness', '{"a":{},"b":[],"c":"","d":null,"e":false}'],
  ])('the body keeps %s', (_what, text) => {
    expect(again(text)).toBe(text)
  })

  it('a large body full of long numbers is reserialized quickly', () => {
    const text = `{"a":[${Array.from({ length: 500_000 }, () => '1234567890123456').join()}]}`
    const startedAt = threadCpuMs()
    expect(again(text).length).toBe(text.length)
    expect(threadCpuMs() - startedAt).toBeLessThan(budget(1_500))
  })
})
