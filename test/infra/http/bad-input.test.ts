import { describe, expect, it } from 'vitest'
import { loopStallMs } from '#test/support/event-loop-stall.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { budget } from '#test/support/time-limit.ts'
import { httpFixture } from './http-fixture.ts'

const fixture = startedOnce(httpFixture)

const post = (payload: string | Buffer, headers: Record<string, string> = {}) =>
  fixture.app.inject({
    method: 'POST',
    url: '/api/echo',
    headers: { 'content-type': 'application/json', 'accept-language': 'en', ...headers },
    payload,
  })

/**
 * The invalid bodies, each with the expected status, error code and a word of the message, such as
 * the name of the invalid field.
 */
const BAD: readonly (readonly [string, string | Buffer, number, string, string])[] = [
  ['malformed', '{"name":', 400, 'InvalidJson', 'JSON'],
  ['empty', '', 400, 'InvalidField', 'body'],
  ['a bare string', '"name"', 400, 'InvalidField', 'body'],
  ['a list', '[]', 400, 'InvalidField', 'body'],
  ['null', 'null', 400, 'InvalidField', 'body'],
  ['NaN', '{"name":"a","count":NaN}', 400, 'InvalidJson', 'JSON'],
  ['Infinity', '{"name":"a","count":Infinity}', 400, 'InvalidJson', 'JSON'],
  ['a missing field', '{"count":1}', 400, 'InvalidField', 'name'],
  ['a number for text', '{"name":1}', 400, 'InvalidField', 'name'],
  ['text for a number', '{"name":"a","count":"1"}', 400, 'InvalidField', 'count'],
  ['true for a number', '{"name":"a","count":true}', 400, 'InvalidField', 'count'],
  ['null for a number', '{"name":"a","count":null}', 400, 'InvalidField', 'count'],
  ['a fraction', '{"name":"a","count":1.5}', 400, 'InvalidField', 'count'],
  ['a huge number', '{"name":"a","count":1e400}', 400, 'InvalidField', 'count'],
  ['beyond 2^53', '{"name":"a","count":9007199254740993}', 400, 'InvalidField', 'count'],
  ['a negative number', '{"name":"a","count":-1}', 400, 'InvalidField', 'count'],
  ['text too long', `{"name":"${'x'.repeat(11)}"}`, 400, 'InvalidField', 'name'],
  ['one too long', '{"name":"a","mark":"xx"}', 400, 'InvalidField', 'at most 1 character'],
  ['a bad list item', '{"name":"a","ids":[1,"2"]}', 400, 'InvalidField', 'ids[1]'],
  ['another literal', '{"name":"a","mode":"other"}', 400, 'InvalidField', 'fast, slow'],
  ['one, or nothing', '{"name":"a","order":"x"}', 400, 'InvalidField', 'one of id, name'],
  ['NUL', '{"name":"a\\u0000b"}', 400, 'InvalidField', 'name'],
  ['a raw control character', '{"name":"a\u0001b"}', 400, 'InvalidJson', 'JSON'],
  ['half a surrogate pair', '{"name":"\\ud800"}', 400, 'InvalidField', 'name'],
  ['NUL in a name', '{"name":"a","x\\u0000":1}', 400, 'InvalidField', 'x'],
  ['invalid UTF-8', Buffer.from('7b226e616d65223a22ff227d', 'hex'), 400, 'InvalidText', 'UTF-8'],
  ['__proto__', '{"name":"a","__proto__":{"count":1}}', 400, 'InvalidField', '__proto__'],
  ['deep __proto__', '{"name":"a","x":[{"__proto__":1}]}', 400, 'InvalidField', '__proto__'],
  ['escaped', '{"name":"a","\\u005f_proto__":{}}', 400, 'InvalidField', '__proto__'],
  ['constructor', '{"name":"a","constructor":{"prototype":{}}}', 400, 'InvalidField', 'constr'],
  ['a key twice', '{"name":"a","count":1,"count":2}', 400, 'InvalidField', 'count'],
  ['a key twice, escaped', '{"name":"a","n\\u0061me":"b"}', 400, 'InvalidField', 'name'],
  ['deep nesting', `{"name":"a","x":${'['.repeat(65)}${']'.repeat(65)}}`, 400, 'TooDeep', 'deep'],
  ['1 MiB of [', '['.repeat(1_048_576), 400, 'TooDeep', 'deep'],
  ['10 MB of [', '['.repeat(10_000_000), 413, 'TooLarge', 'large'],
  ['10 MB of text', `{"name":"${'x'.repeat(10_000_000)}"}`, 413, 'TooLarge', 'large'],
]

