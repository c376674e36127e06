import { describe, expect, it } from 'vitest'
import {
  compactJson,
  isJson,
  readableJson,
  readJsonMap,
  withEntry,
  writeJsonMap,
} from '#console/features/settings/json-map.ts'

const TEXT = '{"z":1.10, "4": 0.1000000000000000055511,\n "a\\"b":2e-3, "__proto__":5}'

describe('JSON options', () => {
  it('an edit keeps the order of the keys and every digit of the other numbers', () => {
    const map = readJsonMap(TEXT)
    expect(map).not.toBeNull()
    expect(writeJsonMap(withEntry(map ?? new Map(), 'a"b', '7'))).toBe(
      [
        '{',
        '  "z": 1.10,',
        '  "4": 0.1000000000000000055511,',
        '  "a\\"b": 7,',
        '  "__proto__": 5',
        '}',
      ].join('\n'),
    )
  })

  it('a removed entry leaves, a new one comes last', () => {
    const map = withEntry(readJsonMap('{"a":1,"b":2}') ?? new Map(), 'a', null)
    expect(writeJsonMap(withEntry(map, 'c', '3'))).toBe('{\n  "b": 2,\n  "c": 3\n}')
    expect(writeJsonMap(new Map())).toBe('{}')
  })

  it('only flat maps of one kind of value are read', () => {
    for (const text of ['[1]', '{"a":"1"}', '{"a":{"b":1}}', '{"a":1', 'null', '{"a":true}']) {
      expect(readJsonMap(text), text).toBeNull()
    }
    expect([...(readJsonMap('{"vip":"a: 1, b"}', 'text') ?? [])]).toEqual([['vip', '"a: 1, b"']])
    expect(readJsonMap('')?.size).toBe(0)
  })

  it('blanks inside strings are no blanks between tokens', () => {
    expect(compactJson('{ "a b" : 1,\n "c": "x  y" }')).toBe('{"a b":1,"c":"x  y"}')
    expect(isJson('{a:1}')).toBe(false)
  })
})

it.each([
  ['{}', '{}'],
  ['[ ]', '[]'],
  ['{"a":1.50,"b":{}}', '{\n  "a": 1.50,\n  "b": {}\n}'],
  ['[{"c":"x, {y}: \\" z"},true]', '[\n  {\n    "c": "x, {y}: \\" z"\n  },\n  true\n]'],
  ['{"a":', '{"a":'],
])('%s reads as %j', (text, readable) => {
  expect(readableJson(text)).toBe(readable)
  expect(readableJson(readable)).toBe(readable)
})
