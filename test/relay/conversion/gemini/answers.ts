import type { JsonObject } from '#relay/canonical/json-values.ts'

/** An answer with a thought, a text and two calls, one of them without an id. */
export const ANSWER: JsonObject = {
  candidates: [
    {
      content: {
        parts: [
          { text: 'Both must be read.', thought: true },
          { text: 'I read them.' },
          {
            functionCall: { id: 'c1', name: 'read', args: { path: 'a' } },
            thoughtSignature: 'c2lnbmF0dXJl',
          },
          { functionCall: { name: 'list', args: {} } },
        ],
        role: 'model',
      },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata: {
    promptTokenCount: 100,
    cachedContentTokenCount: 60,
    candidatesTokenCount: 20,
    thoughtsTokenCount: 30,
    totalTokenCount: 150,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 100 }],
  },
  modelVersion: 'gemini-3.5-flash',
  responseId: 'xhjWaLmpFOuHz7IPl8mR4Aw',
}

const chunk = (parts: readonly JsonObject[], rest: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...rest }],
  usageMetadata: { promptTokenCount: 100, totalTokenCount: 100 },
  modelVersion: 'gemini-3.5-flash',
  responseId: 'xhjWaLmpFOuHz7IPl8mR4Aw',
})

/** The same answer as a stream. */
export const CHUNKS: readonly JsonObject[] = [
  chunk([{ text: 'Both must ', thought: true }]),
  chunk([{ text: 'be read.', thought: true }]),
  chunk([{ text: 'I read' }]),
  chunk([{ text: ' them.' }]),
  chunk([
    {
      functionCall: { id: 'c1', name: 'read', args: { path: 'a' } },
      thoughtSignature: 'c2lnbmF0dXJl',
    },
  ]),
  chunk([{ functionCall: { name: 'list', args: {} } }]),
  {
    ...chunk([{ text: '' }], { finishReason: 'STOP' }),
    usageMetadata: ANSWER.usageMetadata,
  },
]
