import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chargeFor, isCountable } from '#domain/pricing/charge.ts'
import { inputTokensOf } from '#domain/pricing/usage.ts'
import { readToolUses } from '#relay/canonical/provider-usage-report.ts'
import { readAnthropicUsage } from '#relay/canonical/read-anthropic-usage-for-billing.ts'
import { ANTHROPIC_STREAM } from '#relay/dialects/anthropic-messages/stream-events.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'

const BOUNDS = { inputCeiling: 20_000, outputCeiling: 10_000 }
const read = (raw: unknown, body = '{}') =>
  readAnthropicUsage(raw, { ...BOUNDS, body: Buffer.from(body), isOutputTotalLessPrompt: false })

/** The worked cases of `billing.md` for Claude. */
const CLAUDE = perTokenPrice({
  ...{ model: '1.5', completion: '5', cacheRead: '0.1', cacheWrite: '1.25' },
})
const TRUTH = {
  input_tokens: 100,
  cache_read_input_tokens: 2000,
  cache_creation_input_tokens: 500,
  cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 100 },
  output_tokens: 50,
}
const { cache_creation: _, ...UNSPLIT } = TRUTH
const chargeOf = (raw: unknown, body?: string) => chargeFor(CLAUDE, read(raw, body).usage)

describe('usage in Anthropic’s format', () => {
  it('reaches the bill to the unit, with and without a split of the cache writes', () => {
    expect(chargeOf(TRUTH)).toBe(1875n)
    expect(chargeOf(UNSPLIT)).toBe(1763n)
    expect(read(TRUTH)).toMatchObject({ isTrusted: true, anomaly: null })
    expect(read(UNSPLIT)).toMatchObject({ isTrusted: true, anomaly: null })
  })

  it('without a split counts as the one-hour cache if the request uses it', () => {
    const body = '{"cache_control":{"type":"ephemeral","ttl":"1h"}}'
    expect(read(UNSPLIT, body).usage).toMatchObject({ cacheWrite5m: 0, cacheWrite1h: 500 })
    expect(read(TRUTH, body).usage).toMatchObject({ cacheWrite5m: 400, cacheWrite1h: 100 })
  })

  it.each([
    ['input_tokens', -5, 'negative', 0],
    ['input_tokens', 1e12, 'absurd', 19_500],
    ['input_tokens', 100.5, 'fraction', 101],
    ['input_tokens', '100', 'not-a-number', 100],
    ['input_tokens', null, 'missing', 0],
    ['input_tokens', undefined, 'missing', 0],
  ])(
    'with %s of %s is flagged as %s and reads %d tokens',
    (name, value, anomaly, inputUncached) => {
      // A count above its ceiling takes the place of cached tokens, which are cheaper.
      const expected = {
        isTrusted: false,
        anomaly,
        usage: { cacheWrite1h: 100, cacheWrite5m: 400 },
      }
      const report = read({ ...TRUTH, [name]: value })
      expect(report).toMatchObject(expected)
      expect(report.usage.inputUncached).toBe(inputUncached)
    },
  )

  it.each([
    // The writes to the one-hour cache cost more, so they are kept.
    [500, 400, 300, 200, 300, 'parts-exceed-whole'],
    [500, 0, 700, 0, 500, 'parts-exceed-whole'],
    [0, 400, 300, 0, 0, 'parts-exceed-whole'],
    [5, 100, -95, 5, 0, 'negative'],
    [500, 100, 300, 200, 300, null],
    // Without a valid sum, the split is all that is known.
    [undefined, 400, 300, 400, 300, null],
    [null, 400, 300, 400, 300, null],
    [-5, 400, 300, 400, 300, 'negative'],
  ])('with the sum %s of cache writes is billed for no more: %s and %s', (...row) => {
    const [sum, short, long, cacheWrite5m, cacheWrite1h, anomaly] = row
    const split = { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long }
    const writes = { cache_creation_input_tokens: sum, cache_creation: split }
    const report = read({ ...TRUTH, ...writes })
    expect(report).toMatchObject({ anomaly, usage: { cacheWrite5m, cacheWrite1h } })
  })

  it.each([null, undefined, 'text', 3])('%j counts as missing usage', (raw) => {
    expect(read(raw)).toMatchObject({ isTrusted: false, anomaly: 'missing' })
    expect(chargeOf(raw)).toBe(0n)
  })

  const MEMBERS = Object.keys(TRUTH).filter((name) => name !== 'cache_creation')
  const lies = fc.constantFrom<unknown>(-1, -1e300, 0.5, 1e12, 1e300, Number.NaN, '7', 'x', [], {})

  it('that lies in any count neither credits nor exceeds the ceilings', () => {
    const property = fc.property(fc.constantFrom(...MEMBERS), lies, (name, lie) => {
      const { usage } = read({ ...TRUTH, [name]: lie })
      expect(isCountable(usage)).toBe(true)
      expect(inputTokensOf(usage)).toBeLessThanOrEqual(BOUNDS.inputCeiling)
      expect(usage.output).toBeLessThanOrEqual(BOUNDS.outputCeiling)
      const without = read({ ...TRUTH, [name]: 0 }).usage
      expect(chargeFor(CLAUDE, usage)).toBeGreaterThanOrEqual(chargeFor(CLAUDE, without))
    })
    fc.assert(property, { numRuns: 300 })
  })

  const { input_tokens, output_tokens, ...CACHE } = TRUTH
  const COMPACTION = { type: 'compaction', input_tokens, output_tokens, ...CACHE }
  const MESSAGES = [
    { type: 'message', ...TRUTH },
    { type: 'fallback_message', ...TRUTH },
  ]

  it('is billed with the compaction beside it, and with no message that is a part of it', () => {
    expect(chargeOf({ ...TRUTH, iterations: MESSAGES })).toBe(1875n)
    for (const iterations of [null, [], {}, 'x', [null, 5, {}, { type: 5, ...TRUTH }]]) {
      expect(chargeOf({ ...TRUTH, iterations })).toBe(1875n)
    }
    const report = read({ ...TRUTH, iterations: [COMPACTION, ...MESSAGES] })
    expect(report).toMatchObject({ isTrusted: true, anomaly: null })
    expect(chargeFor(CLAUDE, report.usage)).toBe(3750n)
    const { cache_creation: _lifetimes, ...unsplit } = COMPACTION
    const body = '{"cache_control":{"type":"ephemeral","ttl":"1h"}}'
    const { usage } = read({ ...UNSPLIT, iterations: [unsplit] }, body)
    expect(usage).toMatchObject({ cacheWrite5m: 0, cacheWrite1h: 1000, output: 100 })
  })

  it('that lies in a compaction neither credits nor exceeds the ceilings', () => {
    const property = fc.property(fc.constantFrom(...MEMBERS), lies, (name, lie) => {
      const compactions = fc.sample(fc.integer({ min: 1, max: 30 }), 1)[0] ?? 1
      const iterations = Array(compactions).fill({ ...COMPACTION, [name]: lie })
      const { usage } = read({ ...TRUTH, iterations })
      expect(isCountable(usage)).toBe(true)
      expect(inputTokensOf(usage)).toBeLessThanOrEqual(BOUNDS.inputCeiling)
      expect(usage.output).toBeLessThanOrEqual(BOUNDS.outputCeiling)
      expect(chargeFor(CLAUDE, usage)).toBeGreaterThanOrEqual(1875n)
    })
    fc.assert(property, { numRuns: 300 })
  })

  it('keeps the compaction in a stream, whatever a later usage says', () => {
    const { combineUsage } = ANTHROPIC_STREAM
    const first = combineUsage(undefined, { ...TRUTH, iterations: [COMPACTION] })
    const zero = { type: 'compaction', input_tokens: 0, output_tokens: 0 }
    const later = [
      undefined,
      null,
      'x',
      {},
      [],
      [null],
      [zero],
      [{ type: 'message' }],
      [COMPACTION],
    ]
    for (const iterations of [...later, [COMPACTION, ...MESSAGES]]) {
      expect(chargeOf(combineUsage(first, { output_tokens: 50, iterations }))).toBe(3750n)
    }
    expect(chargeOf(combineUsage(TRUTH, { iterations: [COMPACTION] }))).toBe(3750n)
  })

  it('that comes twice counts once, and a later zero lowers no count', () => {
    const tools = { server_tool_use: { web_search_requests: 2 } }
    const first = ANTHROPIC_STREAM.combineUsage(undefined, { ...TRUTH, ...tools })
    const twice = ANTHROPIC_STREAM.combineUsage(first, { ...TRUTH, ...tools })
    const zero = {
      input_tokens: 0,
      output_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      server_tool_use: { web_search_requests: 0 },
    }
    for (const raw of [first, twice, ANTHROPIC_STREAM.combineUsage(twice, zero)]) {
      expect(chargeOf(raw)).toBe(1875n)
      expect(read(raw).toolUses).toEqual({ web_search: 2 })
    }
  })
})

