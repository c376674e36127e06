import type { Effort, Thinking } from '../canonical/canonical-request.ts'
import { modelRules } from '../conversion/anthropic-messages/members-accepted-by-model.ts'
import { readModelVersion } from '../conversion/gemini/model-version.ts'
import { budgetLimitsOf } from '../conversion/gemini/thinking-config.ts'
import type { AdapterOptions } from './read-claude-and-gemini-options.ts'

/** The parts of a model name that has a suffix. The suffix controls how much the model thinks. */
export type ModelSuffix = {
  /** The complete name, including the suffix. */
  readonly name: string
  /** The name of the model without the suffix. */
  readonly base: string
  /** The suffix without its first hyphen, such as `thinking-2048` or `high`. */
  readonly suffix: string
  /**
   * The thinking that the suffix demands. The kind `share` means a budget that is a share of the
   * request's output limit.
   */
  readonly thinking: Thinking | { readonly kind: 'share' }
}

const SUFFIX = /^(.+)-(thinking|nothinking|thinking-\d{1,6}|minimal|low|medium|high|xhigh|max)$/
/**
 * Matches OpenAI's reasoning models. Callers can append an effort, such as `-high`, to the names of
 * these models.
 */
export const OPENAI_REASONING = /(?:^|\/)(?:o\d|gpt-[5-9])(?!.*-chat)/
const FIRST_WITH_LEVELS = 3
/** The first version of Gemini whose models think. */
export const FIRST_GEMINI_VERSION_WITH_THINKING = 2.5

/**
 * Reads the suffix of a model's name. Returns null if the name has no suffix, if an option turns
 * off the suffixes of this vendor, or if the model does not support the requested thinking.
 */
export function readModelSuffix(name: string, options: AdapterOptions): ModelSuffix | null {
  const [, base = '', suffix = ''] = SUFFIX.exec(name) ?? []
  const thinking = base === '' ? null : thinkingOf(base.toLowerCase(), suffix, options)
  return thinking === null ? null : { name, base, suffix, thinking }
}

function thinkingOf(
  base: string,
  suffix: string,
  { claude, gemini }: AdapterOptions,
): ModelSuffix['thinking'] | null {
  if (base.includes('claude'))
    return claude.isThinkingEnabled ? thinkingOfClaude(base, suffix) : null
  if (base.includes('gemini-'))
    return gemini.isThinkingEnabled ? thinkingOfGemini(base, suffix) : null
  // `max` is not read as an effort, because names such as `gpt-5.1-codex-max` end with `max`.
  const isEffort = !suffix.includes('thinking') && suffix !== 'max'
  return isEffort && OPENAI_REASONING.test(base)
    ? { kind: 'effort', effort: suffix as Effort }
    : null
}

function thinkingOfClaude(base: string, suffix: string): ModelSuffix['thinking'] | null {
  const { acceptsBudget, acceptsAdaptive, efforts } = modelRules(base)
  if (!acceptsBudget && !acceptsAdaptive) return null
  const effort = suffix as Effort
  return namedThinking(suffix) ?? (efforts.has(effort) ? { kind: 'effort', effort } : null)
}

/**
 * Returns the thinking that the suffix `thinking`, `nothinking` or `thinking-<tokens>` demands.
 * Returns null for any other suffix.
 */
function namedThinking(suffix: string): ModelSuffix['thinking'] | null {
  if (suffix === 'thinking') return { kind: 'share' }
  if (suffix === 'nothinking') return { kind: 'off' }
  if (!suffix.startsWith('thinking-')) return null
  const tokens = Number(suffix.slice('thinking-'.length))
  return tokens === 0 ? { kind: 'off' } : { kind: 'budget', tokens }
}

function thinkingOfGemini(base: string, suffix: string): ModelSuffix['thinking'] | null {
  const version = readModelVersion(base).version ?? 0
  if (version < FIRST_GEMINI_VERSION_WITH_THINKING) return null
  const named = namedThinking(suffix)
  if (named !== null) return named
  // Gemini's levels end at `high`.
  const isLevel = version >= FIRST_WITH_LEVELS && suffix !== 'xhigh' && suffix !== 'max'
  return isLevel ? { kind: 'effort', effort: suffix as Effort } : null
}

/**
 * Returns how much the model may think. `model` is the provider's name for the model.
 * `outputTokensMax` is the output limit that is sent, or null if none is sent. For the suffix
 * `-thinking`, the result is a budget that is a share of this limit. If there is no limit or the
 * model accepts no budget, the model decides how much it thinks.
 */
export function thinkingFor(
  { base, thinking }: ModelSuffix,
  model: string,
  outputTokensMax: number | null,
  { claude, gemini }: AdapterOptions,
): Thinking {
  if (thinking.kind !== 'share') return thinking
  if (outputTokensMax === null) return { kind: 'adaptive' }
  const isGemini = base.toLowerCase().includes('gemini-')
  const { thinkingShare } = isGemini ? gemini : claude
  const acceptsBudget = isGemini
    ? takesGeminiBudget([base, model], gemini)
    : modelRules(model).acceptsBudget
  if (!acceptsBudget) return { kind: 'adaptive' }
  const tokens = Math.floor(outputTokensMax * thinkingShare)
  if (!isGemini) return { kind: 'budget', tokens }
  const { least, most } = budgetLimitsOf(readModelVersion(model))
  return { kind: 'budget', tokens: Math.min(most, Math.max(least, tokens)) }
}

function takesGeminiBudget(
  names: readonly string[],
  { budgetModels }: AdapterOptions['gemini'],
): boolean {
  if (budgetModels.size > 0) return names.some((name) => budgetModels.has(name))
  return names.every((name) => (readModelVersion(name).version ?? 0) < FIRST_WITH_LEVELS)
}
