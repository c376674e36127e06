import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'
import {
  type CanonicalRequest,
  ConversionError,
  type Thinking,
} from '../../canonical/canonical-request.ts'
import { BUDGET_OF_EFFORT } from '../budget-of-effort.ts'
import { chooseEffort, EFFORT_NONE, EFFORTS, effortsOf } from '../choose-effort-for-openai-model.ts'
import { addLoss, addUnreadMembers } from '../collect-losses.ts'
import { readThinkingConfig } from '../gemini/thinking-config.ts'
import {
  optionalBoolean,
  optionalInteger,
  optionalObject,
  optionalText,
} from '../read-json-values-strictly.ts'
import type { ChatExtensions, ThinkingControl } from './chat-extensions-of-provider.ts'

/** The members of a request that control how much a model thinks. */
export const THINKING_MEMBERS = [
  'reasoning',
  'reasoning_effort',
  'thinking',
  'enable_thinking',
  'thinking_budget',
  'extra_body',
] as const

/**
 * The member in which Google's endpoint in OpenAI's format takes Gemini's own control of thinking
 * (ai.google.dev/gemini-api/docs/openai).
 */
const GOOGLE_CONFIG = 'extra_body.google.thinking_config'

type Control = { readonly member: string; readonly thinking: Thinking | null }

/**
 * Reads how much the model may think. If several members state this, a member that turns thinking
 * off takes precedence. If no member turns thinking off, the first member in `controls` takes
 * precedence. Budgets and efforts in the other members are reported as lost.
 */
export function readThinking(body: JsonObject, losses: string[]): Thinking | null {
  const controls: readonly Control[] = [
    { member: 'reasoning', thinking: readReasoning(body.reasoning, losses) },
    { member: 'reasoning_effort', thinking: readEffort(body.reasoning_effort, 'reasoning_effort') },
    { member: 'thinking', thinking: readThinkingObject(body.thinking, losses) },
    { member: 'enable_thinking', thinking: readEnableThinking(body) },
    { member: GOOGLE_CONFIG, thinking: readGoogleConfig(body.extra_body, losses) },
  ]
  const stated = controls.filter(({ thinking }) => thinking !== null)
  const effective = stated.find(({ thinking }) => thinking?.kind === 'off') ?? stated[0]
  for (const { member, thinking } of stated) {
    const isLost = thinking?.kind !== 'adaptive' && thinking?.kind !== 'off'
    if (member !== effective?.member && isLost) addLoss(losses, member)
  }
  return effective?.thinking ?? null
}

function readEffort(value: unknown, path: string): Thinking | null {
  const effort = optionalText(value, path)
  if (effort === null) return null
  if (effort === EFFORT_NONE) return { kind: 'off' }
  const knownEffort = EFFORTS.find((each) => each === effort)
  if (knownEffort !== undefined) return { kind: 'effort', effort: knownEffort }
  throw new ConversionError(path, 'The reasoning effort is unknown.')
}

/**
 * Returns the canonical form of a thinking budget. A negative budget lets the model decide how much
 * it thinks.
 */
function budgetOf(tokens: number): Thinking {
  if (tokens < 0) return { kind: 'adaptive' }
  return tokens === 0 ? { kind: 'off' } : { kind: 'budget', tokens }
}

function readReasoning(value: unknown, losses: string[]): Thinking | null {
  const reasoning = optionalObject(value, 'reasoning')
  if (reasoning === null) return null
  const members = new Set(['effort', 'max_tokens', 'enabled'])
  addUnreadMembers(reasoning, members, 'reasoning', losses)
  const isEnabled = optionalBoolean(reasoning.enabled, 'reasoning.enabled')
  if (isEnabled === false) return { kind: 'off' }
  const effort = readEffort(reasoning.effort, 'reasoning.effort')
  const tokens = optionalInteger(reasoning.max_tokens, 'reasoning.max_tokens')
  if (tokens !== null) {
    if (effort !== null) addLoss(losses, 'reasoning.effort')
    return budgetOf(tokens)
  }
  return effort ?? (isEnabled === null ? null : { kind: 'adaptive' })
}

function readThinkingObject(value: unknown, losses: string[]): Thinking | null {
  const thinking = optionalObject(value, 'thinking')
  if (thinking === null) return null
  addUnreadMembers(thinking, new Set(['type', 'budget_tokens']), 'thinking', losses)
  const type = optionalText(thinking.type, 'thinking.type')
  if (type === 'disabled') return { kind: 'off' }
  const tokens = optionalInteger(thinking.budget_tokens, 'thinking.budget_tokens')
  return tokens === null ? { kind: 'adaptive' } : budgetOf(tokens)
}

