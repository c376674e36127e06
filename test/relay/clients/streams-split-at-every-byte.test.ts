import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { convertCall } from '#relay/conversion/convert-call.ts'
import { OPENAI } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { GEMINI } from '#relay/dialects/gemini/generate-content-format.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import { OPENAI_RESPONSES } from '#relay/dialects/openai-responses/responses-format.ts'
import { StreamForwarder } from '#relay/pipeline/stream-forwarder.ts'
import { AwsEventStreamDecoder } from '#relay/providers/clouds/aws-event-stream-decoder.ts'
import { CALL_USAGE, streamOf, TEXT_USAGE, type Turn } from './provider-families.ts'

const WIRES = {
  chat: OPENAI_CHAT,
  messages: ANTHROPIC_MESSAGES,
  responses: OPENAI_RESPONSES,
  gemini: GEMINI,
}
type Name = keyof typeof WIRES

/** The streams of all families: three speak OpenAI's formats, and two that of Anthropic. */
const FAMILIES: readonly (readonly [string, Name, boolean])[] = [
  ['chat completions', 'chat', false],
  ['responses', 'responses', false],
  ['messages', 'messages', false],
  ['messages in Amazon’s event stream', 'messages', true],
  ['Gemini', 'gemini', false],
]
const HI = [{ role: 'user', content: 'Hi' }]
const BODIES: Readonly<Record<Name, object>> = {
  chat: { model: 'm', stream: true, messages: HI },
  messages: { model: 'm', stream: true, max_tokens: 9, messages: HI },
  responses: { model: 'm', stream: true, input: 'Hi' },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
}
const CALLERS = Object.keys(BODIES) as Name[]

/** The text has characters of two, three and four bytes. */
const TURNS: readonly Turn[] = [
  { kind: 'text', text: 'é€😀 ok', usage: TEXT_USAGE },
  { kind: 'call', name: 'f', args: { a: 'é' }, usage: CALL_USAGE },
]

function conversionFor(caller: Name, provider: Name) {
  if (caller === provider) return null
  const body = Buffer.from(JSON.stringify(BODIES[caller]))
  const target = { format: provider, model: 'm', outputTokensMax: 9, vendor: OPENAI }
  return convertCall(caller, body, { model: 'm', isStream: true }, target)
}

/** Returns what a caller receives, and what is billed, if the stream arrives in these chunks. */
function forwarded(chunks: readonly Buffer[], caller: Name, provider: Name, isAws: boolean) {
  const parts: Buffer[] = []
  const sink = { write: (bytes: Buffer) => parts.push(Buffer.from(bytes)) > 0 }
  const stream = conversionFor(caller, provider)?.createStream('id') ?? null
  const hooks = [() => {}, null, () => {}] as const
  const forwarder = new StreamForwarder(WIRES[provider], sink, true, null, ...hooks, stream)
  const decoder = isAws ? new AwsEventStreamDecoder() : null
  for (const chunk of chunks) forwarder.push(decoder?.push(chunk) ?? chunk)
  forwarder.close(true)
  const text = Buffer.concat([...parts, forwarder.terminalBytes()]).toString('utf8')
  return { text, verdict: forwarder.verdict, usage: forwarder.rawUsage }
}

/**
 * The distance between two splits of a stream. Most events are shorter, so that each of them is
 * split once. Replaying the stream for each byte alone would take ten times as much CPU time.
 */
const SPLIT_EVERY = 256

/** Splits the bytes at `first` and at every `SPLIT_EVERY` bytes behind it. */
function packetsOf(bytes: Buffer, first: number): readonly Buffer[] {
  const packets = [bytes.subarray(0, first)]
  for (let at = first; at < bytes.length; at += SPLIT_EVERY) {
    packets.push(bytes.subarray(at, at + SPLIT_EVERY))
  }
  return packets
}

/** Converted streams have the time of their creation. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }))
afterEach(() => void vi.useRealTimers())

describe.each(CALLERS)('a stream for a caller of the format %s', (caller) => {
  describe.each(FAMILIES)('from a provider of %s', (_name, provider, isAws) => {
    it.each(TURNS)('is the same wherever its $kind is split', (turn) => {
      const bytes = streamOf(provider, turn, isAws)
      const whole = forwarded([bytes], caller, provider, isAws)
      expect(whole.verdict).toBe('done')
      expect(whole.usage).toBeDefined()
      if (caller === provider && !isAws) expect(whole.text).toBe(bytes.toString('utf8'))
      if (turn.kind === 'text') expect(whole.text).toMatch(/€/)
      else expect(whole.text).toMatch(/"name":"f"/)
      // Together, the first splits and those behind them are at every byte.
      for (let at = 1; at <= Math.min(SPLIT_EVERY, bytes.length - 1); at += 1) {
        const split = forwarded(packetsOf(bytes, at), caller, provider, isAws)
        // A comparison by `expect` takes longer than the whole stream.
        if (split.text !== whole.text || split.verdict !== whole.verdict) {
          expect({ at, ...split }).toEqual({ at, ...whole })
        }
        if (JSON.stringify(split.usage) !== JSON.stringify(whole.usage)) {
          expect({ at, usage: split.usage }).toEqual({ at, usage: whole.usage })
        }
      }
    })

    it('is the same if each byte arrives alone', () => {
      for (const turn of TURNS) {
        const bytes = streamOf(provider, turn, isAws)
        const single = Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1))
        expect(forwarded(single, caller, provider, isAws)).toEqual(
          forwarded([bytes], caller, provider, isAws),
        )
      }
    })
  })
})
