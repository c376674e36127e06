import { createParser } from 'eventsource-parser'
import { describe, expect, it } from 'vitest'
import { EVENT_BYTES_MAX, eventData, SseScanner } from '#relay/canonical/sse-scanner.ts'
import { OPENAI_STREAM } from '#relay/dialects/openai-chat/stream-events.ts'
import { threadCpuMs } from '#test/support/time-limit.ts'

type Seen = { all: Buffer; kinds: string[]; scanner: SseScanner }

/** Feeds the parts and keeps copies: a later chunk must not change what was handed on. */
function scan(parts: readonly Buffer[], eventBytesMax = EVENT_BYTES_MAX): Seen {
  const handed: Buffer[] = []
  const kinds: string[] = []
  const scanner = new SseScanner(
    {
      pass: (bytes) => handed.push(bytes),
      onMarkedEvent: (bytes) => {
        kinds.push('marked')
        handed.push(bytes)
      },
      onLastEvent: (bytes) => {
        kinds.push('done')
        handed.push(bytes)
      },
    },
    OPENAI_STREAM.isLastEvent,
    undefined,
    eventBytesMax,
  )
  for (const part of parts) scanner.push(Buffer.from(part))
  return { all: Buffer.concat([...handed, scanner.rest()]), kinds, scanner }
}

function dataOf(bytes: Buffer): string[] {
  const seen: string[] = []
  const parser = createParser({ onEvent: (event) => seen.push(event.data) })
  parser.feed(bytes.toString('utf8'))
  return seen
}

const STREAM = [
  ': a comment\n\n',
  'data: {"choices":[{"delta":{"content":"héllo \\"usage\\": 你好 🎉"}}],"usage":null}\n\n',
  'event: message\ndata:{"no":"space"}\n\n',
  'data: two\ndata: lines\n\n',
  '\n',
  'id: 7\nretry: 10\ndata: {"choices":[],"usage": {"prompt_tokens":3,"completion_tokens":2}}\n\n',
  'data: [DONE]\n\n',
].join('')

const VARIANTS: [string, string][] = [
  ['LF', STREAM],
  ['CR LF', STREAM.replaceAll('\n', '\r\n')],
  ['CR', STREAM.replaceAll('\n', '\r')],
]

describe.each(VARIANTS)('a scanned stream with %s line ends', (_name, text) => {
  const bytes = Buffer.from(text)

  it('is unchanged byte for byte, wherever it is cut in two', () => {
    for (let at = 0; at <= bytes.length; at += 1) {
      const { all, kinds } = scan([bytes.subarray(0, at), bytes.subarray(at)])
      expect(all.equals(bytes), `cut at ${at}`).toBe(true)
      expect(kinds, `cut at ${at}`).toEqual(['marked', 'done'])
    }
  })

  it('is unchanged when every byte arrives alone', () => {
    const { all, kinds } = scan([...bytes].map((byte) => Buffer.of(byte)))
    expect(all.equals(bytes)).toBe(true)
    expect(kinds).toEqual(['marked', 'done'])
  })
})

describe('data of an event', () => {
  it.each([
    ['data: x\n\n'],
    ['data:x\n\n'],
    ['data:  two spaces\n\n'],
    ['data\ndata\n\n'],
    ['event: e\ndata: a\nid: 3\ndata: b\n\n'],
    [': c\ndata: {"a":1}\n\n'],
    ['data: x\r\n\r\n'],
  ])('equals the result of a client’s parser for %j', (event) => {
    expect(eventData(Buffer.from(event))).toBe(dataOf(Buffer.from(event))[0])
  })
})

describe('event markers', () => {
  it('count with a value, and do not count inside a text', () => {
    const quiet = 'data: {"choices":[{"delta":{"content":"\\"usage\\":{\\"error\\":1}"}}]}\n\n'
    expect(scan([Buffer.from(quiet)]).kinds).toEqual([])
    expect(scan([Buffer.from('data: {"usage":null,"error":null}\n\n')]).kinds).toEqual([])
    expect(scan([Buffer.from('data: {"error" : {"message":"x"}}\n\n')]).kinds).toEqual(['marked'])
  })
})

describe('an event of 32 MiB in pieces of 16 KiB', () => {
  const MIB = 1024 * 1024
  const piecesOf = (bytes: Buffer) =>
    Array.from({ length: Math.ceil(bytes.length / 16_384) }, (_none, index) =>
      bytes.subarray(index * 16_384, (index + 1) * 16_384),
    )
  /** Returns the CPU time (ms) of a stream with this event between two others. */
  const cpuMsOf = (event: string): number => {
    const bytes = Buffer.from(`data: first\n\n${event}data: [DONE]\n\n`)
    const pieces = piecesOf(bytes)
    const startedAt = threadCpuMs()
    const { all, kinds } = scan(pieces, 33 * MIB)
    const cpuMs = threadCpuMs() - startedAt
    expect(all.equals(bytes)).toBe(true)
    expect(kinds).toEqual(['marked', 'done'])
    return cpuMs
  }
  const lines = (length: number) => `data: ${'x'.repeat(249)}\n`.repeat(length / 256)

  it.each<[string, (length: number) => string]>([
    ['one line', (length) => `data: {"text":"${'x'.repeat(length)}","usage":{}}\n\n`],
    [
      'one line with CR LF',
      (length) => `: c\r\ndata: {"text":"${'x'.repeat(length)}","usage":{}}\r\n\r\n`,
    ],
    ['many lines', (length) => `${lines(length)}data: "usage":{}\n\n`],
  ])('costs linear time as %s', (_name, eventOf) => {
    cpuMsOf(eventOf(MIB))
    const shortMs = cpuMsOf(eventOf(4 * MIB))
    // Linear time is 8 times as long, quadratic time 64 times. The second covers a collection of
    // garbage.
    expect(cpuMsOf(eventOf(32 * MIB))).toBeLessThan(25 * shortMs + 1_000)
  })
})
