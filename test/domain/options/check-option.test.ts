import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkText, TEXT_BYTES_MAX } from '#domain/options/check-option.ts'
import {
  decimal,
  FLAG,
  formattedText,
  integer,
  LINK,
  lines,
  type OptionType,
  text,
  URL_TEXT,
} from '#domain/options/option-type.ts'

const KINDS = ['ratios', 'names', 'counts', 'list', 'links', 'object'] as const
const OBJECTS = ['ratios', 'names', 'counts', 'object'] as const
const WIDE = 'ｘ'
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

describe('plain options', () => {
  const choice: OptionType = { kind: 'choice', choices: ['hour', 'day'] }
  const share = decimal('0.1', '1')
  const optional = decimal('0', '10', true)
  const few = integer(-1, 20)
  const named: OptionType = { kind: 'text', maxLength: 9, isRequired: true }
  const [host, mail] = [formattedText('host', 99), formattedText('mail', 99)]
  const huge = integer(0, Number.MAX_SAFE_INTEGER)

  it.each([
    [FLAG, 'true', 'true'],
    [few, ' 7 ', '7'],
    [few, '-1', '-1'],
    [few, '0020', '20'],
    [few, '-0', '0'],
    [huge, '9007199254740991', '9007199254740991'],
    [share, '0.1', '0.1'],
    [share, '1.000', '1'],
    [share, '5e-1', '0.5'],
    [optional, '  ', ''],
    [text(3), 'abc', 'abc'],
    [lines(3), ' a\n', ' a\n'],
    [URL_TEXT, '', ''],
    [URL_TEXT, ' https://a.example/x?y#z ', 'https://a.example/x?y#z'],
    [named, ' x', ' x'],
    [host, '', ''],
    [host, ' smtp.mail.example ', 'smtp.mail.example'],
    [host, '127.0.0.1', '127.0.0.1'],
    [host, '[::1]', '[::1]'],
    [host, '邮件.example', '邮件.example'],
    [mail, 'me@mail.example', 'me@mail.example'],
    [mail, 'Me at work <me@mail.example>', 'Me at work <me@mail.example>'],
    [choice, 'day', 'day'],
  ])('%j stores %j as %j', (type, given, value) => {
    expect(checkText(type, given)).toEqual({ value })
  })

  it.each([
    [FLAG, 'TRUE', 'not-flag'],
    [FLAG, '1', 'not-flag'],
    [FLAG, '', 'not-flag'],
    [few, '1.0', 'not-integer'],
    [few, '1e1', 'not-integer'],
    [few, '', 'not-integer'],
    [few, 'NaN', 'not-integer'],
    [few, '0x1', 'not-integer'],
    [few, '9'.repeat(17), 'not-integer'],
    [few, '-2', 'below-minimum'],
    [few, '21', 'above-maximum'],
    [huge, '9007199254740992', 'above-maximum'],
    [share, '', 'not-number'],
    [share, 'NaN', 'not-number'],
    [share, 'Infinity', 'not-number'],
    [share, '-0.5', 'below-minimum'],
    [share, '--1', 'not-number'],
    [optional, '-1', 'below-minimum'],
    [share, '1e999', 'not-number'],
    [share, '0.0999', 'below-minimum'],
    [share, '1.0000000001', 'above-maximum'],
    [text(3), 'abcd', 'too-long'],
    [text(9), 'a\nb', 'not-one-line'],
    [text(9), 'a\rb', 'not-one-line'],
    [text(3), 'a\u0000', 'bad-character'],
    [text(3), '\ud800', 'bad-character'],
    [URL_TEXT, 'javascript:alert(1)', 'not-url'],
    [URL_TEXT, 'https://user:pass@a.example', 'not-url'],
    [URL_TEXT, '//a.example', 'not-url'],
    [URL_TEXT, `https://a.example/${'x'.repeat(2_000)}`, 'not-url'],
    [named, ' ', 'empty'],
    [named, '', 'empty'],
    [host, 'exa mple', 'not-host'],
    [host, 'https://mail.example', 'not-host'],
    [host, 'mail.example:25', 'not-host'],
    [host, 'me@mail.example', 'not-host'],
    [mail, 'nobody', 'not-mail'],
    [mail, 'a@b@c', 'not-mail'],
    [mail, 'Me <nobody>', 'not-mail'],
    [choice, 'Day', 'not-choice'],
    [choice, '', 'not-choice'],
  ])('%j refuses %j as %s', (type, given, error) => {
    expect(checkText(type, given)).toMatchObject({ error })
  })

  it('are limited to a size at which an event holds two of them', () => {
    const error = { error: 'too-many-bytes', maximum: TEXT_BYTES_MAX }
    for (const letter of ['好', '"', '\n', 'é', '😀']) {
      const bytes = Buffer.byteLength(JSON.stringify(letter)) - 2
      const most = Math.floor(TEXT_BYTES_MAX / bytes)
      expect(checkText(lines(1_000_000), letter.repeat(most)), letter).toHaveProperty('value')
      expect(checkText(lines(1_000_000), letter.repeat(most + 1)), letter).toEqual(error)
    }
  })

  it('report the bounds with a refusal', () => {
    expect(checkText(few, '21')).toEqual({ error: 'above-maximum', minimum: -1, maximum: 20 })
    expect(checkText(text(3), 'abcd')).toEqual({ error: 'too-long', maximum: 3 })
  })
})

