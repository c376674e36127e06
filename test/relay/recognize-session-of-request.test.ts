import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { readMessagesRequest } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { readChatRequest } from '#relay/dialects/openai-chat/chat-format.ts'
import type { ChatRequest } from '#relay/dialects/wire-format.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import { sessionOf } from '#relay/pipeline/recognize-session-of-request.ts'

const vault = {
  keyedHash: (purpose: string, text: string) =>
    createHash('sha256').update(`${purpose}\n${text}`).digest('hex'),
}
const callerOf = (userId: number, tokenId: number) =>
  ({ user: { userId }, token: { tokenId } }) as unknown as Caller
const CALLER = callerOf(7, 3)

const parsed = (request: ReturnType<typeof readChatRequest>): ChatRequest => {
  if (isRelayError(request)) throw new Error(JSON.stringify(request))
  return request
}
const LONG = 'a long system prompt '.repeat(300)
const VERY_LONG = { role: 'system', content: 'x'.repeat(70_000) }
const user = (content: unknown) => ({ role: 'user', content })
const answer = { role: 'assistant', content: 'fine' }
const chatText = (text: string) => parsed(readChatRequest(Buffer.from(text)))
const chat = (body: object) =>
  chatText(JSON.stringify({ model: 'm', messages: [user('hello')], ...body }))
const messages = (body: object) => {
  const whole = { model: 'm', max_tokens: 5, messages: [user('hello')], ...body }
  return parsed(readMessagesRequest(Buffer.from(JSON.stringify(whole))))
}
const sessionIn = (request: ChatRequest, headers = {}, caller = CALLER) =>
  sessionOf(vault, caller, headers, request)
const keyOf = (request: ChatRequest, headers = {}, caller = CALLER) =>
  sessionIn(request, headers, caller)?.key
const conversation = (...list: object[]) =>
  chat({ messages: [{ role: 'system', content: LONG }, ...list] })

describe('the id of a session', () => {
  it('the id comes from the first of these sources', () => {
    const headers: Record<string, string> = {}
    const request = chat({ prompt_cache_key: 'cache-key', metadata: { user_id: 'someone' } })
    const names = [
      ...['thread-id', 'x-opencode-session', 'x-session-id', 'session-id', 'session_id'],
      ...['x-claude-code-session-id', 'x-session-affinity'],
    ]
    const keys = [keyOf(request)]
    for (const name of names) {
      headers[name] = `id in ${name}`
      keys.push(keyOf(request, headers))
      expect(keyOf(chat({}), { [name]: `id in ${name}` })).toBe(keys.at(-1))
    }
    expect(new Set(keys).size).toBe(names.length + 1)
    expect(keyOf(request)).toBe(keyOf(chat({ prompt_cache_key: 'cache-key' })))
    expect(keyOf(chat({ metadata: { user_id: 'someone' } }))).toBe(
      keyOf(messages({ metadata: { other: 1, user_id: 'someone' } })),
    )
  })

  it('ids of other tokens, users and models belong to other sessions', () => {
    const headers = { 'x-session-id': 'one' }
    const keys = [
      keyOf(chat({}), headers),
      keyOf(chat({}), headers, callerOf(7, 4)),
      keyOf(chat({}), headers, callerOf(8, 3)),
      keyOf(chat({ model: 'other' }), headers),
      keyOf(chat({}), { 'x-session-id': 'two' }),
    ]
    expect(new Set(keys).size).toBe(5)
  })

  it.each<[string, object, Record<string, string>]>([
    ['an empty header', {}, { 'x-session-id': '' }],
    ['a long header', {}, { 'x-session-id': 'x'.repeat(513) }],
    ['an empty cache key', { prompt_cache_key: '' }, {}],
    ['a cache key that is no text', { prompt_cache_key: 5 }, {}],
    ['a long cache key', { prompt_cache_key: 'x'.repeat(513) }, {}],
    ['a user id that is no text', { metadata: { user_id: { a: 1 } } }, {}],
    ['metadata without a user id', { metadata: { user: 'x' } }, {}],
    ['long metadata', { metadata: { user_id: 'x', more: 'x'.repeat(4_096) } }, {}],
    ['metadata that is null', { metadata: null }, {}],
    ['no id', {}, {}],
  ])('%s names no session', (_, body, headers) => {
    const session = sessionIn(chat({ ...body, messages: [user('x')] }), headers)
    expect(session?.isNamed ?? false).toBe(false)
  })

  it('the key contains no part of an id', () => {
    const session = sessionIn(chat({}), { 'x-session-id': 'mail@example.org' })
    expect(JSON.stringify(session)).not.toMatch(/mail|example/)
  })
})

