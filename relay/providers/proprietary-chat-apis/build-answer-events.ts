import type {
  AnswerPart,
  CanonicalAnswer,
  CanonicalEvent,
  CanonicalUsage,
  StopReason,
} from '#relay/canonical/canonical-answer.ts'
import { TOKEN_COUNT_MAX } from '#relay/conversion/limit-ids-model-names-and-token-counts.ts'
import type { ProviderError } from './chat-translation.ts'

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= TOKEN_COUNT_MAX

/**
 * Returns the usage that a provider reports as two token counts. Returns null if a count is invalid
 * or the input count is 0. The gateway then counts the tokens itself, because a missing or wrong
 * report must not make an answer free.
 */
export function reportedUsage(input: unknown, output: unknown): CanonicalUsage | null {
  if (!isCount(input) || !isCount(output) || input === 0) return null
  return {
    inputUncached: Math.ceil(input),
    output: Math.ceil(output),
    cacheRead: 0,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    inputAudio: 0,
    inputImage: 0,
    reasoning: 0,
    outputAudio: 0,
  }
}

/** Returns the event for a usage. Returns no event if `usage` is null. */
export const usageEvents = (usage: CanonicalUsage | null): readonly CanonicalEvent[] =>
  usage === null ? [] : [{ kind: 'usage', usage }]

const THINKING_PART = 0
const TEXT_PART = 1

/** Returns the event for a piece of the answer's text. Returns no event for an empty piece. */
export const textEvents = (text: string): readonly CanonicalEvent[] =>
  text === '' ? [] : [{ kind: 'text', choice: 0, part: TEXT_PART, text }]

/** Returns the event for a piece of the model's thinking. Returns no event for an empty piece. */
export const thinkingEvents = (text: string): readonly CanonicalEvent[] =>
  text === '' ? [] : [{ kind: 'thinking', choice: 0, part: THINKING_PART, text }]

/** Returns the events that end an answer. */
export const endEvents = (stop: StopReason = 'end'): readonly CanonicalEvent[] => [
  { kind: 'stop', choice: 0, stop, stopSequence: null },
  { kind: 'end' },
]

/** Returns the event that ends a stream with a provider's error. */
export const errorEvents = (error: ProviderError): readonly CanonicalEvent[] => [
  { kind: 'error', ...error },
]

/** Returns an answer with one choice. */
export function singleAnswer(
  id: string,
  parts: readonly AnswerPart[],
  usage: CanonicalUsage | null,
  stop: StopReason = 'end',
): CanonicalAnswer {
  const choice = { parts, stop, stopSequence: null, logprobs: null }
  return { id, model: '', choices: [choice], usage }
}
