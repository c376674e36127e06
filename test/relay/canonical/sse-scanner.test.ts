import { createParser } from 'eventsource-parser'
import { describe, expect, it } from 'vitest'
import { EVENT_BYTES_MAX, eventData, SseScanner } from '#relay/canonical/sse-scanner.ts'
import { OPENAI_STREAM } from '#relay/dialects/openai-chat/stream-events.ts'

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

describe('an event of 30 MiB in pieces of 16 KiB', () => {
  const MIB = 1024 * 1024
  const long = 'x'.repeat(30 * MIB)
  const piecesOf = (bytes: Buffer) =>
    Array.from({ length: Math.ceil(bytes.length / 16_384) }, (_none, index) =>
      bytes.subarray(index * 16_384, (index + 1) * 16_384),
    )

  it.each([
    ['one line', `data: {"text":"${long}","usage":{}}\n\n`],
    ['one line with CR LF', `: c\r\ndata: {"text":"${long}","usage":{}}\r\n\r\n`],
    ['many lines', `${`data: ${'x'.repeat(200)}\n`.repeat(150_000)}data: "usage":{}\n\n`],
  ])('costs linear time as %s', (_name, text) => {
    const bytes = Buffer.from(`data: first\n\n${text}data: [DONE]\n\n`)
    const before = process.cpuUsage()
    const { all, kinds } = scan(piecesOf(bytes), 32 * MIB)
    const { user, system } = process.cpuUsage(before)
    expect(all.equals(bytes)).toBe(true)
    expect(kinds).toEqual(['marked', 'done'])
    // Quadratic time would be many seconds. On a busy machine, linear time may exceed one.
    expect((user + system) / 1e6).toBeLessThan(3)
  })
})

describe('a line without an end', () => {
  it('stops the scanner at its size limit, whatever came before', () => {
    const piece = Buffer.alloc(64 * 1024, 'x')
    const { scanner } = scan([Buffer.from(`data: ok\n\n`), ...Array(20).fill(piece)])
    expect(scanner.overflow).toEqual(Buffer.alloc(1_024, 'x'))
    expect(scanner.rest().length).toBe(0)
    expect(20 * piece.length).toBeGreaterThan(EVENT_BYTES_MAX)
  })
})
