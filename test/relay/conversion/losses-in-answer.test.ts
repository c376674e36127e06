import { describe, expect, it } from 'vitest'
import type { ProviderFormatName } from '#relay/conversion/format-conversion.ts'
import { LossesInAnswer } from '#relay/conversion/losses-in-answer.ts'

/** Returns the names of what is lost in an answer, or in the events of a stream. */
function lostIn(format: ProviderFormatName, ...data: readonly object[]): readonly string[] {
  const lost = new LossesInAnswer(format, 'chat')
  for (const one of data) lost.read(one as Readonly<Record<string, unknown>>)
  return lost.list.map((name) => /^answer \((.*)\)$/.exec(name)?.[1] ?? name)
}

const url_citation = { type: 'url_citation', url_citation: { url: 'https://a.example' } }
const found = { type: 'web_search_tool_result', tool_use_id: 'x', content: [] }
const cited = { type: 'text', text: 'a', citations: [{ type: 'char_location' }] }
const grounded = { groundingMetadata: { groundingChunks: [{ web: { uri: 'https://a.example' } }] } }
const searched = {
  groundingMetadata: { webSearchQueries: ['weather'] },
  urlContextMetadata: { urlMetadata: [{ retrievedUrl: 'https://a.example' }] },
}
const PICTURE = { mimeType: 'image/png', data: 'iVBO' }
const ofPart = (part: object, more = {}) => ({
  candidates: [{ content: { parts: [part] }, ...more }],
})
const message = { type: 'message', content: [{ type: 'output_text', annotations: [url_citation] }] }

describe('what a conversion leaves out of an answer is named', () => {
  it.each<[ProviderFormatName, object, readonly string[]]>([
    ['chat', { choices: [{ message: { annotations: [url_citation] } }] }, ['annotations']],
    ['chat', { choices: [{ message: { audio: { data: 'UklG', transcript: 'a' } } }] }, ['audio']],
    ['chat', { choices: [{ message: { images: [{ type: 'image_url' }] } }] }, ['images']],
    ['chat', { choices: [], citations: ['https://a.example'] }, ['citations']],
    ['messages', { content: [found, cited] }, ['web_search_tool_result', 'citations']],
    [
      'responses',
      { output: [{ type: 'web_search_call' }, message] },
      [...['web_search_call', 'annotations']],
    ],
    [
      'gemini',
      ofPart({ executableCode: { code: '1' } }, grounded),
      [...['executableCode', 'groundingMetadata']],
    ],
    ['gemini', ofPart({ inlineData: { mimeType: 'audio/wav', data: 'UklG' } }), ['inlineData']],
    ['gemini', ofPart({ inlineData: { mimeType: 'image/a b', data: 'iVBO' } }), ['inlineData']],
    ['gemini', ofPart({ thought: true, inlineData: PICTURE }), ['inlineData']],
    ['gemini', ofPart({ text: 'a' }, searched), ['groundingMetadata', 'urlContextMetadata']],
  ])('in an answer of the format %s: %o', (format, answer, names) => {
    expect(lostIn(format, answer)).toEqual(names)
  })

  it.each<[ProviderFormatName, readonly object[], readonly string[]]>([
    [
      'chat',
      [{ choices: [{ delta: { content: 'a', annotations: [url_citation] } }] }],
      ['annotations'],
    ],
    [
      'messages',
      [
        { type: 'content_block_start', index: 0, content_block: found },
        { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta' } },
      ],
      ['web_search_tool_result', 'citations'],
    ],
    [
      'responses',
      [
        { type: 'response.output_item.done', item: message },
        { type: 'response.completed', response: { output: [message] } },
      ],
      ['annotations'],
    ],
    ['gemini', [ofPart({ text: 'a' }), ofPart({ text: 'b' }, grounded)], ['groundingMetadata']],
  ])('in a stream of the format %s', (format, events, names) => {
    expect(lostIn(format, ...events)).toEqual(names)
  })

  it.each<[ProviderFormatName, object]>([
    ['chat', { choices: [{ message: { content: 'a', annotations: [] } }, null, 1] }],
    ['messages', { content: [{ type: 'text', text: 'a', citations: null }, 'text', null] }],
    ['messages', { type: 'content_block_delta', delta: { type: 'text_delta', text: 'a' } }],
    ['responses', { output: [{ type: 'message', content: [{ annotations: [] }] }] }],
    ['gemini', ofPart({ inlineData: PICTURE })],
    ['gemini', { candidates: [{ groundingMetadata: {}, citationMetadata: null }] }],
  ])('nothing is lost in an answer of the format %s: %o', (format, answer) => {
    expect(lostIn(format, answer)).toEqual([])
  })

  it.each([
    ['completions', ['answer (thinking)']],
    ['chat', []],
  ] as const)('thinking is lost only for a caller without a place for it: %s', (caller, names) => {
    const lost = new LossesInAnswer('messages', caller)
    lost.readPart({ kind: 'text', text: 'a' })
    lost.readPart({ kind: 'thinking', text: 'b' })
    expect(lost.list).toEqual(names)
  })

  it('a provider can’t add many or unusual names', () => {
    const content = Array.from({ length: 50 }, (_, at) => ({ type: `block_${at}` }))
    expect(lostIn('messages', { content })).toHaveLength(10)
    expect(lostIn('messages', { content: [{ type: 'a\r\nb' }, {}] })).toEqual(['other'])
  })
})
