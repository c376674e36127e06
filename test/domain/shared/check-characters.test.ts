import { describe, expect, it } from 'vitest'
import { badCharacter, isName, isText } from '#domain/shared/check-characters.ts'
import { parseJsonText } from '#domain/shared/json-text.ts'

const inside = (text: string) => {
  const parsed = parseJsonText(text)
  if ('fault' in parsed) throw new Error(parsed.fault)
  return badCharacter(parsed.value)
}

describe('a text that is kept', () => {
  it.each(['\0', '\u0007', '\u001b', '\u007f', '\u0085', '\ud800', 'a\udc00b'])(
    'has no %j',
    (text) => expect([isText(text), isName(text)]).toEqual([false, false]),
  )

  it.each(['', 'gpt-4o', '模型', '👩‍💻', 'می‌خواهم', '__proto__', 'constructor', 'é'])(
    'may be %s, as a name too',
    (text) => expect([isText(text), isName(text)]).toEqual([true, true]),
  )

  it.each(['\t', '\n', '\r', '\u200b', '\u2028', '\u202e', '\u2066', '\ufeff', '\u00ad'])(
    'may have %j, unless it is a name',
    (text) => expect([isText(text), isName(`a${text}b`)]).toEqual([true, false]),
  )
})

describe('a JSON text that is kept', () => {
  it.each([
    ['{"\\u0000":1}', '\ufffd'],
    ['{"a\\ud800":1}', 'a\ufffd'],
    ['{"a":"\\u0000"}', 'a'],
    ['{"a":{"b\\u200b":1}}', 'b\ufffd'],
    ['{"a":["x",{"b":"\\udc00"}]}', 'b'],
  ])('%s is refused, naming the entry', (text, name) => {
    expect(inside(text)).toEqual({ fault: 'bad-character', name })
  })

  it.each(['["\\u0000"]', '"\\ud800"'])('%s is refused', (text) => {
    expect(inside(text)).toEqual({ fault: 'bad-character' })
  })

  it.each(['{"__proto__":{"constructor":"a\\nb"}}', '[1,null,true,"\\ud83d\\ude00"]'])(
    '%s is taken',
    (text) => expect(inside(text)).toBeNull(),
  )
})
