import type {
  CanonicalRequest,
  Effort,
  Sampling,
  Thinking,
} from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import type { ModelRules } from './members-accepted-by-model.ts'
import type { Block } from './write-tool-input.ts'

/**
 * The smallest thinking budget in tokens that Anthropic accepts. The budget must also be below the
 * output limit.
 */
const BUDGET_MIN = 1024

/**
 * The share of the output limit that becomes the thinking budget for each effort. It is used for
 * models that accept only budgets.
 */
const SHARES: Readonly<Record<Effort, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.95,
}

/**
 * The members `thinking` and `output_config.effort` of a request. Null for a member that is not
 * sent.
 */
export type WrittenThinking = { readonly thinking: Block | null; readonly effort: Effort | null }

const NOTHING: WrittenThinking = { thinking: null, effort: null }

type ThinkingWriting = {
  readonly rules: ModelRules
  readonly outputTokensMax: number
  /**
   * True if the conversation ends with results of tool calls, but the answer with these calls does
   * not begin with thinking. Anthropic then refuses a thinking budget.
   */
  readonly lacksThinkingBeforeCalls: boolean
  readonly losses: string[]
}

/**
 * Writes how much the model may think, in the form that the model accepts. Reports as lost what
 * this form can't express.
 */
export function writeThinking(
  { thinking, toolChoice }: Pick<CanonicalRequest, 'thinking' | 'toolChoice'>,
  writing: ThinkingWriting,
): WrittenThinking {
  if (thinking === null) return NOTHING
  const { rules, losses } = writing
  const canThink = rules.acceptsBudget || rules.acceptsAdaptive
  if (isOff(thinking)) {
    if (canThink && !rules.acceptsDisabledThinking) addLoss(losses, 'thinking')
    const isDisabled = canThink && rules.acceptsDisabledThinking
    return isDisabled ? { ...NOTHING, thinking: { type: 'disabled' } } : NOTHING
  }
  // A model can't think if the request forces it to call a tool. The thinking is dropped, because
  // callers rely on the tool call.
  const isForced = toolChoice?.kind === 'required' || toolChoice?.kind === 'tool'
  if (!canThink || isForced) {
    addLoss(losses, 'thinking')
    return NOTHING
  }
  const isBudget = thinking.kind === 'budget' ? rules.acceptsBudget : !rules.acceptsAdaptive
  return isBudget ? writeBudget(thinking, writing) : writeAdaptive(thinking, writing)
}

const isOff = (thinking: Thinking): boolean =>
  thinking.kind === 'off' || (thinking.kind === 'budget' && thinking.tokens <= 0)

function writeBudget(thinking: Thinking, writing: ThinkingWriting): WrittenThinking {
  const { outputTokensMax, lacksThinkingBeforeCalls, losses } = writing
  if (outputTokensMax <= BUDGET_MIN || lacksThinkingBeforeCalls) {
    addLoss(losses, 'thinking')
    return NOTHING
  }
  const share = thinking.kind === 'effort' ? SHARES[thinking.effort] : SHARES.medium
  const requestedTokens =
    thinking.kind === 'budget' ? thinking.tokens : Math.floor(outputTokensMax * share)
  const most = Math.max(BUDGET_MIN, Math.floor(outputTokensMax * SHARES.max))
  const isWithin = requestedTokens < outputTokensMax
  const tokens = Math.max(BUDGET_MIN, isWithin ? requestedTokens : most)
  if (thinking.kind === 'budget' && tokens !== requestedTokens) addLoss(losses, 'thinking.tokens')
  return { ...NOTHING, thinking: { type: 'enabled', budget_tokens: tokens } }
}

function writeAdaptive(thinking: Thinking, { rules, losses }: ThinkingWriting): WrittenThinking {
  const adaptive = { type: 'adaptive' }
  if (thinking.kind === 'budget') {
    addLoss(losses, 'thinking.tokens')
    return { thinking: adaptive, effort: effortFor(thinking.tokens) }
  }
  if (thinking.kind !== 'effort') return { thinking: adaptive, effort: null }
  if (rules.efforts.has(thinking.effort)) return { thinking: adaptive, effort: thinking.effort }
  addLoss(losses, 'thinking.effort')
  return { thinking: adaptive, effort: thinking.effort === 'minimal' ? 'low' : 'high' }
}

function effortFor(tokens: number): Effort {
  if (tokens < 4096) return 'low'
  return tokens < 16_384 ? 'medium' : 'high'
}

/**
 * Writes the sampling parameters that the model accepts. Recent Claude models accept none. While an
 * older Claude model thinks, it accepts only a `top_p` of 0.95 or more. Temperatures are limited to
 * the range from 0 to 1. Changed and omitted values are reported as lost, except a temperature or
 * `top_p` of 1.
 */
export function writeSampling(
  { temperature, topP, topK }: Sampling,
  { rules, isThinking }: { readonly rules: ModelRules; readonly isThinking: boolean },
  losses: string[],
): Block {
  const isFixed = !rules.acceptsSampling || (isThinking && rules.refusesSamplingWhileThinking)
  const members: Block = {}
  if (temperature !== null) {
    const written = isFixed ? 1 : Math.min(Math.max(temperature, 0), 1)
    if (written !== temperature) addLoss(losses, 'sampling.temperature')
    if (!isFixed) members.temperature = written
  }
  if (topP !== null) {
    const isInRange = !isFixed || (rules.acceptsSampling && topP >= 0.95)
    const isAlone = rules.acceptsTemperatureWithTopP || members.temperature === undefined
    if (isInRange && isAlone) members.top_p = topP
    else if (topP !== 1) addLoss(losses, 'sampling.topP')
  }
  if (topK !== null) {
    if (isFixed) addLoss(losses, 'sampling.topK')
    else members.top_k = topK
  }
  return members
}