describe('a conversation without an id', () => {
  it('all turns of a conversation are one session', () => {
    const first = sessionIn(conversation(user('What is this?')))
    const second = sessionIn(conversation(user('What is this?'), answer, user('And that?')))
    expect(first).toMatchObject({ isNamed: false, isFirstTurn: true })
    expect(second).toEqual({ ...first, isFirstTurn: false })
    expect(keyOf(conversation(user('What else?'), answer))).not.toBe(first?.key)
  })

  it('cache marks that move between turns do not change the session', () => {
    const block = { type: 'text', text: 'What is this?' }
    const marked = { ...block, cache_control: { type: 'ephemeral', ttl: '1h' } }
    const first = messages({ system: LONG, messages: [user([marked])] })
    const later = messages({ system: LONG, messages: [user([block]), answer, user([marked])] })
    expect(keyOf(later)).toBe(keyOf(first))
    expect(keyOf(messages({ system: LONG, messages: [user('What is this?')] }))).toBe(keyOf(first))
  })

  it('the order of members and escaped quotes do not matter', () => {
    const tail = `{"content":"say \\"}]\\\\","role":"user"}`
    const system = `{"content":"${LONG}","role":"system"}`
    const text = `{"model":"m","messages":[ ${system} , ${tail} , ${JSON.stringify(answer)}]}`
    const session = sessionIn(chatText(text))
    expect(session).toMatchObject({ isFirstTurn: false })
    expect(session?.key).toBe(keyOf(conversation(user('say "}]\\'))))
  })

  it.each([':', ' :', ' \t: x'])(
    'a long text is no key because %j follows its read part',
    (tail) => {
      const text = 'x'.repeat(8_192)
      const session = sessionIn(conversation(user(`${text}y${tail}`)))
      expect(session).toMatchObject({ isNamed: false, isFirstTurn: true })
      expect(session).toEqual(sessionIn(conversation(user(`${text}z`))))
    },
  )

  it('images tell conversations apart', () => {
    const image = (url: string) => user([{ type: 'image_url', image_url: { url } }])
    const keys = ['https://a.example/1', 'https://a.example/2'].map((url) =>
      keyOf(conversation(image(url))),
    )
    expect(new Set(keys).size).toBe(2)
  })

  it.each<[string, ChatRequest]>([
    ['a short conversation', chat({ messages: [user('hi'), answer, user('more')] })],
    ['a message without content', chat({ tools: [{ x: LONG }], messages: [user('')] })],
    ['a conversation after a very long instruction', chat({ messages: [VERY_LONG, user('x')] })],
    ['only instructions', chat({ messages: [{ role: 'system', content: LONG }] })],
  ])('%s has no session', (_, request) => {
    expect(sessionIn(request)).toBeNull()
  })

  it('a first message that is longer than the searched part is recognized', () => {
    const long = user('0123456789'.repeat(20_000))
    const first = sessionIn(chat({ messages: [long] }))
    expect(sessionIn(chat({ messages: [long, answer, user('x')] }))).toEqual({
      ...first,
      isFirstTurn: false,
    })
  })
})
