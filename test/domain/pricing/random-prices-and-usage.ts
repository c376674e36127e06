import fc from 'fast-check'
import { decimalOf, decimalText } from '#domain/pricing/decimal.ts'
import type { ContextTier, PerCallPrice, PerTokenPrice } from '#domain/pricing/price-snapshot.ts'
import {
  imageUsage,
  NO_USAGE,
  type ToolCounts,
  toolUsage,
  type Usage,
} from '#domain/pricing/usage.ts'
import { ratiosOf } from '#test/support/per-token-price.ts'

/** Ratios in the form that a price snapshot stores, with edge cases. */
export const ratio: fc.Arbitrary<string> = fc
  .oneof(
    fc.constantFrom('0', '1', '0.075', '37.5', '1.6', '999999999999', '0.000000000000000001'),
    fc.tuple(fc.nat(9_999), fc.nat(999)).map(([whole, part]) => `${whole}.${part}`),
  )
  .map((text) => decimalText(decimalOf(text)))

const notBelowOne = fc.tuple(fc.nat(3), fc.nat(99)).map(([a, b]) => (100 + a * 100 + b) / 100)

/** Up to three tiers with rising limits and ratios that do not fall. */
const tiers: fc.Arbitrary<readonly ContextTier[]> = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 2_000_000 }), notBelowOne, notBelowOne), {
    minLength: 1,
    maxLength: 3,
  })
  .map((made) => {
    const columns = [0, 1, 2].map((at) =>
      made.map((one) => one[at] as number).sort((left, right) => left - right),
    )
    const [above = [], input = [], output = []] = columns
    return above
      .map((limit, at) => ({ above: limit, input: `${input[at]}`, output: `${output[at]}` }))
      .filter((tier, at) => tier.above !== above[at - 1])
  })

export const toolCounts: fc.Arbitrary<ToolCounts> = fc.record(
  { web_search: fc.nat(20), code_interpreter: fc.nat(3), image_generation: fc.nat(9) },
  { requiredKeys: [] },
)

const tools = fc.record(
  { web_search: ratio, code_interpreter: ratio, image_generation: ratio },
  { requiredKeys: [] },
)

const conditions = fc.record(
  {
    ...{ fast: ratio, ultrafast: ratio, flex: ratio },
    ...{ us_inference: notBelowOne.map(String), audio: notBelowOne.map(String) },
  },
  { requiredKeys: [] },
)

export const perToken: fc.Arbitrary<PerTokenPrice> = fc.record(
  {
    ...{ mode: fc.constant('tokens'), list: fc.nat() },
    ...{ ...ratiosOf(ratio), imageCompletion: ratio, tiers, tools, conditions, batch: ratio },
  },
  { requiredKeys: ['mode', 'list', ...(Object.keys(ratiosOf(0)) as 'model'[])] },
) as fc.Arbitrary<PerTokenPrice>

export const perCall: fc.Arbitrary<PerCallPrice> = fc.record(
  {
    ...{ mode: fc.constant('call'), list: fc.nat(), price: ratio, group: ratio },
    ...{ tools, conditions, batch: ratio },
  },
  { requiredKeys: ['mode', 'list', 'price', 'group'] },
)

export const calls = fc.integer({ min: 1, max: 128 })

/** Consistent usage: audio, image and reasoning tokens are part of the output. */
export const usageUpTo = (inputTokens: number, outputTokens: number): fc.Arbitrary<Usage> => {
  const share = fc.integer({ min: 0, max: inputTokens })
  const inputs = fc.array(share, { minLength: 5, maxLength: 5 })
  const output = fc.integer({ min: 0, max: outputTokens })
  const shares = fc.tuple(fc.nat(100), fc.nat(100), fc.nat(100))
  return fc.tuple(inputs, output, shares).map(([cuts, total, [heard, seen, thought]]) => {
    const outputAudio = Math.floor((total * heard) / 100)
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = cuts.sort((left, right) => left - right)
    return {
      ...NO_USAGE,
      inputUncached: a,
      cacheRead: b - a,
      cacheWrite5m: c - b,
      cacheWrite1h: d - c,
      inputImage: e - d,
      inputAudio: inputTokens - e,
      output: total,
      outputAudio,
      ...imageUsage(Math.floor(((total - outputAudio) * seen) / 100)),
      reasoning: Math.floor((total * thought) / 100),
    }
  })
}

export const usage: fc.Arbitrary<Usage> = fc
  .tuple(fc.constantFrom(0, 1, 7, 1_000, 2_000_000), fc.constantFrom(0, 1, 3, 100_000))
  .chain(([inputTokens, outputTokens]) =>
    fc
      .tuple(usageUpTo(inputTokens, outputTokens), fc.constantFrom(null, 1), toolCounts)
      .map(([counted, hasTools, uses]) =>
        hasTools === null ? counted : { ...counted, ...toolUsage(uses, uses) },
      ),
  )
