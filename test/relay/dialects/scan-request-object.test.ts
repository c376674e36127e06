import { describe, expect, it } from 'vitest'
import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { nestedMemberRules } from '#relay/dialects/check-nested-json-members.ts'
import {
  DEPTH_MAX,
  KEY_BYTES_MAX,
  KEYS_MAX,
  scanObject,
} from '#relay/dialects/scan-request-object.ts'
import { budget } from '#test/support/time-limit.ts'

const scan = (text: string | Buffer) => scanObject(Buffer.from(text))
const isSound = (text: string): boolean => Array.isArray(scan(text))

function isParsed(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const TEXTS = [
  '{}',
  ' { "a" : 1 } ',
  '{"a":-0,"b":1e5,"c":1.5E-3,"d":[],"e":{},"f":[1,"x",null,true,false,{"g":[[]]}]}',
  '{"a":"\\u00e9\\n\\"\\\\","b":"\\ud83c\\udf89","c":"é🎉"}',
  '{"a":01}',
  '{"a":1.}',
  '{"a":.5}',
  '{"a":+1}',
  '{"a":1e}',
  '{"a":NaN}',
  '{"a":Infinity}',
  '{"a":undefined}',
  '{"a":tru}',
  '{"a":"\t"}',
  '{"a":"\\x"}',
  '{"a":"\\u12g4"}',
  '{"a":1,}',
  '{,}',
  '{"a" 1}',
  '{"a":1 "b":2}',
  '{"a":[1,]}',
  '{"a":[1 2]}',
  '{"a":1',
  '{"a":"x',
  '{"a":1}}',
  '{"a":1} x',
  "{'a':1}",
  '{a:1}',
  '',
  ' ',
  '{',
]

describe('scan of a request object', () => {
  it.each(TEXTS)('%j is accepted exactly when JSON.parse accepts it', (text) => {
    expect(isSound(text)).toBe(isParsed(text))
  })

  it.each([0, 1, 2, 3])('reads a text alike at offset %d of its buffer', (offset) => {
    const marks = [
      '"',
      '\\',
      '\t',
      '\n',
      '\u0000',
      '\u001f',
      ' ',
      '!',
      '#',
      '[',
      ']',
      '\u007f',
      'é',
      '🎉',
    ]
    for (const mark of marks) {
      for (let before = 0; before < 12; before += 1) {
        for (const after of [0, 1, 2, 3, 9]) {
          const text = `{"a":"${'x'.repeat(before)}${mark}${'y'.repeat(after)}"}`
          const buffer = Buffer.alloc(offset + Buffer.byteLength(text) + 3, '"')
          buffer.write(text, offset)
          const bytes = buffer.subarray(offset, offset + Buffer.byteLength(text))
          const members = scanObject(bytes)
          expect(Array.isArray(members), JSON.stringify(text)).toBe(isParsed(text))
          if (!Array.isArray(members)) continue
          expect(members).toMatchObject([{ valueStart: 5, valueEnd: bytes.length - 1 }])
        }
      }
    }
  })

  it('returns the positions of the members', () => {
    const text = '{ "model" : "m", "list":[{},{"a":1}], "n":[1,{}], "nested":{"model":"x"} }'
    const members = scan(text)
    if (!Array.isArray(members)) throw new Error('not scanned')
    for (const { key, valueStart, valueEnd } of members) {
      expect(JSON.parse(text.slice(valueStart, valueEnd))).toEqual(JSON.parse(text)[key])
    }
    expect(members.map(({ length, isAllObjects }) => [length, isAllObjects]).slice(1, 3)).toEqual([
      [2, true],
      [2, false],
    ])
  })
})

describe('valid JSON that the scan refuses', () => {
  it.each([
    ['{"a":1,"a":2}', { error: 'duplicate', key: 'a' }],
    ['{"model":1,"mod\\u0065l":2}', { error: 'duplicate', key: 'model' }],
    ['[]', { error: 'not-an-object' }],
    ['"x"', { error: 'not-an-object' }],
    ['{"a":"\\u0000"}', { error: 'bad-text', at: 6 }],
    ['{"a":"\\ud800"}', { error: 'bad-text', at: 6 }],
    ['{"a":"x\\ud800\\u0041"}', { error: 'bad-text', at: 7 }],
    ['{"a":"\\udc00"}', { error: 'bad-text', at: 6 }],
  ])('includes %s', (text, error) => {
    expect(scan(text)).toEqual(error)
  })

  it('includes bytes that are not UTF-8', () => {
    expect(scan(Buffer.from([123, 34, 97, 34, 58, 34, 0xff, 34, 125]))).toEqual({
      error: 'not-utf8',
    })
  })

  it('includes one nested key more than the maximum, in one object or in many', () => {
    const one = (count: number) => `{"a":{${'"b":1,'.repeat(count - 1)}"b":1}}`
    const many = (count: number) => `{"a":[${'{"b":1},'.repeat(count - 1)}{"b":1}]}`
    for (const text of [one, many]) {
      expect(isSound(text(KEYS_MAX))).toBe(true)
      expect(scan(text(KEYS_MAX + 1))).toMatchObject({ error: 'too-many-keys' })
    }
  })

  it('includes a key that is longer than the maximum, at any depth', () => {
    const texts = [(key: string) => `{"${key}":1}`, (key: string) => `{"a":[{"b":{"${key}":1}}]}`]
    for (const text of texts) {
      expect(isSound(text('x'.repeat(KEY_BYTES_MAX - 2)))).toBe(true)
      expect(scan(text('x'.repeat(KEY_BYTES_MAX - 1)))).toMatchObject({ error: 'key-too-long' })
    }
  })

  it('includes one level more than the maximum depth', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
    expect(isSound(nested(DEPTH_MAX - 1))).toBe(true)
    expect(scan(nested(DEPTH_MAX))).toEqual({ error: 'too-deep', at: 4 + DEPTH_MAX })
  })
})