function readEnableThinking(body: JsonObject): Thinking | null {
  const isEnabled = optionalBoolean(body.enable_thinking, 'enable_thinking')
  if (isEnabled === false) return { kind: 'off' }
  const tokens = optionalInteger(body.thinking_budget, 'thinking_budget')
  if (tokens !== null) return budgetOf(tokens)
  return isEnabled === null ? null : { kind: 'adaptive' }
}

function readGoogleConfig(value: unknown, losses: string[]): Thinking | null {
  // Any other value has no meaning for a provider of another format.
  if (!isObject(value)) {
    if (value !== undefined && value !== null) addLoss(losses, 'extra_body')
    return null
  }
  const { google, ...others } = value
  for (const name of Object.keys(others)) addLoss(losses, `extra_body.${name}`)
  const members = optionalObject(google, 'extra_body.google')
  if (members === null) return null
  const { thinking_config: config, thinkingConfig = config, ...rest } = members
  for (const name of Object.keys(rest)) addLoss(losses, `extra_body.google.${name}`)
  return readThinkingConfig(thinkingConfig ?? undefined, GOOGLE_CONFIG, losses)
}

/**
 * Writes the member that controls thinking. What this member can't express is reported as lost.
 * `acceptsSampling` tells whether the model accepts a temperature and log probabilities.
 */
export function writeThinking(
  { thinking, model }: Pick<CanonicalRequest, 'thinking' | 'model'>,
  {
    thinkingControl: control,
    hasOpenAiModels,
    openAiModel = model,
  }: Pick<ChatExtensions, 'thinkingControl' | 'hasOpenAiModels' | 'openAiModel'>,
  losses: string[],
): { readonly members: JsonObject; readonly acceptsSampling: boolean } {
  if (control === 'reasoning_effort') {
    const accepted = hasOpenAiModels ? effortsOf(openAiModel) : null
    const { effort, acceptsSampling } = chooseEffort(thinking, accepted, losses)
    return { members: effort === null ? {} : { reasoning_effort: effort }, acceptsSampling }
  }
  return { members: writeControl(thinking, control, losses), acceptsSampling: true }
}

function writeControl(
  thinking: Thinking | null,
  control: Exclude<ThinkingControl, 'reasoning_effort'> | null,
  losses: string[],
): JsonObject {
  // These models refuse a request for an answer that is not streamed, unless thinking is turned
  // off.
  if (control === 'enable_thinking: false') {
    if (thinking !== null && thinking.kind !== 'off') addLoss(losses, 'thinking')
    return { enable_thinking: false }
  }
  if (thinking === null) return {}
  if (control === null) addLoss(losses, 'thinking')
  if (control === 'reasoning') return { reasoning: reasoningOf(thinking) }
  if (control === 'thinking') {
    if (thinking.kind === 'budget') addLoss(losses, 'thinking.tokens')
    if (thinking.kind === 'effort') addLoss(losses, 'thinking.effort')
    return { thinking: { type: thinking.kind === 'off' ? 'disabled' : 'enabled' } }
  }
  return control === 'enable_thinking' ? writeEnableThinking(thinking, losses) : {}
}

function reasoningOf(thinking: Thinking): JsonObject {
  if (thinking.kind === 'off') return { enabled: false }
  if (thinking.kind === 'adaptive') return { enabled: true }
  return thinking.kind === 'budget' ? { max_tokens: thinking.tokens } : { effort: thinking.effort }
}

/**
 * The smallest and the largest budget that all models with `thinking_budget` accept at all
 * providers.
 */
const BUDGET_MIN = 128
const BUDGET_MAX = 32_768

/**
 * Writes `enable_thinking`, and a budget if the model may think. `qwen3.5` refuses to think without
 * a budget (github.com/QwenLM/Qwen-Agent/issues/941).
 */
function writeEnableThinking(thinking: Thinking, losses: string[]): JsonObject {
  if (thinking.kind === 'off') return { enable_thinking: false }
  if (thinking.kind === 'adaptive') return { enable_thinking: true, thinking_budget: BUDGET_MAX }
  if (thinking.kind === 'effort') {
    return { enable_thinking: true, thinking_budget: BUDGET_OF_EFFORT[thinking.effort] }
  }
  const budget = Math.min(BUDGET_MAX, Math.max(BUDGET_MIN, thinking.tokens))
  if (budget !== thinking.tokens) addLoss(losses, 'thinking.tokens')
  return { enable_thinking: true, thinking_budget: budget }
}
