import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { Converted, Effort, Thinking } from '../../canonical/canonical-request.ts'
import { ConversionError } from '../../canonical/canonical-request.ts'
import { BUDGET_OF_EFFORT } from '../budget-of-effort.ts'
import { addLoss } from '../collect-losses.ts'
import {
  booleanMember,
  integerMember,
  membersOf,
  reportUnknownMembers,
  textMember,
} from './members-in-either-spelling.ts'
import { type ModelVersion, readModelVersion } from './model-version.ts'

const NAMES = new Set(['includeThoughts', 'thinkingBudget', 'thinkingLevel'])
const LEVELS = new Map<string, Effort>([
  ['MINIMAL', 'minimal'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
])
/** The budget value that lets the model choose the number of tokens. */
const DYNAMIC = -1

/** Reads `generationConfig.thinkingConfig`. */
export function readThinkingConfig(
  value: unknown,
  path: string,
  losses: string[],
): Thinking | null {
  if (value === undefined) return null
  const config = membersOf(value, path)
  reportUnknownMembers(config, NAMES, path, losses)
  const level = textMember(config, 'thinkingLevel', path)
  const budget = integerMember(config, 'thinkingBudget', path)
  const includesThoughts = booleanMember(config, 'includeThoughts', path)
  const thinking = thinkingOf(level, budget, path)
  if (thinking === null) return includesThoughts === true ? { kind: 'adaptive' } : null
  // Other formats can't request thinking without receiving the thoughts.
  if (includesThoughts === false && thinking.kind !== 'off')
    addLoss(losses, `${path}.includeThoughts`)
  return thinking
}

function thinkingOf(level: string | null, budget: number | null, path: string): Thinking | null {
  if (level !== null && level !== 'THINKING_LEVEL_UNSPECIFIED') {
    if (budget !== null) {
      throw new ConversionError(path, `${path} has both a thinkingLevel and a thinkingBudget`)
    }
    const effort = LEVELS.get(level.toUpperCase())
    if (effort !== undefined) return { kind: 'effort', effort }
    throw new ConversionError(`${path}.thinkingLevel`, `${path}.thinkingLevel is unknown`)
  }
  if (budget === null) return null
  if (budget === DYNAMIC) return { kind: 'adaptive' }
  if (budget < 0) {
    throw new ConversionError(`${path}.thinkingBudget`, `${path}.thinkingBudget is negative`)
  }
  return budget === 0 ? { kind: 'off' } : { kind: 'budget', tokens: budget }
}

/**
 * Returns `thinkingConfig` for the model. Models before Gemini 2.5 don't think, and refuse this
 * member. Only Gemini 3 and later accept a level. For all other models, an effort becomes a budget.
 */
export function writeThinkingConfig(
  thinking: Thinking | null,
  model: string,
): Converted<JsonObject | null> {
  if (thinking === null) return { value: null, losses: [] }
  const version = readModelVersion(model)
  if (version.version !== null && version.version < 2.5) {
    return { value: null, losses: thinking.kind === 'off' ? [] : ['thinking'] }
  }
  if (thinking.kind === 'budget') return writeBudget(thinking.tokens, version)
  return version.version !== null && version.version >= 3
    ? writeLevel(thinking, version)
    : writeAsBudget(thinking, version)
}

function writeLevel(
  thinking: Exclude<Thinking, { kind: 'budget' }>,
  version: ModelVersion,
): Converted<JsonObject> {
  if (thinking.kind === 'adaptive') return { value: { includeThoughts: true }, losses: [] }
  // These models always think. The lowest level of Pro models is `LOW`.
  const least = version.isPro ? 'LOW' : 'MINIMAL'
  if (thinking.kind === 'off') {
    return { value: { thinkingLevel: least }, losses: ['thinking (off)'] }
  }
  const { level, isExact } = levelOf(thinking.effort, version)
  return {
    value: { thinkingLevel: level, includeThoughts: true },
    losses: isExact ? [] : [`thinking.effort (${thinking.effort})`],
  }
}

function levelOf(effort: Effort, { version, isPro }: ModelVersion) {
  if (effort === 'minimal' && isPro) return { level: 'LOW', isExact: false }
  // Gemini 3 Pro has only two levels.
  if (effort === 'medium' && isPro && version === 3) return { level: 'HIGH', isExact: false }
  if (effort === 'xhigh' || effort === 'max') return { level: 'HIGH', isExact: false }
  return { level: effort.toUpperCase(), isExact: true }
}

function writeAsBudget(
  thinking: Exclude<Thinking, { kind: 'budget' }>,
  version: ModelVersion,
): Converted<JsonObject> {
  if (thinking.kind === 'adaptive') {
    return { value: { thinkingBudget: DYNAMIC, includeThoughts: true }, losses: [] }
  }
  if (thinking.kind === 'off') {
    return version.isPro
      ? { value: { thinkingBudget: budgetLimitsOf(version).least }, losses: ['thinking (off)'] }
      : { value: { thinkingBudget: 0 }, losses: [] }
  }
  const { least, most } = budgetLimitsOf(version)
  const tokens = Math.min(most, Math.max(least, BUDGET_OF_EFFORT[thinking.effort]))
  return { value: { thinkingBudget: tokens, includeThoughts: true }, losses: [] }
}

function writeBudget(tokens: number, version: ModelVersion): Converted<JsonObject> {
  const { least, most } = budgetLimitsOf(version)
  const budget = Math.min(most, Math.max(least, tokens))
  return {
    value: { thinkingBudget: budget, includeThoughts: true },
    losses: budget === tokens ? [] : ['thinking.tokens'],
  }
}

/** Returns the documented range of budgets. Gemini refuses a budget outside this range. */
export function budgetLimitsOf({ isPro, isLite }: ModelVersion): { least: number; most: number } {
  if (isPro) return { least: 128, most: 32_768 }
  return { least: isLite ? 512 : 1, most: 24_576 }
}
