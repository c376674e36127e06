import { monitorEventLoopDelay } from 'node:perf_hooks'
import { describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { budget } from '#test/support/time-limit.ts'
import { KEY, relayRig } from './support/relay-rig.ts'

const rig = startedOnce(relayRig)

const M = '"messages":[{"role":"user","content":"hi"}]'
const MB = 1 << 20

async function send(
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<number> {
  const response = await fetch(`${rig.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json', ...headers },
    body,
  })
  const { error } = (await response.json()) as { error: { message: string; code: string } }
  expect(error.message).toBeTypeOf('string')
  expect(error.code).toBeTypeOf('string')
  return response.status
}

const distinctKeys = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"k${index}":1`).join()

const CASES: [string, string | Buffer<ArrayBuffer>][] = [
  ['nothing', ' '],
  ['no JSON', 'hello'],
  ['half a JSON', `{"model":"sim-small",${M}`],
  ['NaN', `{"model":"sim-small",${M},"n":NaN}`],
  ['a huge number', `{"model":"sim-small",${M},"max_tokens":1e400}`],
  ['a negative number', `{"model":"sim-small",${M},"max_tokens":-5}`],
  ['a number beyond 2^53', `{"model":"sim-small",${M},"n":9007199254740993}`],
  ['a list', '[1]'],
  ['null', 'null'],
  ['a NUL in a text', `{"model":"sim-small","messages":[{"role":"user","content":"a\\u0000b"}]}`],
  ['a raw NUL', Buffer.from(`{"model":"sim-small","messages":[{"content":"\0"}]}`)],
  ['half a surrogate pair', `{"model":"sim-small","messages":[{"content":"\\ud83d"}]}`],
  ['no UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d])],
  ['__proto__ as model', `{"model":"__proto__",${M}}`],
  ['constructor as model', `{"model":"constructor",${M}}`],
  ['an object as model', `{"model":{"a":1},${M}}`],
  ['__proto__ as a key', `{"__proto__":{"model":"sim-small"},${M}}`],
  ['__proto__ beside a model', `{"__proto__":{},"model":"sim-small",${M}}`],
  ['two models', `{"model":"sim-small","model":"other",${M}}`],
  ['a second model in capitals', `{"model":"sim-small","MODEL":"other",${M}}`],
  ['N in place of n', `{"model":"sim-small",${M},"N":128}`],
  ['max_tokens in capitals', `{"model":"sim-small",${M},"Max_Tokens":100000}`],
  ['max_tokens with a Kelvin sign', `{"model":"sim-small",${M},"max_toKens":100000}`],
  ['stream in capitals', `{"model":"sim-small",${M},"Stream":true}`],
  [
    'stream options in capitals',
    `{"model":"sim-small",${M},"stream":true,"Stream_Options":{"include_usage":false}}`,
  ],
  [
    'a stream option in capitals',
    `{"model":"sim-small",${M},"stream":true,"stream_options":{"Include_Usage":false}}`,
  ],
  [
    'two contents of a message',
    '{"model":"sim-small","messages":[{"role":"user","content":"x","Content":"y"}]}',
  ],
  ['no messages', '{"model":"sim-small"}'],
  ['messages of the wrong type', '{"model":"sim-small","messages":{"role":"user"}}'],
  ['a number as content', '{"model":"sim-small","messages":[{"role":"user","content":5}]}'],
  ['a number as role', '{"model":"sim-small","messages":[{"role":5,"content":"hi"}]}'],
  ['a number as tools', `{"model":"sim-small",${M},"tools":5}`],
  ['a text as response format', `{"model":"sim-small",${M},"response_format":"x"}`],
  ['10 MB of [', '['.repeat(10 * MB)],
  ['10 MB of {"a":', '{"a":'.repeat(2 * MB)],
  ['10 MB of a model name', `{"model":"${'m'.repeat(10 * MB)}",${M}}`],
  ['300 000 distinct keys', `{"model":"sim-small",${M},${distinctKeys(300_000)}}`],
  [
    '257 stream options',
    `{"model":"sim-small",${M},"stream":true,"stream_options":{${distinctKeys(257)}}}`,
  ],
  ['700 000 keys inside', `{"model":"sim-small",${M},"metadata":{${distinctKeys(700_000)}}}`],
  ['257 keys', `{"model":"sim-small",${M},${distinctKeys(255)}}`],
  ['millions of values', `{"model":"sim-small","messages":[${'{},'.repeat(2 * MB)}{}]}`],
]

describe('requests with bad input', () => {
  it.each(CASES)(
    '%s gets a clear 4xx, appends no event, and does not block the event loop',
    async (_n, body) => {
      const before = await rig.core.store.headPosition()
      const delay = monitorEventLoopDelay({ resolution: 10 })
      delay.enable()
      const status = await send(body)
      delay.disable()
      expect(status).toBeGreaterThanOrEqual(400)
      expect(status).toBeLessThan(500)
      expect(delay.max / 1e6).toBeLessThan(budget(250))
      expect(await rig.core.store.headPosition()).toBe(before)
    },
  )

  it('the relay answers 413 to a body beyond its bound', async () => {
    expect(await send('x'.repeat(33 * MB))).toBe(413)
  })

  it.each([
    ['another type', { 'content-type': 'text/plain' }],
    ['an unknown coding', { 'content-encoding': 'compress' }],
    ['several codings', { 'content-encoding': 'gzip, br' }],
  ])('%s gets a 415', async (_name, headers) => {
    expect(await send('{}', headers as Record<string, string>)).toBe(415)
  })

  it('the relay answers 405 to the wrong method and names the right one', async () => {
    const response = await fetch(`${rig.url}/v1/chat/completions`)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('the relay refuses the same bad fields when it passes requests through', async () => {
    await rig.setOption('global.pass_through_request_enabled', 'true')
    const before = await rig.core.store.headPosition()
    for (const [name, body] of CASES.filter((one) => one[0].startsWith('a number as'))) {
      expect([name, await send(body)]).toEqual([name, 400])
    }
    expect(await rig.core.store.headPosition()).toBe(before)
  })

  it('the relay sends none of these requests to the provider', () => {
    expect(rig.provider.journal.count).toBe(0)
  })
})
