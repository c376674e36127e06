import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chargeFor } from '#domain/pricing/charge.ts'
import type { PerTokenPrice } from '#domain/pricing/price-snapshot.ts'
import type { Quota } from '#domain/shared/quota.ts'
import { estimateTokens } from '#relay/canonical/answer-text-for-token-count.ts'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { readChatRequest } from '#relay/dialects/openai-chat/chat-format.ts'
import { type Delivery, meter } from '#relay/pipeline/billed-usage.ts'
import type { Candidate } from '#relay/pipeline/prepare-request-for-channel.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'

/** This model has prices for images and audio, and the next model has none. */
const MULTIMODAL = perTokenPrice({
  ...{ model: '1.25', completion: '4', cacheRead: '0.1', cacheWrite: '1.25' },
  ...{ image: '2', audio: '8', audioCompletion: '2', imageCompletion: '40' },
})
const TEXT_ONLY = perTokenPrice({ model: '0.3', completion: '5', cacheRead: '0.5' })

const LIMITS = { inputTokens: 2_000, outputTokens: 500 }
const messages = [{ role: 'user', content: 'lorem ipsum '.repeat(40) }]
const request = readChatRequest(Buffer.from(JSON.stringify({ model: 'm', messages })))
if (isRelayError(request)) throw new Error(request.code)
const candidate = { request, channel: { target: null } } as unknown as Candidate
const OWN_INPUT = 120
const counter = {
  count: async ({ text }: { readonly text: string }) => ({
    ...{ input: OWN_INPUT, inputMost: OWN_INPUT },
    output: estimateTokens(text),
  }),
}

/** The tokens of one call by kind. The kinds do not overlap. */
type Tokens = {
  readonly uncached: number
  readonly cached: number
  readonly written: number
  readonly audio: number
  readonly image: number
  readonly text: number
  readonly outputAudio: number
  readonly outputImage: number
}
const few = fc.oneof(fc.constant(0), fc.nat(30), fc.nat(4_000))
const tokens: fc.Arbitrary<Tokens> = fc.record({
  ...{ uncached: few, cached: few, written: few, audio: few, image: few },
  ...{ text: few, outputAudio: few, outputImage: few },
})
const plus = (one: Tokens, other: Tokens): Tokens => ({
  uncached: one.uncached + other.uncached,
  cached: one.cached + other.cached,
  written: one.written + other.written,
  audio: one.audio + other.audio,
  image: one.image + other.image,
  text: one.text + other.text,
  outputAudio: one.outputAudio + other.outputAudio,
  outputImage: one.outputImage + other.outputImage,
})

/**
 * Returns the part of the additional tokens that makes any bill higher. If the gateway's own count
 * is used where it is larger, a part that the report shows to be cheap replaces counted tokens.
 */
const dearPart = ({ isComplete, hasTextAfterUsage }: Delivered, added: Tokens): Tokens =>
  isComplete && !hasTextAfterUsage ? added : { ...added, cached: 0, outputAudio: 0, outputImage: 0 }

type Report = {
  readonly prompt_tokens: unknown
  readonly completion_tokens: unknown
  readonly prompt_tokens_details: Record<string, unknown>
  readonly completion_tokens_details: Record<string, unknown>
}
const reportOf = ({ uncached, cached, written, audio, image, text, ...media }: Tokens) => ({
  prompt_tokens: uncached + cached + written + audio + image,
  completion_tokens: text + media.outputAudio + media.outputImage,
  prompt_tokens_details: {
    ...{ cached_tokens: cached, cache_write_tokens: written },
    ...{ audio_tokens: audio, image_tokens: image },
  },
  completion_tokens_details: {
    ...{ audio_tokens: media.outputAudio, image_tokens: media.outputImage },
  },
})

/** Changes a count to one that can't be true, and that is not below the count. */
const exaggerate = fc.constantFrom<(count: number) => unknown>(
  (count) => count + 0.5,
  () => 1e12,
  () => 1e300,
  (count) => String(count),
)
/** Values that can't be true in place of any count. */
const impossible = fc.oneof(
  fc.constantFrom<unknown>(-1, -1e300, 0.5, 1e12, Number.NaN, '7', 'x', true, [], {}),
  fc.integer({ min: -10_000, max: -1 }),
)
const MEMBERS = ['prompt', 'completion', 'written', 'cached'] as const

