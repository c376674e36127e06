import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, onlyEnd, relayRig } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'
import { VENDOR_USAGES } from '../support/vendor-usages.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => relayRig())

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
})

const addChannel = (type: number) => rig.addChannel(2, { type, baseUrl: provider.url, other: 'a' })
const CHOICE = { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }
const settled = async () => {
  const { type, data } = await onlyEnd(rig)
  if (type !== 'CallSettled') throw new Error(type)
  return data
}
/** The input has so many tokens that a report of many of them is plausible. */
const messages = [{ role: 'user', content: 'Tell me of Paris. '.repeat(40) }]

describe.each(VENDOR_USAGES)('$name (type $type)', ({ type, plain, stream, billed }) => {
  beforeEach(() => addChannel(type))

  it('reports the usage of a plain answer, which is billed', async () => {
    provider.answers.set('*', { body: { id: 'c1', choices: [CHOICE], ...plain } })
    expect((await chat(rig, { messages })).status).toBe(200)
    const { usage, usageSource } = await settled()
    expect(usage).toMatchObject(billed)
    expect(usageSource).toBe('upstream')
  })

  it('reports the usage of a stream, which is billed', async () => {
    const events = stream.map((event) => `data: ${JSON.stringify(event)}\n\n`)
    const pieces = [...events, 'data: [DONE]\n\n'].map((event) => Buffer.from(event))
    provider.answers.set('*', { headers: { 'content-type': 'text/event-stream' }, pieces })
    expect((await chat(rig, { messages, stream: true })).text).toContain('Hello')
    const { usage, usageSource } = await settled()
    expect(usage).toMatchObject(billed)
    expect(usageSource).toBe('upstream')
  })
})

it('the placeholder in FastGPT’s answers is not billed, but the gateway’s own count', async () => {
  await addChannel(22)
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 1 }
  const message = { role: 'assistant', content: 'Paris is large. '.repeat(50) }
  provider.answers.set('*', {
    body: { id: '', model: '', usage, choices: [{ ...CHOICE, message }] },
  })
  expect((await chat(rig, { messages })).status).toBe(200)
  const { usage: counted, usageSource, anomaly } = await settled()
  expect([usageSource, anomaly]).toEqual(['estimated', 'missing'])
  expect(counted.inputUncached).toBeGreaterThan(150)
  expect(counted.output).toBeGreaterThan(150)
})
