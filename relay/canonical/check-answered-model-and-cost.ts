import { numericOf } from './json-values.ts'

/**
 * How an answer differs from its request: another model answered, or the reported cost is too high.
 */
export type AnswerMismatch = 'other-model' | 'higher-cost'

/**
 * The highest accepted ratio between the cost that a provider reports and the charge of the price
 * list for the same usage.
 */
const COST_FACTOR = 2

/**
 * Matches the suffixes of OpenRouter's model names. Such a suffix selects how a model is served,
 * and does not change the model.
 */
const VARIANT = /:(?:free|nitro|floor|online|thinking|beta|extended|exacto)$/
/**
 * Matches names that let the provider choose the model, and ids that do not show which model is
 * meant.
 */
const ANY_MODEL = /^ep-|(?:^|\/)auto$|^arn:|^gemini-(?:pro|flash|flash-lite)-latest$/
/**
 * Matches Bedrock's ids of Anthropic's models. Such an id may have the geography of an inference
 * profile before the vendor's name, and Bedrock's own version after the model's name.
 */
const BEDROCK_ID = /^(?:[a-z-]+\.)?anthropic\.(.+?)(?:-v\d+(?::\d+)?)?$/
const ALIAS = /[-@](?:latest|preview|exp|stable)$/
/**
 * Matches a version at the end of a model's name, such as `2024-08-06`, `05-20`, `0613`, `001` or
 * `v1`.
 */
const VERSION = /[-@:](?:\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{2}-\d{4}|\d{3,8}|v\d+(?:[-:]\d+)?)$/

/**
 * Reports whether the names in the request and in the answer mean the same model. Letter case,
 * vendor prefixes, OpenRouter's suffixes and Bedrock's additions are ignored. Dots and `@` count as
 * hyphens. A version that only one of the names has is ignored too. Names with different sizes or
 * variants mean different models. If the name in the request lets the provider choose the model,
 * any answered name is accepted.
 */
export function isSameModel(sent: string, answered: string): boolean {
  if (sent === answered) return true
  const requested = plainName(sent)
  const got = plainName(answered)
  if (requested === got || ANY_MODEL.test(sent.toLowerCase())) return true
  const undated = withoutVersion(requested)
  const isUndated = undated === requested.replace(ALIAS, '')
  return undated === withoutVersion(got) && (isUndated || undated === got)
}

/**
 * Compares an answer with its request. `sent` is the model name in the request, and `answered` is
 * the value of `model` in the answer. `cost` is the cost in US dollars that the provider reports,
 * if it reports one. `costDollars` returns the price list's charge for the answer's usage. Returns
 * null if the answer matches, or if it states neither a model nor a cost.
 */
export function findAnswerMismatch(
  { sent, answered }: { readonly sent: string; readonly answered: unknown },
  cost: unknown,
  costDollars: () => number,
): AnswerMismatch | null {
  if (typeof answered === 'string' && answered !== '' && !isSameModel(sent, answered)) {
    return 'other-model'
  }
  if (typeof cost !== 'number' || !(cost > 0)) return null
  return cost > costDollars() * COST_FACTOR ? 'higher-cost' : null
}

/**
 * Returns the cost in US dollars from a provider's usage, or undefined if the usage reports none.
 * OpenRouter sends `cost` as a number, Perplexity sends an object with `total_cost`, and DeepInfra
 * sends `estimated_cost`. Numbers written as strings are accepted.
 */
export function reportedCost(rawUsage: unknown): number | undefined {
  if (typeof rawUsage !== 'object' || rawUsage === null) return undefined
  const { cost, estimated_cost: estimate } = rawUsage as Record<string, unknown>
  const reported = cost ?? estimate
  if (typeof reported === 'object' && reported !== null) {
    return numberIn((reported as Record<string, unknown>).total_cost)
  }
  return numberIn(reported)
}

function numberIn(value: unknown): number | undefined {
  const number = numericOf(value)
  return Number.isFinite(number) ? number : undefined
}

function plainName(name: string): string {
  const bare = name.toLowerCase().replace(VARIANT, '').split('/').at(-1) ?? ''
  return bare.replace(BEDROCK_ID, '$1').replaceAll(/[.@]/g, '-')
}

function withoutVersion(name: string): string {
  const shorter = name.replace(ALIAS, '').replace(VERSION, '')
  return shorter === name ? name : withoutVersion(shorter)
}