describe('ratios with a required name', () => {
  const groups: OptionType = { kind: 'ratios', required: 'default' }

  it.each(['{}', '{"vip":1}', '{"Default":1}'])(
    '%s is refused, because the name is missing',
    (given) => {
      expect(checkText(groups, given)).toEqual({ error: 'entry-missing', name: 'default' })
    },
  )

  it('are accepted with the required name, even with a ratio of 0', () => {
    for (const value of ['{"default":1}', '{"vip":2,"default":0}']) {
      expect(checkText(groups, value)).toEqual({ value })
    }
  })
})

describe('JSON options', () => {
  const check = (kind: (typeof KINDS)[number], given: string) => checkText({ kind }, given)

  it.each(KINDS)('%s refuse invalid JSON', (kind) => {
    const broken = ['', ' ', '{', '{"a":1,}', "{'a':1}", '[1 2]', '{"a":1}x', '// x', 'undefined']
    const numbers = ['{"a":NaN}', '{"a":Infinity}', '{"a":01}', '{"a":.5}', '{"a":+1}', '{"a":1.}']
    for (const given of [...broken, ...numbers]) {
      expect(check(kind, given), given).toEqual({ error: 'not-json' })
    }
  })

  it.each(OBJECTS)('%s refuse a duplicate name, even if it is escaped differently', (kind) => {
    const error = { error: 'duplicate-key', name: 'a' }
    expect(check(kind, '{"a":1,"a":2}')).toEqual(error)
    expect(check(kind, '{"a":1,"\\u0061":2}')).toEqual(error)
    expect(check(kind, '{"b":{"a":1,"a":2}}')).toEqual(error)
  })

  it.each(KINDS)('%s refuse nesting beyond 16 levels, and a million levels as well', (kind) => {
    expect(check(kind, nested(17))).toEqual({ error: 'too-deep' })
    expect(check(kind, '['.repeat(1_000_000))).toEqual({ error: 'too-deep' })
    expect(check(kind, nested(16))).not.toMatchObject({ error: 'too-deep' })
  })

  it.each(KINDS)('%s refuse more than a million characters', (kind) => {
    expect(check(kind, `"${WIDE.repeat(1_000_000)}"`)).toMatchObject({ error: 'too-long' })
  })

  it.each(OBJECTS)('%s refuse any value that is not an object', (kind) => {
    for (const given of ['[]', 'null', '1', '"a"', 'true']) {
      expect(check(kind, given), given).toEqual({ error: 'not-object' })
    }
  })

  it.each(OBJECTS)('%s refuse a name that is empty or too long', (kind) => {
    expect(check(kind, '{"":1}')).toEqual({ error: 'name-missing' })
    expect(check(kind, `{"${'x'.repeat(257)}":1}`)).toEqual({ error: 'name-too-long' })
  })

  it.each(['1', '0', '0.075', '1e-3'])('ratios accept %s', (member) => {
    expect(check('ratios', `{"a":${member}}`)).toEqual({ value: `{"a":${member}}` })
  })

  it.each(['"2.5"', '-1', '1e999', 'null', 'true', '"x"', '""', '[]', '{}', '1e-31', '1e12'])(
    'ratios refuse %s, and the error names the entry',
    (member) => {
      const error = { error: 'not-ratio', name: 'constructor' }
      expect(check('ratios', `{"a":1,"constructor":${member}}`)).toEqual(error)
    },
  )

  it('every other kind refuses members of a wrong type', () => {
    expect(check('names', '{"a":1}')).toEqual({ error: 'not-text', name: 'a' })
    expect(check('names', '{"a":"b"}')).toEqual({ value: '{"a":"b"}' })
    for (const member of ['0', '-1', '1.5', '"1"', '1e3', '1000000000']) {
      expect(check('counts', `{"a":${member}}`), member).toEqual({ error: 'not-count', name: 'a' })
    }
    expect(check('counts', '{"a":8192}')).toEqual({ value: '{"a":8192}' })
    for (const kind of ['list', 'links'] as const) {
      expect(check(kind, '{}')).toEqual({ error: 'not-list' })
    }
    expect(check('list', '["a",1]')).toEqual({ error: 'not-text' })
    expect(check('list', '["a"]')).toEqual({ value: '["a"]' })
    expect(check('object', '{"a":{"b":[1]}}')).toEqual({ value: '{"a":{"b":[1]}}' })
  })

  it.each(['https://a.example/?key={key}', 'opencat://team/join?key={key}'])(
    'links accept %s',
    (link) => {
      expect(check('links', JSON.stringify([{ client: link }]))).toHaveProperty('value')
    },
  )

  it.each([
    'http://a.example',
    'http://127.0.0.1.a.example/',
    'http://127.0.0.1:80@a.example/',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'blob:https://a.example/1',
    'file:///etc/passwd',
    'about:blank',
    'About:blank?{key}',
    'view-source:https://a.example/{key}',
    'filesystem:https://a.example/x',
    ' javascript:alert(1)',
    '//a.example',
    'a.example',
    'x: y',
    'https://',
    'https://a b.example',
    'https://user:pass@a.example/?key={key}',
    `https://a.example/${'x'.repeat(2_000)}`,
    '',
  ])('links refuse %j', (link) => {
    const error = { error: 'not-link', name: 'client' }
    expect(check('links', JSON.stringify([{ client: link }]))).toEqual(error)
    expect(checkText(LINK, link)).toEqual(link === '' ? { value: '' } : { error: 'not-link' })
  })

  it('links accept plain HTTP for the local machine', () => {
    for (const host of ['localhost:3000', '127.0.0.1', '[::1]:80']) {
      const text = JSON.stringify([{ client: `http://${host}/?key={key}` }])
      expect(check('links', text)).toEqual({ value: text })
      expect(checkText(LINK, ` http://${host}/ `)).toEqual({ value: `http://${host}/` })
    }
  })

  it('links refuse entries without a name', () => {
    for (const given of ['[{}]', '[1]', '["https://a.example"]', '[{"a":1}]']) {
      expect(check('links', given), given).toMatchObject({ error: 'not-link' })
    }
    for (const name of ['', ' ']) {
      const given = JSON.stringify([{ a: 'https://a.example', [name]: 'https://b.example' }])
      expect(check('links', given), given).toEqual({ error: 'name-missing' })
    }
  })

  it('can hold a long text of escapes without exhausting the stack', () => {
    const name = '\\n'.repeat(120_000)
    expect(check('object', `{"a":"${name}"}`)).toHaveProperty('value')
    expect(check('object', `{"a":"${'\\'.repeat(400_001)}`)).toEqual({ error: 'not-json' })
  })

  it.each(KINDS)('%s refuse an entry named __proto__ at any depth', (kind) => {
    const error = { error: 'name-reserved', name: '__proto__' }
    for (const inner of ['1', '"a"', '{}', '{"x":1}']) {
      expect(check(kind, `{"a":1,"__proto__":${inner}}`)).toEqual(error)
      expect(check(kind, `[{"a":{"\\u005f_proto__":${inner}}}]`)).toEqual(error)
    }
  })

  it('are checked without an exception, whatever the text', () => {
    const kinds = fc.constantFrom(...KINDS)
    const typed = fc.oneof(fc.json(), fc.string(), fc.string({ unit: 'binary' }))
    fc.assert(fc.property(kinds, typed, (kind, given) => check(kind, given) !== undefined))
  })
})

