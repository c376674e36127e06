import { describe, expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { GEMINI, readGenerateRequest } from '#relay/dialects/gemini/generate-content-format.ts'
import { JsonArrayStream } from '#relay/dialects/gemini/write-stream-as-json-array.ts'
import type { ChatRequest, UpstreamChange } from '#relay/dialects/wire-format.ts'
import { RequestTextCollector } from '#relay/token-counts/collect-request-text.ts'

const MOST = 10_000_000
const PATH = { model: 'm', isStream: false }

function readJson(json: string): ChatRequest {
  const request = readGenerateRequest(Buffer.from(json), PATH)
  if (isRelayError(request)) throw new Error(`${request.code} ${request.params.param}`)
  return request
}
const read = (body: object): ChatRequest => readJson(JSON.stringify(body))
const ofPart = (part: object) => read({ contents: [{ parts: [part] }] }).inputBound
const YOUTUBE = 'https://www.youtube.com/watch?v=x'

describe('the input bound of a request of Gemini’s API', () => {
  it.each([
    ['a text', { text: 'inlineData "fileData"' }],
    ['a thought', { text: 'x', thought: true, thoughtSignature: 'c2ln' }],
    ['a call', { functionCall: { name: 'f', args: { inlineData: { mimeType: 'video/mp4' } } } }],
    ['its result', { functionResponse: { name: 'f', response: { fileData: {}, parts: [{}] } } }],
    ['code', { executableCode: { code: 'x' }, codeExecutionResult: { output: 'x' } }],
  ])('has no extra room for %s', (_name, part) => {
    const { tokens, ceiling, isText } = ofPart(part)
    expect(ceiling).toBe(tokens * 2 + 100_000)
    expect(isText).toBe(true)
  })

  it.each([
    ['a picture', { inlineData: { mimeType: 'image/png', data: 'AA' } }, 6_000, 50_000],
    ['in snake_case', { inline_data: { mime_type: 'image/png', data: 'AA' } }, 6_000, 50_000],
    ['sound', { inlineData: { mimeType: 'audio/wav', data: 'AA' } }, 0, 500_000],
    ['a document', { inlineData: { mimeType: 'application/pdf' } }, 100_000, 1_000_000],
    ['a video', { inlineData: { mimeType: 'video/mp4' } }, 300_000, 2_000_000],
    ['data without a type', { inlineData: { data: 'AA' } }, 300_000, 2_000_000],
    ['a file with a picture', { fileData: { mimeType: 'image/png' } }, 6_000, 50_000],
    ['a file with sound', { fileData: { mimeType: 'audio/wav' } }, 100_000, 1_000_000],
    ['a file without a type', { fileData: { fileUri: 'https://a.example' } }, 300_000, 2_000_000],
    [
      'a video that says it is a picture',
      { fileData: { fileUri: YOUTUBE, mimeType: 'image/png' } },
      ...([306_000, 2_050_000] as const),
    ],
    [
      'a picture in a result',
      { functionResponse: { name: 'f', parts: [{ inlineData: { mimeType: 'image/png' } }] } },
      ...([6_000, 50_000] as const),
    ],
  ])('has extra room for %s', (_name, part, tokens, ceiling) => {
    const length = JSON.stringify({ contents: [{ parts: [part] }] }).length
    const bound = ofPart(part)
    expect(bound.tokens).toBe(length + tokens)
    expect(bound.ceiling).toBe(bound.tokens * 2 + 100_000 + ceiling)
  })

  it.each([
    [
      'an escaped address',
      `{"fileData":{"fileUri":"https:\\/\\/y\\u006futube.com\\/x","mimeType":"image/png"}}`,
    ],
    ['an escaped name', `{"file\\u0044ata":{"fileUri":"${YOUTUBE}"}}`],
    ['a type that is no text', `{"inlineData":{"mimeType":5}}`],
    ['two types', `{"inlineData":{"mimeType":"video/mp4","mimeType":"image/png"}}`],
  ])('does not take %s for something smaller', (_name, part) => {
    const json = `{"contents":[{"parts":[${part}]}]}`
    expect(readJson(json).inputBound.tokens).toBeGreaterThanOrEqual(json.length + 300_000)
  })

  it.each([
    ['an unknown member', { text: 'x', other: {} }],
    ['a list in a part', { functionCall: [] }],
    ['an unknown member of a result', { functionResponse: { name: 'f', other: [] } }],
  ])('is the maximum for %s', (_name, part) => {
    expect(ofPart(part)).toMatchObject({ ceiling: MOST, isText: false })
  })

  it.each([
    'files/abc',
    'https://generativelanguage.googleapis.com/v1beta/files/abc',
    'HTTPS://generativelanguage.mtls.googleapis.com/v1/files/abc',
    'https://generativelangu%61ge.googleapis.com/v1beta/files/abc',
    '//generativelanguage.googleapis.com/v1beta/files/abc',
    '/v1beta/files/abc',
    'gs://bucket/object',
    `https://a.example/${'x'.repeat(9_000)}`,
  ])('a file that may belong to the account of the site is found: %s', (fileUri) => {
    const parts = [{ fileData: { fileUri, mimeType: 'image/png' } }]
    const escaped = JSON.stringify({ contents: [{ parts }] }).replace('files', 'f\\u0069les')
    for (const text of [JSON.stringify({ contents: [{ parts }] }), escaped]) {
      expect(readGenerateRequest(Buffer.from(text), PATH)).toMatchObject({
        fileReferences: [
          { id: fileUri.length > 8_192 ? null : fileUri, param: 'fileData.fileUri' },
        ],
      })
    }
  })

  it.each(['https://a.example/files/abc', 'https://storage.googleapis.com/bucket/object'])(
    'a public file belongs to no account: %s',
    (fileUri) => {
      const parts = [{ fileData: { fileUri, mimeType: 'image/png' } }]
      expect(read({ contents: [{ parts }] }).fileReferences).toBeUndefined()
    },
  )

  it('is the maximum for a list in a list of parts, and for a part that is no object', () => {
    const blob = { inlineData: { mimeType: 'video/mp4' } }
    for (const parts of [[[blob]], ['x'], [blob, 5]]) {
      expect(read({ contents: [{ parts }] }).inputBound.ceiling).toBe(MOST)
    }
  })

  it('finds parts where an object stands in place of a list, and in the instructions', () => {
    const blob = { inlineData: { mimeType: 'image/png' } }
    for (const body of [
      { contents: { parts: blob } },
      { contents: [{ parts: blob }] },
      { contents: [{ parts: [{ text: 'x' }] }], system_instruction: { parts: [blob] } },
    ]) {
      expect(read(body).inputBound.tokens).toBe(JSON.stringify(body).length + 6_000)
    }
  })

  it('an earlier part leaves no trace in the arguments of a later call', () => {
    const parts = [
      { functionResponse: { name: 'f', parts: [{ inlineData: { mimeType: 'image/png' } }] } },
      { functionCall: { name: 'f', args: { parts: [{ inlineData: { mimeType: 'video/mp4' } }] } } },
    ]
    const body = { contents: [{ parts }] }
    expect(read(body).inputBound.tokens).toBe(JSON.stringify(body).length + 6_000)
  })
})

const CONTENTS = [{ role: 'user', parts: [{ text: 'hi' }] }]
const CHANGE: UpstreamChange = {
  ...{ model: 'm', forcesUsage: true, overrides: new Map(), allowed: new Set() },
}
function sent(body: object | string, change: Partial<UpstreamChange> = {}) {
  const request = typeof body === 'string' ? readJson(body) : read(body)
  const { body: bytes, dropped } = GEMINI.upstreamBody(request, { ...CHANGE, ...change })
  return { text: bytes.toString(), body: JSON.parse(bytes.toString()) as unknown, dropped }
}

describe('the body for a provider of Gemini’s format', () => {
  it('equals the caller’s bytes when nothing changes', () => {
    const text = `{ "contents" :\t[{"parts":[{"text":"hi"}]}],"generation_config":{"topK":1.0}}`
    expect(sent(text, { outputTokens: null })).toMatchObject({ text, dropped: [] })
  })

  it.each([
    [undefined, { maxOutputTokens: 9 }],
    [null, { maxOutputTokens: 9 }],
    [{}, { maxOutputTokens: 9 }],
    [{ topK: 1 }, { topK: 1, maxOutputTokens: 9 }],
    [
      { maxOutputTokens: 5, topK: 1 },
      { maxOutputTokens: 5, topK: 1 },
    ],
    [
      { maxOutputTokens: 50, topK: 1 },
      { topK: 1, maxOutputTokens: 9 },
    ],
    [{ max_output_tokens: 50 }, { max_output_tokens: 9 }],
    [{ maxOutputTokens: null }, { maxOutputTokens: 9 }],
  ])('of the limits in %j and 9, the smaller one is sent', (generationConfig, expected) => {
    const { body } = sent({ contents: CONTENTS, generationConfig }, { outputTokens: 9 })
    expect(body).toEqual({ contents: CONTENTS, generationConfig: expected })
  })

  it('another spelling of the configuration gets the limit, too', () => {
    const body = { contents: CONTENTS, generation_config: { topK: 1 } }
    expect(sent(body, { outputTokens: 9 }).body).toEqual({
      contents: CONTENTS,
      generation_config: { topK: 1, maxOutputTokens: 9 },
    })
  })

  it('an override of the configuration replaces both spellings, and keeps the limit', () => {
    const overrides = new Map([['generationConfig', '{"maxOutputTokens":70}']])
    const body = { contents: CONTENTS, generation_config: { topK: 1 } }
    expect(sent(body, { overrides, outputTokens: 9 }).body).toEqual({
      contents: CONTENTS,
      generationConfig: { maxOutputTokens: 9 },
    })
    expect(sent(body, { overrides }).body).toMatchObject({
      generationConfig: { maxOutputTokens: 70 },
    })
  })

  it('overrides may replace every member', () => {
    const overrides = new Map([['contents', '[]']])
    expect(sent({ contents: CONTENTS, model: 'x' }, { overrides }).body).toEqual({ contents: [] })
  })

  it('members that choose another model or price are removed', () => {
    const body = {
      contents: CONTENTS,
      model: 'models/other',
      service_tier: 'priority',
      store: true,
      generationConfig: { routingConfig: { autoMode: {} }, topK: 1 },
    }
    expect(sent(body)).toMatchObject({
      body: { contents: CONTENTS, generationConfig: { topK: 1 } },
      dropped: ['model', 'service_tier', 'store', 'generationConfig.routingConfig'],
    })
    for (const model of ['m', 'models/m', null]) {
      const same = sent({ contents: CONTENTS, model })
      expect(same).toMatchObject({ body: { contents: CONTENTS }, dropped: [] })
    }
    const allowed = new Set(['service_tier'])
    expect(sent(body, { allowed }).body).not.toHaveProperty('service_tier')
    const standard = { contents: CONTENTS, serviceTier: 'standard' }
    expect(sent(standard)).toMatchObject({ body: standard, dropped: [] })
  })

  it.each([
    ['a list', [{ googleSearch: {} }, { code_execution: {} }], undefined],
    ['an object', { googleSearch: {} }, undefined],
    [
      'an object with functions',
      { googleSearch: {}, functionDeclarations: [] },
      { functionDeclarations: [] },
    ],
    ['an unknown tool', [{ newTool: {} }, { computerUse: {} }], [{ computerUse: {} }]],
    ['an escaped name', '[{"google\\u0053earch":{}}]', undefined],
  ])('the tools that Google runs are removed from %s', (_name, tools, kept) => {
    const json = typeof tools === 'string' ? tools : JSON.stringify(tools)
    const config = '"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}'
    const text = `{"tools":${json},"contents":${JSON.stringify(CONTENTS)},${config}}`
    const { body, dropped } = sent(text)
    expect(dropped).toEqual(['tools'])
    if (kept === undefined) expect(body).toEqual({ contents: CONTENTS })
    else expect(body).toMatchObject({ tools: kept, contents: CONTENTS })
    const allowed = sent(text, { allowed: new Set(['tools']) })
    if (json.includes('newTool')) expect(allowed.body).toMatchObject({ tools: kept })
    else expect(allowed.text).toBe(text)
  })
})

describe('names in answers', () => {
  const args = '{"modelVersion":"own","usageMetadata":{"promptTokenCount":1}}'
  const content = `{"parts":[{"functionCall":{"name":"f","args":${args}}}]}`
  const answer = (rest: string) => Buffer.from(`{"candidates":[{"content":${content}}]${rest}}`)

  it('are read from the outermost object only', () => {
    expect(GEMINI.usageInAnswer(answer(''))).toBeUndefined()
    expect(GEMINI.usageInAnswer(answer(',"usageMetadata":{"promptTokenCount":7}'))).toEqual({
      promptTokenCount: 7,
    })
    expect(GEMINI.modelName?.find(answer(''))).toBeNull()
    const plain = answer(',"modelVersion":"inner"')
    expect(GEMINI.modelName?.find(plain)).toBe('inner')
    const shown = GEMINI.modelName?.replace(plain, 'shown').toString()
    expect(shown).toBe(answer(',"modelVersion":"shown"').toString())
  })

  it('are replaced in each of several events', () => {
    const event = (name: string) => `data: ${answer(`,"modelVersion":"${name}"`)}\r\n\r\n`
    const events = Buffer.from(`${event('a')}: ping\n\n${event('b')}`)
    expect(GEMINI.modelName?.replace(events, 'c').toString()).toBe(
      `${event('c')}: ping\n\n${event('c')}`,
    )
  })
})

describe('texts for counting', () => {
  it('of an answer are texts, thoughts, calls and the size of data', () => {
    const texts: unknown[] = []
    const parts = [
      { text: 'a', thought: true },
      { text: 'b', thoughtSignature: 'c2ln' },
      { functionCall: { name: 'f', args: { x: 1 } } },
      { inlineData: { data: 'AAAA' } },
      5,
    ]
    GEMINI.readTexts(JSON.stringify({ candidates: [{ index: 1, content: { parts } }, null] }), {
      text: (...text) => texts.push(text),
      data: (length) => texts.push(length),
    })
    expect(texts).toEqual([[1, 1, 'a'], [1, 0, 'b'], 4, [1, 2, 'f'], [1, 2, '{"x":1}'], 4])
  })

  it('of a request do not include its data', () => {
    const request = new RequestTextCollector()
    const body = {
      contents: [
        {
          role: 'user',
          parts: [{ text: 'look' }, { inlineData: { mimeType: 'image/png', data: 'DATA' } }],
        },
        { parts: { functionCall: { name: 'f', args: { x: 1 } } } },
        {
          parts: [
            {
              functionResponse: {
                name: 'f',
                response: { y: 2 },
                parts: [{ inlineData: { data: 'DATA' } }],
              },
            },
          ],
        },
      ],
      system_instruction: { parts: [{ text: 'Be brief.' }] },
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      generationConfig: { stopSequences: ['no'], responseJsonSchema: { type: 'object' } },
    }
    const bytes = Buffer.from(JSON.stringify(body))
    request.feed(bytes, bytes.length)
    const text = Buffer.from(request.text.bytes.subarray(0, request.text.length)).toString()
    expect(text.split('\ufffd')).toEqual([
      'look',
      '{"name":"f","args":{"x":1}}',
      '{"y":2}',
      'Be brief.',
      JSON.stringify(body.tools),
      '{"type":"object"}',
    ])
    expect(request).toMatchObject({ messages: 3, images: 1 })
  })
})

describe('a stream as a JSON array', () => {
  it('has one element for each event, and comments as white space', () => {
    const array = new JsonArrayStream()
    const pieces = [
      array.elementsOf(': ping\n\n'),
      array.elementsOf('data: {"a":1}\r\n\r\n: ping\n\ndata: {"b":2}\n\n'),
      array.elementsOf(': ping\n\n'),
      array.end('data: {"c":3}\n\n'),
    ]
    expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }])
    expect(new JsonArrayStream().end('').toString()).toBe('[]')
  })
})
