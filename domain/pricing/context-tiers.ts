import { type ExactJson, isNumber, isObject, parseJsonText } from '../shared/lossless-json.ts'
import { decimalOf, decimalText, isAbove, ONE } from './decimal.ts'
import type { ContextTier } from './price-snapshot.ts'
import { jsonDecimal } from './read-ratios.ts'

/** The context tiers of models, by name. A model without tiers may have an empty list. */
export type ContextTiers = ReadonlyMap<string, readonly ContextTier[]>

export const CONTEXT_TIERS_KEY = 'ContextTierRatio'

const MEMBERS = ['above_input_tokens', 'input_ratio', 'output_ratio']
const TIERS_MAX = 16

/**
 * Reads the tiers of one model, such as `[{"above_input_tokens": 200000, "input_ratio": 2,
 * "output_ratio": 1.5}]`. Returns null if the tiers are invalid. Each tier must begin at more
 * tokens than the previous tier. The ratios of a tier must be at least 1 and must not be lower than
 * in the previous tier. Without these rules, a longer input could cost less than a shorter input,
 * and a hold for the maximum input would be too low.
 */
export function readTiers(value: ExactJson): readonly ContextTier[] | null {
  if (!Array.isArray(value) || value.length > TIERS_MAX) return null
  const tiers: ContextTier[] = []
  for (const element of value) {
    const tier = readTier(element)
    const before = tiers.at(-1)
    if (tier === null || (before !== undefined && !canFollow(before, tier))) return null
    tiers.push(tier)
  }
  return tiers
}

function readTier(value: ExactJson): ContextTier | null {
  if (!isObject(value) || ![...value.keys()].every((key) => MEMBERS.includes(key))) return null
  const above = value.get('above_input_tokens') ?? null
  if (!isNumber(above) || !/^[1-9]\d{0,8}$/.test(above.numberText)) return null
  const input = ratioOf(value.get('input_ratio'))
  const output = ratioOf(value.get('output_ratio'))
  if (input === null || output === null) return null
  return { above: Number(above.numberText), input, output }
}

/**
 * Returns a ratio of a tier. An omitted ratio is 1. Returns null if `value` is not a decimal of at
 * least 1.
 */
function ratioOf(value: ExactJson = { numberText: '1' }): string | null {
  const ratio = isNumber(value) ? jsonDecimal(value) : null
  return ratio === null || isAbove(ONE, ratio) ? null : decimalText(ratio)
}

const canFollow = (before: ContextTier, { above, input, output }: ContextTier): boolean =>
  above > before.above &&
  !isAbove(decimalOf(before.input), decimalOf(input)) &&
  !isAbove(decimalOf(before.output), decimalOf(output))

/** Returns the tiers in the text of the option, without models whose tiers are invalid. */
export function readContextTiers(text: string): ContextTiers {
  const parsed = parseJsonText(text)
  if ('error' in parsed || !isObject(parsed.value)) return new Map()
  return new Map(
    [...parsed.value].flatMap(([model, value]) => {
      const tiers = readTiers(value)
      return tiers === null ? [] : [[model, tiers] as const]
    }),
  )
}

/** Returns the tiers as the JSON text of the option. */
export function contextTiersText(tiers: ContextTiers): string {
  const lines = [...tiers].map(([model, ofModel]) => {
    const elements = ofModel.map(
      ({ above, input, output }) =>
        `{"above_input_tokens": ${above}, "input_ratio": ${input}, "output_ratio": ${output}}`,
    )
    return `  ${JSON.stringify(model)}: [${elements.join(', ')}]`
  })
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n}`
}
