import { describe, expect, it } from 'vitest'
import { conversionLimitError } from '#relay/conversion/conversion-limits.ts'

const objectOf = (count: number, member: (index: number) => string): Buffer =>
  Buffer.from(`{${Array.from({ length: count }, (_none, index) => member(index)).join(',')}}`)

describe('the number of members of a request that is converted', () => {
  it.each([
    ['no spaces', (index: number) => `"k${index}":1`],
    ['a space before the colon', (index: number) => `"k${index}" :1`],
    ['a line break before the colon', (index: number) => `"k${index}"\n: {}`],
    ['keys that end with a backslash', (index: number) => `"k${index}\\\\":1`],
    ['keys that end with a quote', (index: number) => `"k${index}\\"":1`],
  ])('is limited with %s', (_case, member) => {
    expect(conversionLimitError(objectOf(40_000, member))).toBeNull()
    expect(conversionLimitError(objectOf(40_001, member))).toMatchObject({ code: 'json_too_wide' })
  })

  it('does not count colons of texts', () => {
    const text = JSON.stringify({ content: [':', '":', ' "a" : 1 ', '\\":', 'é":'] })
    const body = Buffer.from(`{"messages":[${Array(20_000).fill(text).join()}]}`)
    expect(conversionLimitError(body)).toBeNull()
    // The bytes of a request may begin anywhere in a larger buffer.
    for (const offset of [1, 2, 3]) {
      const larger = Buffer.concat([Buffer.alloc(offset), body])
      expect(conversionLimitError(larger.subarray(offset))).toBeNull()
    }
  })
})
