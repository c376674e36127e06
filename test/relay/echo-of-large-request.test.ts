import { beforeEach, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { outcomeOf } from '#relay/channel-health/attempt-outcome.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MIB = 1024 * 1024
const MODEL = 'gpt-6-astra'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => relayRig())

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  for (const channelId of [2, 3]) {
    await rig.addChannel(channelId, { type: 1, baseUrl: provider.url, models: [MODEL] })
  }
  await rig.setOption('ModelRatio', { [MODEL]: 1 })
  await rig.setOption('RetryTimes', '1')
})

/** The provider repeats the instructions, with each of their characters escaped. */
function repeatInstructions(): void {
  const begin = Buffer.from('event: response.created\ndata: {"type":"response.created","response":')
  const instructions = Buffer.from(`{"instructions":"${'\\u0001'.repeat(5.8 * MIB)}"}`)
  const pieces = [Buffer.concat([begin, instructions, Buffer.from('}\n\n')])]
  const headers = { 'content-type': 'text/event-stream' }
  provider.answers.set('POST /v1/responses', { headers, pieces })
}

const send = (instructions: string, input = 'Hi', stream = true) =>
  fetch(`${rig.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, input, instructions, stream }),
  })

it('an event that repeats the request and is too large is charged and not retried', async () => {
  repeatInstructions()
  const answer = await send('word '.repeat(1.2 * MIB))
  expect(answer.status).toBe(502)
  expect(await answer.text()).toContain('upstream_format')
  expect(provider.requests).toHaveLength(1)
  const { type, data } = await onlyEnd(rig)
  expect([type, data]).toMatchObject(['CallSettled', { end: 'incomplete', usage: { output: 0 } }])
  expect(type === 'CallSettled' && data.usage.inputUncached).toBeGreaterThan(MIB)
})

it('a plain answer that repeats the request and is too large names the limit', async () => {
  const body = { id: 'resp_1', object: 'response', instructions: '\u0001'.repeat(5.8 * MIB) }
  provider.answers.set('POST /v1/responses', { body })
  const answer = await send('word '.repeat(1.2 * MIB), 'Hi', false)
  expect(answer.status).toBe(502)
  const { error } = (await answer.json()) as { error: { code: string; message: string } }
  expect(error.code).toBe('upstream_too_large')
  expect(error.message).toContain('32 MiB')
  const { type, data } = await onlyEnd(rig)
  expect([type, data]).toMatchObject(['CallSettled', { end: 'incomplete', usage: { output: 0 } }])
})

it.each(['Hi', 'word '.repeat(1.2 * MIB)])(
  'an event is too large by the fault of the channel if little is repeated',
  async (input) => {
    repeatInstructions()
    const answer = await send('word', input)
    expect(answer.status).toBe(502)
    expect(provider.requests).toHaveLength(2)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  },
)

it('a repeated request says nothing against the channel', () => {
  const end = { kind: 'failed', status: 200, error: 'too-large', body: Buffer.alloc(0) } as const
  expect(outcomeOf({ ...end, retryAfterMs: 0 })).toMatchObject({ reason: 'too-large' })
  expect(outcomeOf({ ...end, retryAfterMs: 0, isEchoOfRequest: true })).toBe('nothing')
})
