import type { CanonicalRequest } from '#relay/canonical/canonical-request.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { readRequest } from '#relay/conversion/gemini/read-request.ts'

export const GEMINI_3 = 'gemini-3.5-flash'
export const GEMINI_2 = 'gemini-2.5-flash'

/** A request without anything that is optional. */
export const EMPTY_REQUEST: CanonicalRequest = {
  model: GEMINI_3,
  isStream: false,
  system: [],
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
  tools: [],
  toolChoice: null,
  allowsParallelCalls: null,
  outputTokensMax: null,
  sampling: {
    choices: null,
    temperature: null,
    topP: null,
    topK: null,
    seed: null,
    presencePenalty: null,
    frequencyPenalty: null,
    stop: [],
  },
  thinking: null,
  answerFormat: null,
  logprobs: null,
  endUser: null,
  promptCacheKey: null,
}

/** The body of a caller's request of 8 000 bytes whose schemas have references. */
export const BODY = Buffer.from('"$ref"'.padEnd(8_000))

export const HI = [{ role: 'user', parts: [{ text: 'Hi' }] }]

export const read = (body: JsonObject, model = GEMINI_3) =>
  readRequest(body, { model, isStream: false })

/** The turn of an agent: parallel calls with a signature, their results, and a new question. */
export const AGENT_REQUEST: JsonObject = {
  systemInstruction: { parts: [{ text: 'You are an agent.' }, { text: 'Be brief.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'Compare the files a and b.' }] },
    {
      role: 'model',
      parts: [
        { text: 'Both must be read.', thought: true },
        { text: 'I read them.' },
        {
          functionCall: { id: 'c1', name: 'read', args: { path: 'a' } },
          thoughtSignature: 'c2lnbmF0dXJlLTE=',
        },
        { functionCall: { id: 'c2', name: 'read', args: { path: 'b' } } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'c1', name: 'read', response: { output: 'The text of a' } } },
        {
          functionResponse: {
            id: 'c2',
            name: 'read',
            response: { width: 2, height: 3 },
            parts: [{ inlineData: { mimeType: 'image/png', data: 'aW1hZ2U=' } }],
          },
        },
      ],
    },
    { role: 'model', parts: [{ text: 'They differ.', thoughtSignature: 'c2lnbmF0dXJlLTI=' }] },
    {
      role: 'user',
      parts: [
        { text: 'And this?' },
        { inlineData: { mimeType: 'application/pdf', data: 'cGRm' } },
        { inlineData: { mimeType: 'audio/wav', data: 'd2F2' } },
        { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } },
      ],
    },
  ],
  tools: [
    {
      functionDeclarations: [
        {
          name: 'read',
          description: 'Reads a file',
          parameters: {
            type: 'OBJECT',
            properties: { path: { type: 'STRING' } },
            required: ['path'],
          },
        },
        { name: 'list', description: 'Lists files' },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
  generationConfig: {
    temperature: 0.5,
    topP: 0.9,
    topK: 40,
    seed: 7,
    candidateCount: 1,
    maxOutputTokens: 8192,
    stopSequences: ['END'],
    thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true },
  },
}