describe('ratios, choices and headers by name', () => {
  const nestedRatios: OptionType = { kind: 'nested-ratios' }
  const tiers: OptionType = { kind: 'context-tiers' }
  const tier = (above: unknown, input: unknown = 2, output: unknown = 1.5): string =>
    `{"above_input_tokens":${above},"input_ratio":${input},"output_ratio":${output}}`
  const colours: OptionType = { kind: 'choice-by-name', choices: ['red', 'blue'] }
  const headers: OptionType = { kind: 'headers-by-name' }

  it.each([
    [nestedRatios, '{}'],
    [nestedRatios, '{"vip":{"default":0.9},"constructor":{}}'],
    [tiers, `{"m":[${tier(200_000)},${tier(400_000, 2, 1.5)}],"constructor":[]}`],
    [tiers, '{"m":[{"above_input_tokens":1,"output_ratio":2.5}]}'],
    [colours, '{"vip":"red","default":"blue"}'],
    [headers, '{"claude-x":{"anthropic-beta":["output-128k","a, b"],"X-Own":"1"},"m":{}}'],
  ])('%j accepts %j', (type, given) => {
    expect(checkText(type, given)).toEqual({ value: given })
  })

  it.each<readonly [OptionType, string, string]>([
    [nestedRatios, '[]', 'not-object'],
    [nestedRatios, '{"vip":0.9}', 'not-object'],
    [nestedRatios, '{"vip":{"default":"0.9"}}', 'not-ratio'],
    [nestedRatios, '{"vip":{"default":-1}}', 'not-ratio'],
    [nestedRatios, '{"vip":{"":1}}', 'name-missing'],
    [nestedRatios, '{"vip":{"a":1,"a":2}}', 'duplicate-key'],
    [tiers, '[]', 'not-object'],
    [tiers, '{"":[]}', 'name-missing'],
    [tiers, `{"m":${tier(1)}}`, 'not-tiers'],
    [tiers, '{"m":[{"input_ratio":2}]}', 'not-tiers'],
    [tiers, '{"m":[{"above_input_tokens":1,"price":2}]}', 'not-tiers'],
    ...[0, -1, 1.5, '1e3', '"1"', null].map(
      (above) => [tiers, `{"m":[${tier(above)}]}`, 'not-tiers'] as const,
    ),
    ...[0.9, -2, '"2"', 'null', '1e999'].map(
      (ratio) => [tiers, `{"m":[${tier(1, ratio)}]}`, 'not-tiers'] as const,
    ),
    [tiers, `{"m":[${tier(2)},${tier(2)}]}`, 'not-tiers'],
    [tiers, `{"m":[${tier(2)},${tier(1)}]}`, 'not-tiers'],
    [tiers, `{"m":[${tier(1, 3)},${tier(2, 2)}]}`, 'not-tiers'],
    [tiers, `{"m":[${tier(1, 2, 2)},${tier(2, 2, 1)}]}`, 'not-tiers'],
    [tiers, `{"m":[${Array.from({ length: 17 }, (_, n) => tier(n + 1))}]}`, 'not-tiers'],
    [colours, '{"vip":"mauve"}', 'not-choice'],
    [colours, '{"vip":1}', 'not-choice'],
    [colours, '{"":"red"}', 'name-missing'],
    [headers, '{"m":["a"]}', 'not-object'],
    [headers, '{"m":{"x":[]}}', 'not-text'],
    [headers, '{"m":{"x":1}}', 'not-text'],
    [headers, '{"m":{"x":"a\\r\\nb: c"}}', 'not-text'],
    [headers, '{"m":{"x":"é"}}', 'not-text'],
    [headers, '{"m":{"Authorization":"Bearer a"}}', 'name-reserved'],
    [headers, '{"m":{"X-API-Key":"a"}}', 'name-reserved'],
    [headers, '{"m":{"x-forwarded-for":"a"}}', 'name-reserved'],
    [headers, '{"m":{"a b":"a"}}', 'name-reserved'],
    [headers, '{"m":{"":"a"}}', 'name-reserved'],
  ])('%j refuses %j as %s', (type, given, error) => {
    expect(checkText(type, given)).toMatchObject({ error })
  })
})
