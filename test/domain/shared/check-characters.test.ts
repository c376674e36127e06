import { describe, expect, it } from 'vitest'
import { badCharacter, isName, isText } from '#domain/shared/check-characters.ts'
import { parseJsonText } from '#domain/shared/lossless-json.ts'

const inside = (text: string) => {
  const parsed = parseJsonText(text)
  if ('error' in parsed) throw new Error(parsed.error)
  return badCharacter(parsed.value)
}

describe('a stored text', () => {
  it.each(['\0', '\u0007', '\u001b', '\u007f', '\u0085', '\ud800', 'a\udc00b'])(
    'cannot contain %j',
    (text) => expect([isText(text), isName(text)]).toEqual([false, false]),
  )

  it.each(['', 'gpt-4o', '模型', '👩‍💻', 'می‌خواهم', '__proto__', 'constructor', 'é'])(
    'can be %s, also as a name',
    (text) => expect([isText(text), isName(text)]).toEqual([true, true]),
  )

  it.each(['\t', '\n', '\r', '\u200b', '\u2028', '\u202e', '\u2066', '\ufeff', '\u00ad'])(
    'can contain %j, but a name cannot',
    (text) => expect([isText(text), isName(`a${text}b`)]).toEqual([true, false]),
  )
})

describe('a stored JSON text', () => {
  it.each([
    ['{"\\u0000":1}', '\ufffd'],
    ['{"a\\ud800":1}', 'a\ufffd'],
    ['{"a":"\\u0000"}', 'a'],
    ['{"a":{"b\\u200b":1}}', 'b\ufffd'],
    ['{"a":["x",{"b":"\\udc00"}]}', 'b'],
  ])('%s is refused, and the error names the entry', (text, name) => {
    expect(inside(text)).toEqual({ error: 'bad-character', name })
  })

  it.each(['["\\u0000"]', '"\\ud800"'])('%s is refused', (text) => {
    expect(inside(text)).toEqual({ error: 'bad-character' })
  })

  it.each(['{"__proto__":{"constructor":"a\\nb"}}', '[1,null,true,"\\ud83d\\ude00"]'])(
    '%s is accepted',
    (text) => expect(inside(text)).toBeNull(),
  )
})
