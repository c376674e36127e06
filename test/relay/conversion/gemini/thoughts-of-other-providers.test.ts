import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { writeAnswer } from '#relay/conversion/gemini/write-answer.ts'
import { createStreamWriter } from '#relay/conversion/gemini/write-stream.ts'
import { joinEventsToAnswer } from '#relay/conversion/join-canonical-events.ts'
import { read } from './requests.ts'

/** Claude's answer with thoughts, a text and two calls. */
const EVENTS: readonly CanonicalEvent[] = [
  { kind: 'start', id: 'i', model: 'claude' },
  { kind: 'thinking', choice: 0, part: 0, text: 'First ' },
  { kind: 'thinking', choice: 0, part: 0, text: 'a, then b.' },
  { kind: 'thinking-signature', choice: 0, part: 0, signature: 'made by Claude' },
  { kind: 'thinking-redacted', choice: 0, part: 1, data: 'hidden by Claude' },
  { kind: 'text', choice: 0, part: 2, text: 'I read ' },
  { kind: 'text', choice: 0, part: 2, text: 'both.' },
  { kind: 'tool-call', choice: 0, part: 3, id: 'toolu_1', name: 'read' },
  { kind: 'tool-arguments', choice: 0, part: 3, json: '{}' },
  { kind: 'tool-call', choice: 0, part: 4, id: 'toolu_2', name: 'read' },
  { kind: 'tool-arguments', choice: 0, part: 4, json: '{}' },
  { kind: 'stop', choice: 0, stop: 'tool-calls', stopSequence: null },
  { kind: 'end' },
]
const ANSWER = joinEventsToAnswer(EVENTS)
const MESSAGE = { role: 'assistant', parts: ANSWER.choices[0]?.parts }

type Content = { readonly role: string; readonly parts: readonly JsonObject[] }
type Chunk = { readonly candidates: readonly { readonly content: Content }[] }

const contentsOf = (chunks: readonly Chunk[]): Content[] =>
  chunks.flatMap(({ candidates }) => candidates.map(({ content }) => content))
const plain = contentsOf([writeAnswer(ANSWER) as Chunk])
const writer = createStreamWriter()
const events = EVENTS.map((event) => writer.write(event))
  .join('')
  .trimEnd()
  .split('\n\n')
const streamed = contentsOf(events.map((text) => JSON.parse(text.slice('data: '.length)) as Chunk))

/** Gemini CLI joins texts and drops thoughts. */
const withoutThoughts = (contents: readonly Content[]): Content[] => [
  {
    role: 'model',
    parts: contents.flatMap(({ parts }) => parts).filter(({ thought }) => thought !== true),
  },
]

describe('the thoughts of Claude, sent back by a caller of Gemini’s format', () => {
  it.each([
    ['in one content', plain],
    ['in one content per chunk', streamed],
    ['in a content without thoughts', withoutThoughts(plain)],
  ])('are complete %s', (_, contents) => {
    const { value, losses } = read({ contents })
    expect(value.messages).toEqual([MESSAGE])
    expect(losses).toEqual([])
  })

  it('are complete beside a text that is sent in pieces', () => {
    const [message] = read({ contents: withoutThoughts(streamed) }).value.messages
    expect(message?.parts.filter(({ kind }) => kind !== 'text')).toEqual(
      MESSAGE.parts?.filter(({ kind }) => kind !== 'text'),
    )
  })

  it('are not added to calls that Gemini signed', () => {
    const parts = [
      { kind: 'thinking', text: 'Hm', signature: 'made by Claude' },
      { kind: 'tool-call', id: 'c', name: 'f', argumentsJson: '{}', signature: 'c2ln' },
    ] as const
    const choice = { parts, stop: 'tool-calls', stopSequence: null, logprobs: null } as const
    const contents = contentsOf([writeAnswer({ ...ANSWER, choices: [choice] }) as Chunk])
    expect(contents[0]?.parts[1]).toHaveProperty('thoughtSignature', 'c2ln')
    expect(read({ contents }).value.messages).toEqual([{ role: 'assistant', parts }])
  })

  it('belong to the calls that follow them', () => {
    const thought = (text: string) => ({ kind: 'thinking', text, signature: `of ${text}` }) as const
    const call = (id: string) =>
      ({ kind: 'tool-call', id, name: 'f', argumentsJson: '{}' }) as const
    const parts = [thought('one'), call('c1'), thought('two'), call('c2'), call('c3')]
    const choice = { parts, stop: 'tool-calls', stopSequence: null, logprobs: null } as const
    const contents = contentsOf([writeAnswer({ ...ANSWER, choices: [choice] }) as Chunk])
    const message = { role: 'assistant', parts }
    expect(read({ contents }).value.messages).toEqual([message])
    expect(read({ contents: withoutThoughts(contents) }).value.messages).toEqual([message])
  })

  it.each([
    ['provider:'],
    ['provider:{"thoughts":"x"}'],
    ['provider:{"thoughts":[null,1,{"text":2,"signature":3}]}'],
    ['provider:null'],
    ['provider:[]'],
  ])('never throw if they are damaged: %s', (text) => {
    const thoughtSignature = Buffer.from(text).toString('base64')
    const functionCall = { name: 'f' }
    const parts = [
      { text: 'a', thought: true, thoughtSignature },
      { functionCall, thoughtSignature },
    ]
    expect(() => read({ contents: [{ role: 'model', parts }] })).not.toThrow()
  })
})

describe('a text of the model', () => {
  it('is joined if it is spread over contents, and only then', () => {
    const model = (...texts: string[]) => ({
      role: 'model',
      parts: texts.map((text) => ({ text })),
    })
    const user = { role: 'user', parts: [{ text: 'q' }] }
    const { messages } = read({ contents: [model('a', 'b'), model('c'), user, model('d')] }).value
    const text = (value: string) => ({ kind: 'text', text: value })
    expect(messages).toEqual([
      { role: 'assistant', parts: [text('a'), text('bc')] },
      { role: 'user', parts: [text('q')] },
      { role: 'assistant', parts: [text('d')] },
    ])
  })
})