describe('uses of the provider’s tools', () => {
  it.each([-1, 0.5, 'x'])('a later count of %j does not hide behind an earlier one', (later) => {
    const { combineUsage } = ANTHROPIC_STREAM
    const uses = (web_search_requests: unknown) => ({ server_tool_use: { web_search_requests } })
    const combined = combineUsage({ ...TRUTH, ...uses(0) }, uses(later))
    expect(readToolUses(read(combined).toolUses ?? {}, { web_search: 5 }).anomaly).not.toBeNull()
  })

  it.each([
    [{ web_search: 2 }, { web_search: 2 }, null],
    [{ web_search: 0 }, {}, null],
    [{ web_search: undefined }, {}, null],
    [{ web_search: -2 }, {}, 'negative'],
    [{ web_search: 99 }, { web_search: 5 }, 'absurd'],
    [{ web_search: 1.5 }, { web_search: 2 }, 'fraction'],
    [{ web_search: '3' }, { web_search: 3 }, 'not-a-number'],
    [{ web_search: 1, file_search: 3 }, { web_search: 1 }, 'absurd'],
  ])('%j are read as %j with the anomaly %s', (reported, uses, anomaly) => {
    expect(readToolUses(reported, { web_search: 5 })).toEqual({ uses, anomaly })
  })
})
