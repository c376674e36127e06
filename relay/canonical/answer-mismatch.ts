/** What an answer says that differs from what was asked for, or from the price that is billed. */
export type AnswerMismatch = 'other-model' | 'higher-cost'

/** A cost is flagged above so many times what the price list makes of the same usage. */
const COST_FACTOR = 2

/** OpenRouter's ways of serving one model. */
const VARIANT = /:(?:free|nitro|floor|online|thinking|beta|extended|exacto)$/
/** Names that stand for another model, or for whichever the provider chooses. */
const ANY_MODEL = /^ep-|(?:^|\/)auto$/
const ALIAS = /[-@](?:latest|preview|exp|stable)$/
/** A date, or a number of three digits and more: `2024-08-06`, `05-20`, `0613`, `001`. */
const VERSION = /[-@:](?:\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{2}-\d{4}|\d{3,8}|v\d+(?:[-:]\d+)?)$/

/**
 * Whether an answer's `model` is the one that was sent. Vendors' prefixes, letter case, dots, and a
 * version where none was asked for make no difference; a name that adds a size or a kind does.
 */
export function isSameModel(sent: string, answered: string): boolean {
  if (sent === answered) return true
  const wanted = plainName(sent)
  const got = plainName(answered)
  if (wanted === got || ANY_MODEL.test(sent.toLowerCase())) return true
  const undated = withoutVersion(wanted)
  const isUndated = undated === wanted.replace(ALIAS, '')
  return undated === withoutVersion(got) && (isUndated || undated === got)
}

/**
 * `answered`: the answer's `model`, as sent. `cost`: the `usage.cost` of providers that tell it, in
 * US dollars. `costDollars`: what the price list makes of the same usage, asked for only then.
 */
export function mismatchOf(
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

const plainName = (name: string): string =>
  (name.toLowerCase().replace(VARIANT, '').split('/').at(-1) ?? '').replaceAll('.', '-')

function withoutVersion(name: string): string {
  const shorter = name.replace(ALIAS, '').replace(VERSION, '')
  return shorter === name ? name : withoutVersion(shorter)
}