describe('invalid JSON', () => {
  it.each([
    ['{"a":1,}', 7],
    ['{"a":1 "b":2}', 7],
    ['{"a":[1,]}', 8],
    ['{"a":[1 2]}', 8],
    ['{"a":{"b":1 "c":2}}', 12],
    ['{"a":01}', 7],
    ['{"a":1.}', 7],
    ['{"a":NaN}', 5],
    ['{"a":tru}', 5],
    ['{"a":"b\\x"}', 7],
    ['{"a":"b\tc"}', 7],
    ["{'a':1}", 1],
    ['{"a" 1}', 5],
    ['{"a":1} x', 8],
    ['hello', 0],
    ['{"a":1', 6],
    ['{"a":"x', 7],
  ])('%s has its first error at byte %i', (text, at) => {
    expect(scan(text)).toEqual({ error: 'malformed', at })
  })
})

describe('a key that can be read as another one', () => {
  const known = namesByFoldedName(['model', 'taskId', 'stop'])
  const ambiguous = (key: string, other: string) => ({ error: 'ambiguous', key, other })
  it.each([
    ['{"model":1,"MODEL":2}', ambiguous('MODEL', 'model')],
    ['{"Model":1,"model":2}', ambiguous('Model', 'model')],
    ['{"\\u004dodel":1}', ambiguous('Model', 'model')],
    ['{"ſtop":1}', ambiguous('ſtop', 'stop')],
    ['{"taskid":1}', ambiguous('taskid', 'taskId')],
    ['{"odd":1,"oDD":2}', ambiguous('oDD', 'odd')],
    ['{"ODD":1,"odd":2}', ambiguous('odd', 'ODD')],
    ['{"oK":1,"ok":2}', ambiguous('ok', 'oK')],
    ['{"taskId":1,"taskId":2}', { error: 'duplicate', key: 'taskId' }],
  ])('is found in %s', (text, error) => expect(scanObject(Buffer.from(text), known)).toEqual(error))

  it.each(['{"taskId":1}', '{"Odd":1}', '{"model":{"Model":1,"MODEL":2}}', '{"é":1,"e":2}'])(
    'is not found in %s',
    (text) => expect(scanObject(Buffer.from(text), known)).toBeInstanceOf(Array),
  )

  it.each([
    ['[{"role":1},{"Role":1}]', { path: '[1].Role', other: 'role' }],
    ['[{"role":1,"role":1}]', { path: '[0].role', other: 'role' }],
    ['[{"role":1,"r\\u006fle":1}]', { path: '[0].role', other: 'role' }],
    ['[{"role":1,"x":{"Role":1}},{"role":1}]', null],
  ])('is looked for inside an array that has rules: %s', (list, ambiguity) => {
    const rules = nestedMemberRules('list', { role: ['number'] })
    const members = scanObject(Buffer.from(`{"list":${list}}`), known, rules)
    expect(members).toMatchObject([{ ambiguity }])
  })
})

describe('a hostile body', () => {
  it.each([
    ['10 MB of [', '['.repeat(10 << 20)],
    ['10 MB of { in a value', `{"a":${'{'.repeat(10 << 20)}`],
    ['10 MB of numbers', `{"a":[${'1,'.repeat(5 << 20)}1]}`],
    ['10 MB of escapes', `{"a":"${'\\n'.repeat(5 << 20)}"}`],
    ['10 MB of a text', `{"a":"${'x'.repeat(10 << 20)}"}`],
    ['10 MB of empty objects', `{"a":[${'{},'.repeat(3 << 20)}{}]}`],
  ])('of %s is scanned quickly', (_name, text) => {
    const bytes = Buffer.from(text)
    // The thread's own time: what else runs on this machine is not the scanner's.
    const before = process.threadCpuUsage()
    scanObject(bytes)
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1_000).toBeLessThan(budget(250))
  })
})
