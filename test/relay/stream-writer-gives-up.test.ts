import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { ConvertedStream } from '#relay/conversion/convert-call.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import { StreamForwarder } from '#relay/pipeline/stream-forwarder.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const NAMES = { model: 'm', originalNames: new Map() }

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { baseUrl: provider.url })
})

const chunk = (delta: object, finish: string | null = null) =>
  Buffer.from(
    `data: ${JSON.stringify({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'sim-small' },
      choices: [{ index: 0, delta, finish_reason: finish }],
    })}\n\n`,
  )
const call = (index: number, id: string) => ({
  index,
  id,
  type: 'function',
  function: { name: 'read', arguments: '' },
})
const argumentsOf = (index: number, text: string) => ({ index, function: { arguments: text } })
const START = Buffer.from('data: {"choices":[{"delta":{"content":"A"}}]}\n\n')
const END = Buffer.from('data: [DONE]\n\n')

describe('a stream whose writer gives up on a tool call that is too long', () => {
  it('ends with an error, is not recorded as done and is charged', async () => {
    const long = chunk({ tool_calls: [argumentsOf(1, 'x'.repeat(900_000))] })
    const pieces = [
      chunk({ role: 'assistant', tool_calls: [call(0, 'a')] }),
      chunk({ tool_calls: [call(1, 'b')] }),
      ...Array.from({ length: 8 }, () => long),
      chunk({}, 'tool_calls'),
      END,
    ]
    provider.answers.set('POST /v1/chat/completions', {
      headers: { 'content-type': 'text/event-stream' },
      pieces,
    })
    const response = await fetch(`${rig.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': `sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sim-small',
        max_tokens: 4_000_000,
        stream: true,
        messages: [{ role: 'user', content: 'Read both files.' }],
      }),
    })
    const text = await response.text()
    expect(text.trim().split('\n\n').at(-1)).toMatch(/^event: error\ndata: \{"type":"error"/)
    expect(text).not.toContain('message_stop')
    const { type, data } = await onlyEnd(rig)
    expect([type, data]).toMatchObject(['CallSettled', { end: 'incomplete' }])
    const { usage } = data as { usage: { inputUncached: number; output: number } }
    expect(usage.inputUncached).toBeGreaterThan(3)
    expect(usage.output).toBeGreaterThan(1_000)
  })

  it('has begun, so that no other channel is tried, if the writer gives up at once', () => {
    const reader = { read: () => [{ kind: 'end' }] as const, finish: () => [] }
    const writer = { hasGivenUp: true, write: () => '' }
    const converted = new ConvertedStream(reader, writer, NAMES)
    const sink = { write: () => true }
    const nothing = () => {}
    const forwarder = new StreamForwarder(
      ...([OPENAI_CHAT, sink, true, null, nothing, null, nothing, converted] as const),
    )
    forwarder.push(chunk({ content: 'A' }))
    expect(forwarder.verdict).toBe('overflow')
    expect(forwarder.hasBegun).toBe(true)
  })

  it('is not done if the writer gives up in the last event', () => {
    const reader = { read: () => [], finish: () => [{ kind: 'end' }] as const }
    const writer = {
      hasGivenUp: false,
      write() {
        this.hasGivenUp = true
        return ''
      },
    }
    const converted = new ConvertedStream(reader, writer, NAMES)
    const sink = { write: () => true }
    const nothing = () => {}
    const forwarder = new StreamForwarder(
      ...([OPENAI_CHAT, sink, true, null, nothing, null, nothing, converted] as const),
    )
    forwarder.push(START)
    expect(forwarder.verdict).toBe('open')
    forwarder.push(END)
    expect(forwarder.verdict).toBe('overflow')
  })

  it('is an error if the provider ends it with one that only the conversion recognizes', () => {
    const error = { kind: 'error', type: 'overloaded_error', message: 'Overloaded' } as const
    const reader = { read: () => [], finish: () => [error] }
    const converted = new ConvertedStream(reader, { write: () => '' }, NAMES)
    const sink = { write: () => true }
    const nothing = () => {}
    const forwarder = new StreamForwarder(
      ...([OPENAI_CHAT, sink, true, null, nothing, null, nothing, converted] as const),
    )
    forwarder.push(START)
    expect(forwarder.verdict).toBe('open')
    forwarder.push(END)
    expect(forwarder.verdict).toBe('error')
    expect(forwarder.errorEvent?.toString()).toContain('overloaded_error')
  })
})
