import { readFileSync } from 'node:fs'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { ExcerptCount, tokensOf } from '#relay/token-counts/count-excerpt-tokens.ts'
import { EXCERPT_BYTES_MAX, TextExcerpt } from '#relay/token-counts/text-excerpt.ts'

function excerptOf(text: string, pieceBytes = 10_000, salt = 1): TextExcerpt {
  const bytes = Buffer.from(text)
  const excerpt = new TextExcerpt(salt)
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    excerpt.add(bytes, at, Math.min(at + pieceBytes, bytes.length))
  }
  return excerpt
}

function count(excerpt: TextExcerpt): number {
  const counting = new ExcerptCount(excerpt)
  while (counting.step());
  return counting.tokens
}

const exactly = (text: string) => countTokens(text, { disallowedSpecial: new Set() })
const readme = readFileSync('README.md', 'utf8')
const lock = readFileSync('package-lock.json', 'utf8')
const chinese = readFileSync('console/i18n/zh/settings-page-frame.ts', 'utf8')
const random = Buffer.from(Array.from({ length: 30_000 }, (_, at) => (at * at * 7_919) >>> 3))
const TEXTS = {
  English: readme,
  Chinese: chinese,
  JSON: lock,
  base64: random.toString('base64'),
}

describe('an excerpt of a text', () => {
  it.each(Object.entries(TEXTS))(
    'of up to 60 KB has the token count of the text: %s',
    (_name, all) => {
      const text = all.slice(0, 20_000)
      expect(Math.abs(count(excerptOf(text)) / exactly(text) - 1)).toBeLessThan(0.002)
    },
  )

  it('of a long, mixed text is within 4 % of its count per salt, 1 % on average', () => {
    const parts = Object.values(TEXTS).map((text) => text.slice(0, 60_000))
    const text = parts.join('\n').repeat(8)
    const truth = exactly(text)
    const errors = Array.from({ length: 40 }, (_, salt) => {
      return count(excerptOf(text, 10_000, salt)) / truth - 1
    })
    for (const error of errors) expect(Math.abs(error)).toBeLessThan(0.04)
    const sum = errors.reduce((total, error) => total + error, 0)
    expect(Math.abs(sum / errors.length)).toBeLessThan(0.01)
  })

  it('is the same however the text is cut into pieces', () => {
    const text = lock.repeat(4)
    const [first, ...others] = [100_000, 1_024, 777, 1].map((size) => {
      const excerpt = excerptOf(text, size)
      return { bytes: Buffer.from(excerpt.bytes).toString('base64'), spans: excerpt.spans() }
    })
    for (const other of others) expect(other).toEqual(first)
  })

  it('is bounded, also for a text that arrives byte by byte', () => {
    const excerpt = new TextExcerpt()
    for (let at = 0; at < 3_000_000; at += 1) excerpt.addByte(97)
    expect(excerpt.length).toBe(3_000_000)
    expect(excerpt.bytes.length).toBeLessThanOrEqual(EXCERPT_BYTES_MAX)
  })

  it('cannot be made to look short, because the salt chooses its blocks', () => {
    const block = (at: number) => (at % 2 === 0 ? 'a'.repeat(1_024) : '漂'.repeat(341).concat('a'))
    const text = Array.from({ length: 1_024 }, (_, at) => block(at)).join('')
    for (const salt of [1, 2, 3, 4, 5]) {
      expect(
        Math.abs(count(excerptOf(text, 10_000, salt)) / exactly(block(1)) / 512 - 1.3),
      ).toBeLessThan(0.5)
    }
  })

  it('has no partial characters at the ends of its blocks', () => {
    const excerpt = excerptOf('😀中é'.repeat(60_000))
    for (const { start, end } of excerpt.spans()) {
      expect(Buffer.from(excerpt.bytes.subarray(start, end)).toString()).not.toContain('\ufffd')
    }
  })
})

describe('the tokenizer', () => {
  it.each(['的', ' ', 'a', '-', '\n', '\u0301!', '😀'])(
    'takes linear time for a run of %j',
    (unit) => {
      const before = process.cpuUsage()
      expect(tokensOf(unit.repeat(32_000))).toBeGreaterThan(50)
      // The plain tokenizer takes 7 s for the first of them, and 28 s for twice as much.
      expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000)
    },
  )

  it.each(['的', 'a', '😀'])('counts a long run of %j accurately', (unit) => {
    const text = unit.repeat(1_500)
    expect(Math.abs(tokensOf(text) / exactly(text) - 1)).toBeLessThan(0.01)
  })
})
