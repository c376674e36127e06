import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { writeRequest } from '#relay/conversion/gemini/write-request.ts'
import { AGENT_REQUEST, BODY, HI, read } from './requests.ts'

const roundTrip = (body: JsonObject, model?: string) => {
  const request = read(body, model)
  const written = writeRequest(request.value, BODY)
  return { value: written.value, losses: [...request.losses, ...written.losses] }
}

describe('a request that is read and written again', () => {
  it('is the same for the turn of an agent', () => {
    expect(roundTrip(AGENT_REQUEST)).toEqual({ value: AGENT_REQUEST, losses: [] })
  })

  it('is the same in canonical form', () => {
    const { value } = read(AGENT_REQUEST)
    expect(read(writeRequest(value, BODY).value).value).toEqual(value)
  })

  it('is the same in snake_case', () => {
    const body = {
      system_instruction: { parts: { text: 'Be brief.' } },
      contents: [{ parts: [{ inline_data: { mime_type: 'image/png', data: 'aQ==' } }] }],
      tools: { function_declarations: { name: 'f', parameters_json_schema: null } },
      tool_config: { function_calling_config: { mode: 'any', allowed_function_names: ['f'] } },
      generation_config: {
        max_output_tokens: '10',
        response_logprobs: true,
        logprobs: 3,
        presence_penalty: 1,
        frequency_penalty: -1,
        thinking_config: { thinking_budget: 100 },
      },
    }
    expect(roundTrip(body)).toEqual({
      losses: [],
      value: {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [
          { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'aQ==' } }] },
        ],
        tools: [{ functionDeclarations: [{ name: 'f' }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
        generationConfig: {
          maxOutputTokens: 10,
          responseLogprobs: true,
          logprobs: 3,
          presencePenalty: 1,
          frequencyPenalty: -1,
          thinkingConfig: { thinkingBudget: 100, includeThoughts: true },
        },
      },
    })
  })

  it.each([
    [{ thinkingLevel: 'MINIMAL', includeThoughts: true }, 'gemini-3.5-flash'],
    [{ thinkingLevel: 'MEDIUM', includeThoughts: true }, 'gemini-3.1-pro-preview'],
    [{ thinkingBudget: 0 }, 'gemini-2.5-flash'],
    [{ thinkingBudget: -1, includeThoughts: true }, 'gemini-2.5-pro'],
    [{ thinkingBudget: 2048, includeThoughts: true }, 'gemini-2.5-pro'],
    [{ includeThoughts: true }, 'gemini-3-pro-preview'],
  ])('keeps the thinking %j of %s', (thinkingConfig, model) => {
    const body = { contents: HI, generationConfig: { thinkingConfig } }
    expect(roundTrip(body, model)).toEqual({ value: body, losses: [] })
  })

  it('keeps an answer in JSON and its schema', () => {
    const responseMimeType = 'application/json'
    const responseSchema = { type: 'OBJECT', properties: { a: { type: 'STRING' } } }
    for (const generationConfig of [{ responseMimeType }, { responseMimeType, responseSchema }]) {
      const body = { contents: HI, generationConfig }
      expect(roundTrip(body)).toEqual({ value: body, losses: [] })
    }
    const responseJsonSchema = { type: 'object', properties: { a: { type: 'string' } } }
    const body = { contents: HI, generationConfig: { responseMimeType, responseJsonSchema } }
    expect(roundTrip(body).value).toEqual({
      contents: HI,
      generationConfig: { responseMimeType, responseSchema },
    })
  })

  it('keeps a signature in a part without data, and in a thought', () => {
    const contents = [
      ...HI,
      {
        role: 'model',
        parts: [
          { text: 'Hm', thought: true, thoughtSignature: 'b25l' },
          { text: 'Yes' },
          { text: '', thoughtSignature: 'dHdv' },
        ],
      },
    ]
    expect(roundTrip({ contents })).toEqual({ value: { contents }, losses: [] })
  })

  it('matches results to calls without ids by name and order', () => {
    const call = (n: number) => ({ functionCall: { name: 'f', args: { n } } })
    const result = (n: number) => ({ functionResponse: { name: 'f', response: { n } } })
    const contents = [
      ...HI,
      { role: 'model', parts: [call(1), { functionCall: { name: 'g', args: {} } }, call(2)] },
      {
        role: 'function',
        parts: [
          result(1),
          result(2),
          { functionResponse: { name: 'g', response: { error: 'no' } } },
        ],
      },
    ]
    const { messages } = read({ contents }).value
    const parts = messages.flatMap((message) => message.parts)
    expect(parts.slice(1)).toMatchObject([
      { kind: 'tool-call', id: 'gemini_call_1_0' },
      { kind: 'tool-call', id: 'gemini_call_1_1' },
      { kind: 'tool-call', id: 'gemini_call_1_2' },
      { callId: 'gemini_call_1_0', parts: [{ text: '{"n":1}' }], isError: false },
      { callId: 'gemini_call_1_2', parts: [{ text: '{"n":2}' }] },
      { callId: 'gemini_call_1_1', parts: [{ text: 'no' }], isError: true },
    ])
    expect(roundTrip({ contents }, 'gemini-2.5-pro')).toEqual({
      losses: [],
      value: {
        contents: [
          ...contents.slice(0, 2),
          {
            role: 'user',
            parts: [
              result(1),
              { functionResponse: { name: 'g', response: { error: 'no' } } },
              result(2),
            ],
          },
        ],
      },
    })
  })
})
