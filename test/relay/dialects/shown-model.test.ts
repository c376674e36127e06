import { describe, expect, it } from 'vitest'
import { modelIn, withModel } from '#relay/dialects/model-name-in-answer.ts'

const shown = (text: string, model = 'asked') => withModel(Buffer.from(text), model).toString()

describe('model name in an answer', () => {
  it.each([
    ['{"id":"1","model":"up","choices":[]}', '{"id":"1","model":"asked","choices":[]}'],
    ['{ "model" : "up" }', '{ "model" : "asked" }'],
    ['{"model":\n\t"u\\"p\\\\"}', '{"model":\n\t"asked"}'],
    [
      'data: {"model":"up"}\n\ndata: {"model":"up-2"}\n\n',
      'data: {"model":"asked"}\n\ndata: {"model":"asked"}\n\n',
    ],
  ])('is replaced by the requested one in %j', (text, expected) => {
    expect(shown(text)).toBe(expected)
  })

  it.each([
    '{"content":"{\\"model\\":\\"up\\"}"}',
    '{"content":"say \\"model","n":1}',
    '{"a \\"model":"up"}',
    '{"kind":"model","n":1}',
    '{"model":""}',
    '{"model":null}',
    '{"model":{"name":"up"}}',
    '{"model":"up',
    '{"content":"模型🎉"}',
    'data: [DONE]\n\n',
  ])('is absent from %j, whose bytes stay unchanged', (text) => {
    const bytes = Buffer.from(text)
    expect(withModel(bytes, 'asked')).toBe(bytes)
  })

  it('is replaced by a name with any characters', () => {
    const name = 'a"b\\c 模型'
    expect(JSON.parse(shown('{"model":"up"}', name))).toEqual({ model: name })
  })
})

describe('model name that is read from an answer', () => {
  it.each([
    ['{"choices":[{"message":{"content":"model"}}],"model":"o1-pro"}', 'o1-pro'],
    ['{"kind":"model","choices":[],"model" : "o1-pro"}', 'o1-pro'],
    ['{"content":"{\\"model\\":\\"x\\"}","model":"o1-pro"}', 'o1-pro'],
    ['{"model":null,"choices":[]}', null],
    ['{"content":"model"}', null],
  ])('of %s is %s, whatever the answer’s text contains', (answer, model) => {
    expect(modelIn(Buffer.from(answer))).toBe(model)
  })
})
