import { describe, expect, it } from 'vitest'
import {
  isObject,
  listOf,
  objectOf,
  objectOrEmpty,
  objectsOf,
  parsedObject,
  scalarNumber,
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

  it.each([
    ['an object without `toString`', { toString: 1, valueOf: 1 }],
    ['a list of such objects', [{ toString: 1 }]],
    ['a deep list', JSON.parse(`${'['.repeat(20_000)}1${']'.repeat(20_000)}`)],
    ['an object', {}],
    ['null', null],
    ['undefined', undefined],
  ])('%s is no text and no number, and does not throw', (_name, value) => {
    expect([scalarText(value), scalarNumber(value)]).toEqual(['', Number.NaN])
  })

  it('numbers and texts of digits are texts and numbers', () => {
    expect([5, '5', 'x', true].map(scalarText)).toEqual(['5', '5', 'x', 'true'])
    expect([5, '5', 'x', true].map(scalarNumber)).toEqual([5, 5, Number.NaN, Number.NaN])
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
})
