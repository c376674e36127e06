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
  it('keep the order of their keys and every digit of other numbers in an edit', () => {
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

  it('lose a removed entry, and get a new entry at the end', () => {
    const map = withEntry(readJsonMap('{"a":1,"b":2}') ?? new Map(), 'a', null)
    expect(writeJsonMap(withEntry(map, 'c', '3'))).toBe('{\n  "b": 2,\n  "c": 3\n}')
    expect(writeJsonMap(new Map())).toBe('{}')
  })

  it('are read only when they are flat maps with one type of value', () => {
    for (const text of ['[1]', '{"a":"1"}', '{"a":{"b":1}}', '{"a":1', 'null', '{"a":true}']) {
      expect(readJsonMap(text), text).toBeNull()
    }
    expect([...(readJsonMap('{"vip":"a: 1, b"}', 'text') ?? [])]).toEqual([['vip', '"a: 1, b"']])
    expect(readJsonMap('')?.size).toBe(0)
  })

  it('keep the spaces inside strings when they are compacted', () => {
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
])('%s is formatted as %j', (text, readable) => {
  expect(readableJson(text)).toBe(readable)
  expect(readableJson(readable)).toBe(readable)
})
