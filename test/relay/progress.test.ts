import { expect, it } from 'vitest'
import { roughInput } from '#relay/token-counts/estimate-input-tokens.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig } from './support/relay-rig.ts'

const rig = startedForEach(() => relayRig({ deadlines: { progressMs: 100 } }))

const url = `data:image/png;base64,${'A'.repeat(300_000)}`
const picture = { type: 'image_url', image_url: { url } }
const WITH_PICTURE = {
  messages: [{ role: 'user', content: [{ type: 'text', text: 'what is it' }, picture] }],
}

/** A slow stream, left by its caller once the ledger know how far it got. */
async function leftHalfway(body: object) {
  rig.provider.script.push({ kind: 'slow', msPerChunk: 150 })
  const leaving = new AbortController()
  const answer = await fetch(`${rig.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-small', stream: true, max_tokens: 100, ...body }),
    signal: leaving.signal,
  })
  expect(answer.status).toBe(200)
  const usages = async (type: 'CallProgressed' | 'CallSettled') =>
    (await rig.callEvents()).flatMap((event) => (event.type === type ? [event.data.usage] : []))
  await expect.poll(() => usages('CallProgressed')).not.toEqual([])
  leaving.abort()
  await expect.poll(() => usages('CallSettled')).toHaveLength(1)
  const [settled] = await usages('CallSettled')
  return { told: (await usages('CallProgressed')).at(-1), settled }
}

it.each([
  ['a few words', { messages: [{ role: 'user', content: 'hello' }] }, 5, 12],
  ['a picture of 300 KB', WITH_PICTURE, 765, 800],
])(
  'a call with %s that its relay’s death ends is charged the input of one cut short',
  async (_name, body, least, most) => {
    const { told, settled } = await leftHalfway(body)
    expect(told?.inputUncached).toBe(settled?.inputUncached)
    expect(told?.inputUncached).toBeGreaterThan(least)
    expect(told?.inputUncached).toBeLessThan(most)
  },
)

it('without a vocabulary a picture is one picture, however many bytes it has', () => {
  const text = { messages: [{ role: 'user', content: 'x'.repeat(4_000) }] }
  const bytes = (body: object) => Buffer.from(JSON.stringify(body))
  expect(roughInput(bytes(text))).toBe(Math.ceil(bytes(text).length / 4))
  const rough = roughInput(bytes(WITH_PICTURE))
  expect(rough).toBeGreaterThan(765)
  expect(rough).toBeLessThan(850)
  expect(roughInput(Buffer.from('{"a":"data:x;base64,AAAA'))).toBe(6)
})
