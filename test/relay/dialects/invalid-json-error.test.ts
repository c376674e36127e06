import { describe, expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { readChatRequest } from '#relay/dialects/openai-chat/chat-format.ts'
import { errorBody } from '#relay/dialects/openai-chat/error-format.ts'
import { budget } from '#test/support/time-limit.ts'

function wordsFor(body: string | Buffer, language: 'zh' | 'en' = 'en') {
  const request = readChatRequest(Buffer.from(body))
  if (!isRelayError(request)) throw new Error('not denied')
  const { status, body: answer } = errorBody(request, language)
  return { status, ...answer.error }
}

describe('a body that is not a JSON object', () => {
  it.each([
    ['', 'empty_body', 'is empty'],
    [' \n', 'empty_body', 'is empty'],
    ['{"model":"m",}', 'invalid_json', 'at 1:14 (line:column)'],
    ['{\n  "é🎉": "m"\n  "n": 1\n}', 'invalid_json', 'at 3:3 (line:column)'],
    ['{"é":tru}', 'invalid_json', 'at 1:6 (line:column)'],
    ['{"model":"m"', 'json_incomplete', 'ends before it is complete'],
    ['["a"]', 'json_not_object', 'must be a JSON object'],
    ['"a"', 'json_not_object', 'must be a JSON object'],
    [`{"a":${'['.repeat(70)}`, 'json_too_deep', 'more than 64 levels'],
    ['{"a":"b\\u0000"}', 'invalid_text', 'at 1:8 (line:column)'],
    [Buffer.from([123, 0xff, 125]), 'invalid_utf8', 'UTF-8'],
    ['{"a":1,"a":2}', 'duplicate_key', "'a' more than once"],
    ['{"a":1,"A":2}', 'ambiguous_key', "'A' can be read as 'a'"],
  ])('causes for %j the error %s', (body, code, words) => {
    const { status, message, ...error } = wordsFor(body)
    expect({ status, ...error }).toMatchObject({ status: 400, type: 'invalid_request_error', code })
    expect(message).toContain(words)
    expect(wordsFor(body, 'zh').message).toMatch(/[\u4e00-\u9fff]/)
  })

  it.each([
    ['{"model":"m\\u0000"}', 'model'],
    ['{"model":"m","messages":[{"content":"a\0b"}]}', 'messages[0].content'],
    ['{"n":[1,{}],"messages":[{"role":"user"},{"content":"\\ud83d"}]}', 'messages[1].content'],
    ['{"a":{"b":["x,\\"{","y"],"c":{"d":[[1],["\\udc00"]]}}}', 'a.c.d[1][0]'],
    ['{"tools":[{"\\u0000":1}]}', 'tools[0]'],
    ['{"\\ud800":1}', null],
    [`{"a":"${'x'.repeat(2 << 20)}\\u0000"}`, null],
  ])('causes for %.80s an error that locates the invalid text in %s', (body, param) => {
    const denied = wordsFor(body)
    expect([denied.code, denied.param]).toEqual(['invalid_text', param])
  })

  it('is refused when it has more than 1000000 values', () => {
    const { code, message } = wordsFor(`{"a":[${'1,'.repeat(1_000_001)}1]}`)
    expect([code, message]).toEqual([
      'json_too_long',
      'The request body has more than 1000000 values.',
    ])
  })

  it.each([
    ['10 MB of line breaks', `${'\n'.repeat(10 << 20)}x`, 'at 10485760 (byte)'],
    ['10 MB of blanks', ' '.repeat(10 << 20), 'is empty'],
    ['10 MB in one line', `{"a":"${'é'.repeat(5 << 20)}"`, 'ends before'],
  ])('is refused quickly for %s', (_name, text, words) => {
    const body = Buffer.from(text)
    // Of a few the least: the machine's other work is not the scanner's.
    const spent = Array.from({ length: 4 }, () => {
      const before = process.threadCpuUsage()
      expect(wordsFor(body).message).toContain(words)
      const { user, system } = process.threadCpuUsage(before)
      return (user + system) / 1_000
    })
    expect(Math.min(...spent)).toBeLessThan(budget(250))
  })
})
