import { describe, expect, it } from 'vitest'
import {
  isObject,
  listOf,
  numericOf,
  objectOf,
  objectOrEmpty,
  objectsOf,
  parsedObject,
  scalarText,
} from '#relay/canonical/json-values.ts'

describe('values of untrusted JSON', () => {
  it('are objects only if they have named members: no list, no null and no text', () => {
    const values = [{ a: 1 }, [], null, 'x', undefined, 1]
    expect(values.map(isObject)).toEqual([true, false, false, false, false, false])
    expect(values.map(objectOf)).toEqual([{ a: 1 }, null, null, null, null, null])
    expect(values.map(objectOrEmpty)).toEqual([{ a: 1 }, {}, {}, {}, {}, {}])
    expect(objectsOf(values)).toEqual([{ a: 1 }])
  })

  it('are numbers only if they are numbers or texts of numbers', () => {
    expect([5, '5', '0.5', ''].map(numericOf)).toEqual([5, 5, 0.5, 0])
    for (const value of [true, null, undefined, [5], {}, { toString: 1 }, 'x']) {
      expect(numericOf(value)).toBeNaN()
    }
  })

  it('are lists only if they are arrays', () => {
    expect([listOf([1]), listOf({ length: 1 }), listOf(null)]).toEqual([[1], [], []])
  })

  it.each(['', '{', '[1]', 'null', '"x"', '1'])('parses no object from %j', (json) => {
    expect(parsedObject(json)).toBeNull()
    expect(parsedObject(Buffer.from(json))).toBeNull()
  })

  it('parses an object from a text and from bytes', () => {
    expect(parsedObject('{"a":"é"}')).toEqual({ a: 'é' })
    expect(parsedObject(Buffer.from('{"a":"é"}'))).toEqual({ a: 'é' })
  })

  it('are texts if they are texts, numbers or booleans', () => {
    expect([5, '5', 'x', true].map(scalarText)).toEqual(['5', '5', 'x', 'true'])
    expect([null, [1], { toString: 1 }].map(scalarText)).toEqual(['', '', ''])
  })
})
