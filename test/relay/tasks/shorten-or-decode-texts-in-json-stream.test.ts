import { describe, expect, it } from 'vitest'
import {
  base64TextIn,
  withShortTexts,
} from '#relay/tasks/shorten-or-decode-texts-in-json-stream.ts'

async function* splitAt(text: string, at: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  yield bytes.subarray(0, at)
  yield bytes.subarray(at)
}

async function joined(parts: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = []
  for await (const part of parts) all.push(part)
  return Buffer.concat(all).toString('utf8')
}

describe('texts that are cut while a JSON document arrives', () => {
  const long = 'x'.repeat(40)
  const given = String.raw`{"a\\":"b\\","c\"":["${long}\"y","1234567\u0041z","\\\\\\\\\\"],"n":1}`

  it('leave valid JSON, wherever it is split', async () => {
    const cut = { 'a\\': 'b\\', 'c"': ['xxxxxxxx', '1234567A', '\\'.repeat(5)], n: 1 }
    for (let at = 0; at <= given.length; at += 1) {
      expect(JSON.parse(await joined(withShortTexts(splitAt(given, at), 8)))).toEqual(cut)
    }
  })
})

describe('a file that is a base64 text in a JSON document', () => {
  const file = 'some bytes of a video'
  const text = Buffer.from(file).toString('base64')

  /** A text with all signs that JSON writers escape. */
  const SIGNS = '4oi+8J+/vz8/Pz4='
  const decoded = Buffer.from(SIGNS, 'base64').toString()
  const DECODED = new Map<string, string>([
    ...[['with escaped padding', 'ab'] as const, ['with escapes', decoded] as const],
    ...[['in lines', decoded] as const, ['in lines with codes', decoded] as const],
  ])

  it.each([
    ['in one line', `{"a":"bytes","videos":[{"bytes":"${text}","type":"x"}]}`],
    ['with spaces', `{ "videos" : [ { "bytes" :\n "${text}" } ] }`],
    [
      'with escaped padding',
      `{"bytes":"${Buffer.from('ab').toString('base64').replace('=', '\\u003d')}"}`,
    ],
    ['with escapes', `{"bytes":"${SIGNS.replaceAll('/', '\\/').replaceAll('+', '\\u002B')}"}`],
    ['in lines with codes', `{"bytes":"${SIGNS.replaceAll('/', '/\\u000d\\u000a')}"}`],
    ['in lines', `{"bytes":"${SIGNS.replaceAll('/', '/\\r\\n')}"}`],
  ])('is decoded %s, wherever it is split', async (name, document) => {
    const expected = DECODED.get(name) ?? file
    for (let at = 0; at <= document.length; at += 1) {
      expect(await joined(base64TextIn(splitAt(document, at), 'bytes'))).toBe(expected)
    }
  })

  it('is nothing without the member, and an error if the document is cut', async () => {
    expect(await joined(base64TextIn(splitAt('{"type":"x"}', 3), 'bytes'))).toBe('')
    await expect(joined(base64TextIn(splitAt('{"bytes":"QUJD', 3), 'bytes'))).rejects.toThrow()
  })
})
