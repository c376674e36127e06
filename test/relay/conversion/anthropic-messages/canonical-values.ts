import type { CanonicalUsage } from '#relay/canonical/canonical-answer.ts'
import type { CanonicalRequest, TextPart } from '#relay/canonical/canonical-request.ts'

export const textPart = (text: string): TextPart => ({ kind: 'text', text })

export const canonicalRequest = (members: Partial<CanonicalRequest>): CanonicalRequest => ({
  model: 'claude-sonnet-4-5',
  isStream: false,
  system: [],
  messages: [{ role: 'user', parts: [textPart('hi')] }],
  tools: [],
  toolChoice: null,
  allowsParallelCalls: null,
  outputTokensMax: 4000,
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
  ...members,
})

export const canonicalUsage = (counts: Partial<CanonicalUsage>): CanonicalUsage => ({
  inputUncached: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  inputAudio: 0,
  inputImage: 0,
  output: 0,
  reasoning: 0,
  outputAudio: 0,
  ...counts,
})
