import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { argumentsOfInput, inputOfArguments } from '#relay/conversion/custom-tools-as-functions.ts'
import { CustomToolInputDecoder } from '#relay/conversion/decode-custom-tool-input.ts'

/** Returns the deltas for pieces of arguments. The last delta is the rest at the end. */
function decoded(pieces: readonly string[]): string[] {
  const decoder = new CustomToolInputDecoder()
  return [...pieces.map((piece) => decoder.add(piece)), decoder.end()]
}

describe('the input of a custom tool', () => {
  it('is decoded while it arrives', () => {
    const pieces = [' { "inp', 'ut": "a\\', 'nb\\u00', 'e4\\ud83d', '\\ude00c', '" ', '}']
    expect(decoded(pieces)).toEqual(['', 'a', '\nb', 'ä', '😀c', '', '', ''])
  })

  it('is the same for every split of the arguments', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (input, length) => {
        const json = argumentsOfInput(input)
        const pieces = [json.slice(0, length), ...json.slice(length)]
        expect(decoded(pieces).join('')).toBe(input)
        expect(inputOfArguments(json)).toBe(input)
      }),
    )
  })

  it.each([
    ['', ''],
    ['{}', ''],
    ['{"inp', ''],
    ['{"input":', ''],
    ['{"input":"ls -', 'ls -'],
    ['{"input":"ls\\', 'ls'],
    ['{"input":"ls\\u00', 'ls'],
    ['{"input":"ls"', 'ls'],
    ['{"note":1,"input":"ls"}', 'ls'],
    ['{"input":{"a":1}}', '{"a":1}'],
    ['"ls"', 'ls'],
    ['ls -l', 'ls -l'],
    ['{"command":"ls"}', '{"command":"ls"}'],
  ])('is read from the arguments %j', (json, input) => {
    expect(inputOfArguments(json)).toBe(input)
    expect(decoded([...json]).join('')).toBe(input)
  })

  it('waits for at most a few characters', () => {
    const decoder = new CustomToolInputDecoder()
    decoder.add('{"input":"')
    for (let times = 0; times < 100; times += 1) decoder.add('x\\u00e4'.repeat(1_000))
    expect(decoder.waitingCharacters).toBe(0)
  })
})