/** Returns the report with one exaggerated count. The cache count may have any impossible value. */
function dirtied(
  report: ReturnType<typeof reportOf>,
  member: (typeof MEMBERS)[number],
  change: (count: number) => unknown,
  value: unknown,
): Report {
  const { prompt_tokens: prompt, completion_tokens: completion } = report
  const details = report.prompt_tokens_details
  if (member === 'prompt') return { ...report, prompt_tokens: change(prompt) }
  if (member === 'completion') return { ...report, completion_tokens: change(completion) }
  const changed =
    member === 'written'
      ? { cache_write_tokens: change(details.cache_write_tokens) }
      : { cached_tokens: value }
  return { ...report, prompt_tokens_details: { ...details, ...changed } }
}

const delivered = fc.record({
  imageTokens: fc.constantFrom(0, 1, 1_400),
  text: fc.oneof(
    fc.string(),
    fc.nat(3_000).map((words) => 'word '.repeat(words)),
  ),
  isComplete: fc.boolean(),
  hasTextAfterUsage: fc.boolean(),
})
type Delivered = (typeof delivered extends fc.Arbitrary<infer T> ? T : never) & {
  readonly hasImages?: boolean
}
const price = fc.constantFrom(MULTIMODAL, TEXT_ONLY)

async function billOf(made: Delivered, price: PerTokenPrice, rawUsage: unknown): Promise<Quota> {
  const { text, imageTokens: tokens, hasImages = true, ...course } = made
  const readText = () => ({ text, tokens, imageTokens: hasImages ? tokens : 0 })
  const rest = { answeredModel: null, chargesInput: true, readText }
  const delivery: Delivery = { ...course, ...rest, rawUsage }
  const { usage } = await meter(delivery, candidate, counter, LIMITS, price)
  return chargeFor(price, usage, 1)
}

