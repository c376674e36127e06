import type { Effort, Thinking } from '../canonical/canonical-request.ts'
import { addLoss } from './collect-losses.ts'

/** All efforts, from the lowest to the highest. */
export const EFFORTS: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']
/** The effort that turns thinking off. */
export const EFFORT_NONE = 'none'

type ModelFamily = { readonly pattern: RegExp; readonly efforts: readonly string[] }

const LOW_TO_HIGH = ['low', 'medium', 'high']
/**
 * The efforts that each generation of OpenAI's models accepts. Models with an empty list don't
 * reason. They reject a request with an effort.
 */
const FAMILIES: readonly ModelFamily[] = [
  { pattern: /^(?:gpt-3|gpt-4|chatgpt-|gpt-5(?:\.\d+)?-chat)/, efforts: [] },
  { pattern: /^o\d/, efforts: LOW_TO_HIGH },
  { pattern: /^gpt-5-pro/, efforts: ['high'] },
  { pattern: /^gpt-5-codex/, efforts: LOW_TO_HIGH },
  { pattern: /^gpt-5(?:-|$)/, efforts: ['minimal', ...LOW_TO_HIGH] },
  { pattern: /^gpt-5\.\d+-pro/, efforts: ['medium', 'high', 'xhigh'] },
  { pattern: /^gpt-5\.1-codex(?!-max)/, efforts: LOW_TO_HIGH },
  { pattern: /^gpt-5\.\d+-codex/, efforts: [...LOW_TO_HIGH, 'xhigh'] },
  { pattern: /^gpt-5\.1(?:-|$)/, efforts: [EFFORT_NONE, ...LOW_TO_HIGH] },
  { pattern: /^gpt-5\.[2-5](?:-|$)/, efforts: [EFFORT_NONE, ...LOW_TO_HIGH, 'xhigh'] },
]
const ORDER: readonly string[] = [EFFORT_NONE, ...EFFORTS]

/** Returns the efforts that a model of OpenAI accepts. Returns null if the model is unknown. */
export function effortsOf(model: string): readonly string[] | null {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  return FAMILIES.find(({ pattern }) => pattern.test(name))?.efforts ?? null
}

/**
 * The largest thinking budgets, in tokens, that are converted to the efforts `low` and `medium`. A
 * larger budget is converted to `high`.
 */
const LOW_TOKENS_MAX = 4_096
const MEDIUM_TOKENS_MAX = 16_384

function effortFor(thinking: Thinking): string | null {
  if (thinking.kind === 'adaptive') return null
  if (thinking.kind === 'off') return EFFORT_NONE
  if (thinking.kind === 'effort') return thinking.effort
  if (thinking.tokens <= LOW_TOKENS_MAX) return 'low'
  return thinking.tokens <= MEDIUM_TOKENS_MAX ? 'medium' : 'high'
}

/**
 * Returns the highest accepted effort that is not above `effort`. If all accepted efforts are above
 * `effort`, returns the lowest accepted effort.
 */
function nearest(effort: string, accepted: readonly string[]): string {
  const rank = ORDER.indexOf(effort)
  const below = accepted.filter((each) => ORDER.indexOf(each) <= rank)
  return below.at(-1) ?? accepted[0] ?? effort
}

export type EffortChoice = {
  /** The effort to send, or null to send none. */
  readonly effort: string | null
  /**
   * True if a temperature and log probabilities may be sent. OpenAI's models reject both while they
   * reason. If the accepted efforts are unknown, both may be sent.
   */
  readonly acceptsSampling: boolean
}

/**
 * Chooses the effort for a model. `accepted` lists the efforts that the model accepts, or is null
 * if it accepts any. Reports as lost what the chosen effort does not express, such as a budget in
 * tokens or an effort that the model does not accept.
 */
export function chooseEffort(
  thinking: Thinking | null,
  accepted: readonly string[] | null,
  losses: string[],
): EffortChoice {
  if (accepted?.length === 0) {
    if (thinking !== null && thinking.kind !== 'off') addLoss(losses, 'thinking')
    return { effort: null, acceptsSampling: true }
  }
  // Models that accept the effort `none` don't reason by default.
  if (thinking === null) {
    return { effort: null, acceptsSampling: accepted === null || accepted.includes(EFFORT_NONE) }
  }
  if (thinking.kind === 'budget') addLoss(losses, 'thinking.tokens')
  const requested = effortFor(thinking)
  const effort = requested === null || accepted === null ? requested : nearest(requested, accepted)
  if (effort !== requested)
    addLoss(losses, thinking.kind === 'off' ? 'thinking (off)' : 'thinking.effort')
  return { effort, acceptsSampling: accepted === null || effort === EFFORT_NONE }
}
