export type AnswerMismatch = 'other-model' | 'higher-cost'

/** The factor by which a provider's cost may exceed the price list's charge for the same usage. */
const COST_FACTOR = 2

/** OpenRouter's suffixes, which select how a model is served and do not change the model. */
const VARIANT = /:(?:free|nitro|floor|online|thinking|beta|extended|exacto)$/
/** Matches model names that let the provider choose the model. */
const ANY_MODEL = /^ep-|(?:^|\/)auto$/
const ALIAS = /[-@](?:latest|preview|exp|stable)$/
/**
 * Matches the version at the end of a model's name: a date, a number of three or more digits, or
 * `v` with a number, such as `2024-08-06`, `05-20`, `0613` and `001`.
 */
const VERSION = /[-@:](?:\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{2}-\d{4}|\d{3,8}|v\d+(?:[-:]\d+)?)$/

/**
 * Reports whether `answered` names the same model as `sent`. Vendor prefixes, letter case, dots and
 * a version that was not requested are ignored. Names with different sizes or variants are
 * different models.
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
 * Compares an answer with its request. `answered` is the value of `model` in the answer. `cost` is
 * the `usage.cost` in US dollars that some providers report. `costDollars` returns the price list's
 * charge for the answer's usage.
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
 * Returns the cost in US dollars from a provider's usage. OpenRouter sends `cost` as a number,
 * Perplexity sends an object with `total_cost`, and DeepInfra sends `estimated_cost`. Numbers in
 * text form are accepted.
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

const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' || typeof value === 'string' ? Number(value) : undefined

const plainName = (name: string): string =>
  (name.toLowerCase().replace(VARIANT, '').split('/').at(-1) ?? '').replaceAll('.', '-')

function withoutVersion(name: string): string {
  const shorter = name.replace(ALIAS, '').replace(VERSION, '')
  return shorter === name ? name : withoutVersion(shorter)
}