describe('the bill of a call', () => {
  it('the bill is never lower for a report with more tokens of any kind', () =>
    fc.assert(
      fc.asyncProperty(delivered, price, tokens, tokens, async (made, price, used, added) => {
        const bill = await billOf(made, price, reportOf(used))
        const more = await billOf(made, price, reportOf(plus(used, dearPart(made, added))))
        expect(more).toBeGreaterThanOrEqual(bill)
      }),
      { numRuns: 1_000 },
    ))

  it('the bill is never lower for images in the answer than for as many tokens of text', () => {
    const images = fc.constantFrom('0', '3.9', '4', '40').map((imageCompletion) => ({
      ...MULTIMODAL,
      imageCompletion,
    }))
    const reports = fc.oneof(fc.constant(undefined), tokens.map(reportOf))
    const property = fc.asyncProperty(delivered, images, reports, async (made, price, report) => {
      const bill = await billOf(made, price, report)
      const asText = await billOf({ ...made, hasImages: false }, price, report)
      expect(bill).toBeGreaterThanOrEqual(asText)
    })
    return fc.assert(property, { numRuns: 1_000 })
  })

  it('the bill is never lower if a larger report also has an impossible count', () => {
    const lie = fc.tuple(fc.constantFrom(...MEMBERS), exaggerate, impossible)
    const both = fc.tuple(tokens, tokens)
    const property = fc.asyncProperty(
      ...[delivered, price, both, lie],
      async (made, price, [used, added], [member, change, value]) => {
        const bill = await billOf(made, price, reportOf(used))
        const report = dirtied(reportOf(plus(used, dearPart(made, added))), member, change, value)
        expect(await billOf(made, price, report)).toBeGreaterThanOrEqual(bill)
      },
    )
    return fc.assert(property, { numRuns: 3_000 })
  })

  it('the bill is never lower for a cache larger than the prompt than for one that fills it', () =>
    fc.assert(
      fc.asyncProperty(delivered, price, tokens, fc.nat(9_000_000), async (...made) => {
        const [course, price, used, excess] = made
        const { prompt_tokens: prompt, prompt_tokens_details: details, ...rest } = reportOf(used)
        const bill = (cached_tokens: number) => {
          const prompt_tokens_details = { ...details, cached_tokens }
          return billOf(course, price, { ...rest, prompt_tokens: prompt, prompt_tokens_details })
        }
        const filling = await bill(prompt - used.written)
        expect(await bill(prompt + 1 + excess)).toBeGreaterThanOrEqual(filling)
      }),
      { numRuns: 1_000 },
    ))

  const KINDS = ['cached_tokens', 'cache_write_tokens'] as const
  /** A prompt that the gateway's own count confirms, and a smaller one. */
  const CONFIRMED = { min: OWN_INPUT / 1.5, max: 4_000 }
  const REFUTED = { min: 0, max: OWN_INPUT / 1.5 - 1 }

  it('a cache larger than a prompt that the own count confirms is reduced to the prompt', () => {
    const counts = fc.record({ prompt: fc.integer(CONFIRMED), excess: fc.integer({ min: 1 }) })
    return fc.assert(
      fc.asyncProperty(delivered, price, counts, fc.constantFrom(...KINDS), async (...made) => {
        const [course, price, { prompt, excess }, kind] = made
        const bill = (cache: number) => {
          const rest = { completion_tokens: 7, prompt_tokens_details: { [kind]: cache } }
          return billOf(course, price, { prompt_tokens: prompt, ...rest })
        }
        expect(await bill(prompt + (excess % 20_000) + 1)).toBe(await bill(prompt))
      }),
      { numRuns: 1_000 },
    )
  })

  it('a cache is billed beside a prompt that is too small for the own count', () => {
    const counts = fc.record({ prompt: fc.integer(REFUTED), excess: fc.integer({ min: 1 }) })
    return fc.assert(
      fc.asyncProperty(delivered, price, counts, fc.constantFrom(...KINDS), async (...made) => {
        const [course, price, { prompt, excess }, kind] = made
        const cache = prompt + (excess % 20_000) + 1
        const rest = { completion_tokens: 7, prompt_tokens_details: { [kind]: cache } }
        const lied = await billOf(course, price, { prompt_tokens: prompt, ...rest })
        // Other tokenizers may count up to four times as many tokens.
        const within = Math.min(cache, OWN_INPUT * 4 - prompt)
        const beside = await billOf(course, price, {
          ...{ ...rest, prompt_tokens: prompt + within, prompt_tokens_details: { [kind]: within } },
        })
        expect(lied).toBeGreaterThanOrEqual(beside)
        const most = { ...rest, prompt_tokens: OWN_INPUT * 4, prompt_tokens_details: {} }
        const dearest = ((await billOf(course, price, most)) * 5n) / 4n + 1n
        expect(lied).toBeLessThanOrEqual(dearest)
      }),
      { numRuns: 1_000 },
    )
  })

  it('cache reads and writes beyond the prompt are billed at least as if they filled it', () => {
    const counts = fc.record({ prompt: fc.integer({ min: 2, max: 4_000 }), share: fc.nat(100) })
    return fc.assert(
      fc.asyncProperty(delivered, price, counts, async (made, price, { prompt, share }) => {
        const cached = Math.ceil((prompt * (100 + share)) / 200)
        const bill = (cache_write_tokens: number) => {
          const prompt_tokens_details = { cached_tokens: cached, cache_write_tokens }
          const rest = { completion_tokens: 7, prompt_tokens_details }
          return billOf(made, price, { prompt_tokens: prompt, ...rest })
        }
        expect(await bill(prompt - cached + 1)).toBeGreaterThanOrEqual(await bill(prompt - cached))
      }),
      { numRuns: 1_000 },
    )
  })

  it('the bill is never lower for a larger count of a cache beyond the prompt', () => {
    const cache = fc.tuple(fc.nat(9_000_000), fc.nat(20_000_000))
    const raw = (prompt: number, cached: number) => ({
      ...{ prompt_tokens: prompt, completion_tokens: 7 },
      prompt_tokens_details: { cached_tokens: cached },
    })
    return fc.assert(
      fc.asyncProperty(delivered, price, fc.nat(4_000), cache, async (...made) => {
        const [course, price, prompt, [excess, more]] = made
        const cached = prompt + 1 + excess
        const less = await billOf(course, price, raw(prompt, cached))
        const larger = await billOf(course, price, raw(prompt, cached + more))
        expect(larger).toBeGreaterThanOrEqual(less)
      }),
      { numRuns: 1_000 },
    )
  })

  it('the bill is never lower for an impossible report than without a report', () => {
    const member = fc.constantFrom('prompt_tokens', 'completion_tokens')
    const lies = fc.oneof(
      fc.tuple(tokens, member, impossible).map(([used, name, value]) => ({
        ...reportOf(used),
        [name]: value,
      })),
      fc.tuple(tokens, impossible).map(([used, cached_tokens]) => {
        const report = reportOf(used)
        const prompt_tokens_details = { ...report.prompt_tokens_details, cached_tokens }
        return { ...report, prompt_tokens_details }
      }),
      fc.constantFrom<unknown>({}, 'text', 3, [], { prompt_tokens: 5 }, { completion_tokens: 5 }),
    )
    const property = fc.asyncProperty(delivered, price, lies, async (made, price, lie) => {
      const without = await billOf(made, price, undefined)
      expect(await billOf(made, price, lie)).toBeGreaterThanOrEqual(without)
    })
    return fc.assert(property, { numRuns: 3_000 })
  })
})
