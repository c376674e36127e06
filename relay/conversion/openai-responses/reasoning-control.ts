import {
  ConversionError,
  type Effort,
  type JsonObject,
  type Thinking,
} from '../canonical-request.ts'
import { addLoss, addUnreadMembers } from '../collect-losses.ts'
import { isAbsent, optionalObject, optionalText } from '../json-fields.ts'

const EFFORTS: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']
const NONE = 'none'
const MEMBERS = new Set(['effort', 'summary', 'generate_summary'])

/**
 * Reads `reasoning`. A summary other than `auto` is reported as lost, because other formats can't
 * choose how detailed it is.
 */
export function readReasoning(value: unknown, losses: string[]): Thinking | null {
  const reasoning = optionalObject(value, 'reasoning')
  if (reasoning === null) return null
  addUnreadMembers(reasoning, MEMBERS, 'reasoning', losses)
  for (const name of ['summary', 'generate_summary']) {
    const summary = reasoning[name]
    if (!isAbsent(summary) && summary !== 'auto') addLoss(losses, `reasoning.${name}`)
  }
  const text = optionalText(reasoning.effort, 'reasoning.effort')
  if (text === null) return null
  if (text === NONE) return { kind: 'off' }
  const effort = EFFORTS.find((each) => each === text)
  if (effort !== undefined) return { kind: 'effort', effort }
  throw new ConversionError('reasoning.effort', 'The reasoning effort is unknown.')
}

type ModelFamily = { readonly pattern: RegExp; readonly efforts: readonly string[] }

const LOW_TO_HIGH = ['low', 'medium', 'high']
/**
 * The efforts that each generation of OpenAI's models accepts. A model without efforts does not
 * reason, and rejects the member.
 */
const FAMILIES: readonly ModelFamily[] = [
  { pattern: /^(?:gpt-3|gpt-4|chatgpt-|gpt-5(?:\.\d+)?-chat)/, efforts: [] },
  { pattern: /^o\d/, efforts: LOW_TO_HIGH },
  { pattern: /^gpt-5-pro/, efforts: ['high'] },
  { pattern: /^gpt-5-codex/, efforts: LOW_TO_HIGH },
  { pattern: /^gpt-5(?:-|$)/, efforts: ['minimal', ...LOW_TO_HIGH] },
  { pattern: /^gpt-5\.1-codex-max/, efforts: [NONE, ...LOW_TO_HIGH, 'xhigh'] },
  { pattern: /^gpt-5\.1(?:-|$)/, efforts: [NONE, ...LOW_TO_HIGH] },
  { pattern: /^gpt-5\.[2-5](?:-|$)/, efforts: [NONE, ...LOW_TO_HIGH, 'xhigh'] },
]
const ORDER: readonly string[] = [NONE, ...EFFORTS]

/** Returns the efforts that a model accepts. Returns null if the model is unknown. */
function effortsOf(model: string): readonly string[] | null {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  return FAMILIES.find(({ pattern }) => pattern.test(name))?.efforts ?? null
}

/**
 * The largest budgets in tokens that become a low and a medium effort. A larger budget becomes a
 * high effort.
 */
const LOW_TOKENS_MAX = 4_096
const MEDIUM_TOKENS_MAX = 16_384

function effortFor(thinking: Thinking): string | null {
  if (thinking.kind === 'adaptive') return null
  if (thinking.kind === 'off') return NONE
  if (thinking.kind === 'effort') return thinking.effort
  if (thinking.tokens <= LOW_TOKENS_MAX) return 'low'
  return thinking.tokens <= MEDIUM_TOKENS_MAX ? 'medium' : 'high'
}

/**
 * Returns the highest accepted effort that is not above `effort`. If all are above it, returns the
 * lowest one.
 */
function nearest(effort: string, accepted: readonly string[]): string {
  const rank = ORDER.indexOf(effort)
  const below = accepted.filter((each) => ORDER.indexOf(each) <= rank)
  return below.at(-1) ?? accepted[0] ?? effort
}

export type ReasoningMembers = {
  readonly reasoning: JsonObject | null
  /**
   * True if encrypted reasoning is requested. A model that does not reason rejects this request.
   */
  readonly hasEncryptedContent: boolean
  /** False if the model reasons. It then rejects a temperature and log probabilities. */
  readonly acceptsSampling: boolean
}

/**
 * Writes `reasoning` for the model. A summary is requested, because callers expect to receive the
 * thinking.
 */
export function writeReasoning(
  thinking: Thinking | null,
  model: string,
  losses: string[],
): ReasoningMembers {
  const accepted = effortsOf(model)
  if (accepted?.length === 0) {
    if (thinking !== null && thinking.kind !== 'off') addLoss(losses, 'thinking')
    return { reasoning: null, hasEncryptedContent: false, acceptsSampling: true }
  }
  if (thinking === null) {
    // Models that accept the effort `none` don't reason by default.
    const acceptsSampling = accepted === null || accepted.includes(NONE)
    return { reasoning: null, hasEncryptedContent: accepted !== null, acceptsSampling }
  }
  if (thinking.kind === 'budget') addLoss(losses, 'thinking.tokens')
  const requestedEffort = effortFor(thinking)
  const effort =
    requestedEffort === null || accepted === null
      ? requestedEffort
      : nearest(requestedEffort, accepted)
  if (effort !== requestedEffort)
    addLoss(losses, thinking.kind === 'off' ? 'thinking (off)' : 'thinking.effort')
  const summary = effort === NONE ? {} : { summary: 'auto' }
  return {
    reasoning: { ...(effort === null ? {} : { effort }), ...summary },
    hasEncryptedContent: effort !== NONE,
    acceptsSampling: accepted === null || effort === NONE,
  }
}