describe('bad bodies', () => {
  it.each(BAD)('%s gets its error in the envelope', async (_name, body, status, code, word) => {
    const answer = await post(body)
    expect([answer.statusCode, answer.json().code]).toEqual([status, code])
    expect(answer.json()).toMatchObject({ success: false, message: expect.stringContaining(word) })
  })

  it('get a message in Chinese unless the request prefers English', async () => {
    const answer = await post('{"name":1}', { 'accept-language': 'zh-CN,en;q=0.5' })
    expect(answer.json().message).toBe('参数 name 无效：必须是字符串')
  })

  it('get the name of the field and its problem in the language of the message', async () => {
    const english = await post('{"name":1}', { 'accept-language': 'en' })
    expect(english.json().invalid_field).toEqual({ name: 'name', problem: 'must be a string' })
    const chinese = await post('{"name":1}', { 'accept-language': 'zh-CN' })
    expect(chinese.json().invalid_field).toEqual({ name: 'name', problem: '必须是字符串' })
    expect((await post('{')).json()).not.toHaveProperty('invalid_field')
  })

  it.each([
    'text/plain',
    'application/jsonp',
    'application/json-patch+json',
    'multipart/form-data',
  ])('of type %s are refused with 415', async (type) => {
    const answer = await post('{"name":"a"}', { 'content-type': type })
    expect([answer.statusCode, answer.json().code]).toEqual([415, 'WrongContentType'])
  })

  it('never block the event loop for 250 ms, even with the worst megabyte', async () => {
    const worst = [
      '['.repeat(1_000_000),
      `[${'{},'.repeat(330_000)}{}]`,
      `{${Array.from({ length: 80_000 }, (_, n) => `"k${n}":1`).join(',')}}`,
      `"${'\\\\'.repeat(250_000)}${'\\"'.repeat(250_000)}"`,
      `{"name":"${'\\u0061'.repeat(170_000)}"}`,
    ]
    const answers: number[] = []
    const stallMs = await loopStallMs(async () => {
      for (const body of worst) answers.push((await post(body)).statusCode)
    })
    expect(answers).toEqual([400, 400, 400, 400, 400])
    expect(stallMs).toBeLessThan(budget(250))
  })
})

describe('good bodies', () => {
  it('are accepted unchanged, except that unknown fields are removed', async () => {
    const answer = await post('{"name":"a","count":2,"stranger":true,"constructor":"x"}')
    expect(answer.json()).toEqual({ success: true, message: '', data: { name: 'a', count: 2 } })
  })

  it('can have a charset in their type, and the same key in two objects', async () => {
    const body = '{"name":"a","x":{"id":1},"y":{"id":1},"z":[{"id":1},{"id":1}]}'
    const answer = await post(body, { 'content-type': 'application/json; charset=utf-8' })
    expect(answer.statusCode).toBe(200)
  })
})

describe('bad addresses', () => {
  it.each([
    ['/api/nowhere', 404, 'NoSuchRoute'],
    ['/api/%E0%A4%A', 400, 'InvalidAddress'],
    ['/api/open?x=%00', 400, 'InvalidField'],
    ['/api', 404, 'NoSuchRoute'],
  ])('%s answers %i in the envelope', async (url, status, code) => {
    const answer = await fixture.app.inject({ url })
    expect([answer.statusCode, answer.json().code]).toEqual([status, code])
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('an internal error hides its cause from the caller, and the log contains it', async () => {
    const answer = await fixture.app.inject({ url: '/api/fails?key=sk-in-the-query' })
    expect(answer.statusCode).toBe(500)
    expect(answer.body).not.toContain('secret-in-an-error')
    expect(fixture.logged.join()).toContain('secret-in-an-error')
    expect(fixture.logged.join()).not.toContain('sk-in-the-query')
  })
})
