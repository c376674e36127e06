import { describe, expect, it } from 'vitest'
import { ConversionError } from '#relay/canonical/canonical-request.ts'
import { readRequest } from '#relay/conversion/gemini/read-request.ts'
import { GEMINI_3, HI, read } from './requests.ts'

const user = (...parts: unknown[]) => ({ contents: [{ role: 'user', parts }] })
const model = (...parts: unknown[]) => ({ contents: [{ role: 'model', parts }] })
const paramOf = (body: Record<string, unknown>): string => {
  try {
    read(body)
  } catch (error) {
    if (error instanceof ConversionError) return error.param
    throw error
  }
  return 'nothing is wrong'
}

describe('reading a request in Gemini’s format', () => {
  it('takes the model and the stream from the URL', () => {
    const { value } = readRequest(
      { contents: HI, model: 'models/other' },
      { model: GEMINI_3, isStream: true },
    )
    expect(value).toMatchObject({ model: GEMINI_3, isStream: true, tools: [], thinking: null })
  })

  it('reads a function’s output in all its shapes', () => {
    const textOf = (response: unknown) => {
      const { value } = read(user({ functionResponse: { id: 'c', name: 'f', response } }))
      const [part] = value.messages[0]?.parts ?? []
      return part?.kind === 'tool-result' ? [part.isError, ...part.parts] : part
    }
    const text = (value: string) => ({ kind: 'text', text: value })
    expect(textOf({ output: 'a' })).toEqual([false, text('a')])
    expect(textOf({ result: 'a' })).toEqual([false, text('a')])
    expect(textOf({ output: [1] })).toEqual([false, text('{"output":[1]}')])
    expect(textOf({ error: { code: 1 } })).toEqual([true, text('{"code":1}')])
    expect(textOf({})).toEqual([false])
    expect(textOf(undefined)).toEqual([false])
    const inherited = JSON.parse('{"__proto__":{"a":1}}')
    expect(textOf(inherited)).toEqual([false, text('{"__proto__":{"a":1}}')])
  })

  it('reads files by their type and place', () => {
    const file = (fileUri: string, mimeType?: string) => ({ fileData: { fileUri, mimeType } })
    const stored = 'https://generativelanguage.googleapis.com/v1beta/files/x'
    const { value, losses } = read(
      user(
        file('https://example.com/a.pdf'),
        file('https://example.com/b', 'image/png'),
        file(stored, 'application/pdf'),
        file('https://youtu.be/x'),
        file('gs://bucket/a.mp3', 'audio/mpeg'),
        { inlineData: { mimeType: 'video/mp4', data: 'dg==' }, videoMetadata: {} },
      ),
    )
    expect(value.messages[0]?.parts).toEqual([
      { kind: 'document', source: { kind: 'url', url: 'https://example.com/a.pdf' } },
      { kind: 'image', source: { kind: 'url', url: 'https://example.com/b' } },
      { kind: 'document', source: { kind: 'file-id', id: stored } },
    ])
    expect(losses).toEqual([
      'contents[0].parts[1].fileData.mimeType',
      'contents[0].parts[2].fileData.mimeType',
      'contents[0].parts[3].fileData (video/*)',
      'contents[0].parts[4].fileData (audio/mpeg)',
      'contents[0].parts[5].videoMetadata',
      'contents[0].parts[5].inlineData (video/mp4)',
    ])
  })

  it('names everything that other formats can’t express', () => {
    const { losses } = read({
      contents: [
        {
          role: 'model',
          parts: [
            { executableCode: { code: '1' } },
            { text: 'a', partMetadata: {} },
            { inlineData: { mimeType: 'image/png', data: 'aQ==' }, thoughtSignature: 'c2ln' },
          ],
        },
      ],
      safetySettings: [],
      serviceTier: 'flex',
      tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: 'f', behavior: 'X' }] }],
      toolConfig: {
        functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f', 'g'] },
        retrievalConfig: {},
      },
      generationConfig: {
        responseModalities: ['TEXT', 'IMAGE'],
        speechConfig: {},
        logprobs: 2,
        responseMimeType: 'text/x.enum',
        responseSchema: { type: 'STRING' },
        thinkingConfig: { thinkingLevel: 'low', includeThoughts: false },
      },
    })
    expect(losses.toSorted()).toEqual([
      'contents[0].parts[0].executableCode',
      'contents[0].parts[1].partMetadata',
      'contents[0].parts[2].thoughtSignature',
      'generationConfig.logprobs',
      'generationConfig.responseMimeType',
      'generationConfig.responseModalities',
      'generationConfig.responseSchema',
      'generationConfig.speechConfig',
      'generationConfig.thinkingConfig.includeThoughts',
      'safetySettings',
      'serviceTier',
      'toolConfig.retrievalConfig',
      'tools[0].googleSearch',
      'tools[1].functionDeclarations[0].behavior',
    ])
  })

  it.each([
    [{ cachedContent: 'cachedContents/x', contents: HI }, 'cachedContent'],
    [{ contents: 'Hi' }, 'contents'],
    [{ contents: ['Hi'] }, 'contents[0]'],
    [{ contents: [{ role: 'system', parts: [] }] }, 'contents[0].role'],
    [user('Hi'), 'contents[0].parts[0]'],
    [user({ text: 1 }), 'contents[0].parts[0].text'],
    [user({ text: 'a', inlineData: {} }), 'contents[0].parts[0]'],
    [user({ inlineData: { data: 'a' } }), 'contents[0].parts[0].inlineData.mimeType'],
    [user({ inlineData: { mimeType: 'a/b' } }), 'contents[0].parts[0].inlineData.data'],
    [user({ fileData: {} }), 'contents[0].parts[0].fileData.fileUri'],
    [model({ functionCall: { args: {} } }), 'contents[0].parts[0].functionCall.name'],
    [model({ functionCall: { name: 'f', args: 'x' } }), 'contents[0].parts[0].functionCall.args'],
    [user({ functionCall: { name: 'f' } }), 'contents[0].parts[0].functionCall'],
    [model({ functionResponse: { name: 'f' } }), 'contents[0].parts[0].functionResponse'],
    [
      user({ functionResponse: { name: 'f', response: 'x' } }),
      'contents[0].parts[0].functionResponse.response',
    ],
    [{ tools: [{ functionDeclarations: [{}] }] }, 'tools[0].functionDeclarations[0].name'],
    [
      { toolConfig: { functionCallingConfig: { mode: 'SOME' } } },
      'toolConfig.functionCallingConfig.mode',
    ],
    [{ generationConfig: { temperature: 'hot' } }, 'generationConfig.temperature'],
    [{ generationConfig: { maxOutputTokens: 1.5 } }, 'generationConfig.maxOutputTokens'],
    [{ generationConfig: { stopSequences: [1] } }, 'generationConfig.stopSequences[0]'],
    [{ generationConfig: { responseLogprobs: 1 } }, 'generationConfig.responseLogprobs'],
    [{ generationConfig: { responseJsonSchema: 1 } }, 'generationConfig.responseJsonSchema'],
    [
      { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: 'LOW' } } },
      'generationConfig.thinkingConfig',
    ],
    [
      { generationConfig: { thinkingConfig: { thinkingLevel: 'WILD' } } },
      'generationConfig.thinkingConfig.thinkingLevel',
    ],
  ])('names the wrong member of %j', (body, param) => {
    expect(paramOf(body)).toBe(param)
  })

  it('reads the format of the answer in its newer form', () => {
    const formatOf = (...responseFormat: unknown[]) => {
      const { value, losses } = read({ contents: HI, generationConfig: { responseFormat } })
      return [value.answerFormat, ...losses]
    }
    const schema = { type: 'object' }
    expect(formatOf({ text: { mimeType: 'application/json', schema } })).toEqual([
      { kind: 'schema', name: 'answer', schema, isStrict: null },
    ])
    expect(formatOf({ text: { mime_type: 'APPLICATION_JSON' } })).toEqual([{ kind: 'json' }])
    expect(formatOf({ text: { schema } }, { image: {} })).toEqual([
      null,
      'generationConfig.responseFormat[0].text.schema',
      'generationConfig.responseFormat[1].image',
    ])
  })

  const choosing = (mode: string, ...allowedFunctionNames: unknown[]) => ({
    tools: [{ functionDeclarations: ['f', 'g', 'h'].map((name) => ({ name })) }],
    toolConfig: { functionCallingConfig: { mode, allowedFunctionNames } },
  })

  it.each([
    ['ANY', ['f', 'g'], ['f', 'g'], { kind: 'required' }],
    ['ANY', ['f'], ['f', 'g', 'h'], { kind: 'tool', name: 'f' }],
    ['AUTO', ['g', 'x'], ['g'], { kind: 'auto' }],
    ['NONE', ['g'], ['f', 'g', 'h'], { kind: 'none' }],
  ])('leaves only the allowed functions in the mode %s with %j', (mode, allowed, names, choice) => {
    const { value, losses } = read(choosing(mode, ...allowed))
    expect(value.tools.map(({ name }) => name)).toEqual(names)
    expect(value.toolChoice).toEqual(choice)
    expect(losses).toEqual([])
  })

  it('refuses allowed functions that are not declared, and values without a name', () => {
    const path = 'toolConfig.functionCallingConfig.allowedFunctionNames'
    expect(paramOf(choosing('ANY', 'x', 'y'))).toBe(path)
    expect(paramOf(choosing('ANY', 'f', 1))).toBe(`${path}[1]`)
  })

  it('reads a thought of the user as a text', () => {
    const { value } = read(user({ text: 'a', thought: true }))
    expect(value.messages[0]?.parts).toEqual([{ kind: 'text', text: 'a' }])
  })

  it('reads a request without contents as one without messages', () => {
    expect(read({}).value.messages).toEqual([])
    expect(
      read({ contents: [{ role: 'user', parts: [] }, { parts: null }] }).value.messages,
    ).toEqual([])
  })

  it('reads a placeholder for a signature as no signature', () => {
    const thoughtSignature = 'skip_thought_signature_validator'
    const { value } = read({
      contents: [{ role: 'model', parts: [{ functionCall: { name: 'f' }, thoughtSignature }] }],
    })
    expect(value.messages[0]?.parts[0]).not.toHaveProperty('signature')
  })
})
