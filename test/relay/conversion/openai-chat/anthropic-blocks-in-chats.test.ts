import { describe, expect, it } from 'vitest'
import { ConversionError } from '#relay/canonical/canonical-request.ts'
import { readRequest } from '#relay/conversion/openai-chat/read-request.ts'

const HI = { role: 'user', content: 'hi' }
const read = (...messages: readonly object[]) => readRequest({ model: 'm', messages })
const text = (value: string) => ({ kind: 'text', text: value })

function paramOf(...messages: readonly object[]): string {
  try {
    read(...messages)
  } catch (error) {
    if (error instanceof ConversionError) return error.param
    throw error
  }
  return 'no error'
}

const use = (id: string, name = 'f', input = {}) => ({ type: 'tool_use', id, name, input })
const call = (id: string, name = 'f', args = '{}') => ({
  ...{ id, type: 'function', function: { name, arguments: args } },
})
const result = (id: string, content: unknown, members = {}) => ({
  ...{ type: 'tool_result', tool_use_id: id, content, ...members },
})
const CALLS = { role: 'assistant', tool_calls: [call('a'), call('b')] }

describe('an assistant’s message with blocks of Anthropic’s and members of OpenAI’s', () => {
  it('has each call once, with what only its block has', () => {
    const content = [
      { type: 'text', text: 'I look.' },
      { ...use('a'), cache_control: { type: 'ephemeral' } },
      use('b', 'g'),
    ]
    const { value, losses } = read(HI, { role: 'assistant', content, tool_calls: [call('a')] })
    expect(losses).toEqual([])
    expect(value.messages[1]?.parts).toEqual([
      text('I look.'),
      { kind: 'tool-call', id: 'b', name: 'g', argumentsJson: '{}' },
      { kind: 'tool-call', id: 'a', name: 'f', argumentsJson: '{}', cache: '5m' },
    ])
  })

  it('has the same thinking once', () => {
    const blocks = ['Hm. ', 'So.'].map((thinking, at) => ({
      ...{ type: 'thinking', thinking, signature: `s${at}` },
    }))
    const content = [...blocks, { type: 'text', text: 'Yes.' }]
    const parts = [
      { kind: 'thinking', text: 'Hm. ', signature: 's0' },
      { kind: 'thinking', text: 'So.', signature: 's1' },
      text('Yes.'),
    ]
    const details = blocks.map(({ thinking, signature }) => ({
      ...{ type: 'reasoning.text', text: thinking, signature },
    }))
    for (const members of [{ reasoning_content: 'Hm. So.' }, { reasoning_details: details }]) {
      const { value } = read(HI, { role: 'assistant', content, ...members })
      expect(value.messages[1]?.parts).toEqual(parts)
    }
    const { value } = read(HI, { role: 'assistant', content, reasoning_content: 'Other' })
    expect(value.messages[1]?.parts).toEqual([{ kind: 'thinking', text: 'Other' }, ...parts])
  })

  it('has a call once that is repeated in the older form', () => {
    const repeated = { name: 'f', arguments: '{}' }
    const { value } = read(
      HI,
      { ...CALLS, tool_calls: [call('a')], function_call: repeated },
      { role: 'function', name: 'f', content: 'R' },
    )
    expect(value.messages[1]?.parts).toMatchObject([{ id: 'a', name: 'f' }])
    expect(value.messages[2]?.parts).toMatchObject([{ callId: 'a', parts: [text('R')] }])
  })
})

describe('results in Anthropic’s form', () => {
  it('stay failures of their own calls within a message of OpenAI’s form', () => {
    const content = [
      { type: 'text', text: 'Before' },
      result('a', 'RA', { is_error: true }),
      result('b', 'RB', { cache_control: { type: 'ephemeral' } }),
    ]
    const { value, losses } = read(HI, CALLS, { role: 'tool', tool_call_id: 'a', content })
    expect(losses).toEqual([])
    const shape = { kind: 'tool-result', name: 'f' }
    expect(value.messages[2]?.parts).toEqual([
      { ...shape, callId: 'a', parts: [text('Before'), text('RA')], isError: true },
      { ...shape, callId: 'b', parts: [text('RB')], isError: false, cache: '5m' },
    ])
  })

  it('are left out if the same results precede in OpenAI’s form', () => {
    const results = ['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: id }))
    const blocks = { role: 'user', content: [result('b', 'b'), { type: 'text', text: 'So?' }] }
    const { value, losses } = read(HI, CALLS, ...results, blocks, CALLS, blocks)
    expect(losses).toEqual(['messages[4].content[0]'])
    expect(value.messages[3]?.parts).toEqual([text('So?')])
    expect(value.messages[5]?.parts).toMatchObject([{ callId: 'b' }, text('So?')])
  })
})

describe('blocks of Anthropic’s in a chat', () => {
  it.each([
    [{ role: 'user', content: [use('a')] }, 'messages[1].content[0]'],
    [{ role: 'system', content: [use('a')] }, 'messages[1].content[0]'],
    [{ role: 'system', content: [result('a', 'R')] }, 'messages[1].content[0]'],
    [{ role: 'assistant', content: [result('a', 'R')] }, 'messages[1].content[0]'],
    [{ role: 'tool', tool_call_id: 'a', content: [use('a')] }, 'messages[1].content[0]'],
    [{ role: 'user', content: [result('a', [use('b')])] }, 'messages[1].content[0].content[0]'],
  ])('are refused in a message that can’t contain them (%j)', (message, param) => {
    expect(paramOf(HI, message)).toBe(param)
  })

  it('lose the cache marks that can’t be read, as other parts do', () => {
    const cache_control = { type: 'ephemeral', ttl: '2h' }
    const source = { type: 'url', url: 'https://a.example/b.png' }
    const image = { type: 'image', source, cache_control }
    const content = [image, { ...result('a', [image]), cache_control: true }]
    const { losses } = read({ role: 'user', content })
    expect(losses).toEqual([
      'messages[0].content[0].cache_control',
      'messages[0].content[1].cache_control',
      'messages[0].content[1].content[0].cache_control',
    ])
  })

  it('replace the content before a summary, but not the instructions', () => {
    const summary = [
      { type: 'text', text: 'Old' },
      { type: 'compaction', content: 'Summary' },
      { type: 'text', text: 'New' },
    ]
    const { value, losses } = read(
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Old' },
      { role: 'system', content: 'Old' },
      { role: 'assistant', content: summary },
      HI,
    )
    expect(losses).toEqual([])
    expect(value.system).toEqual([text('Be brief.')])
    expect(value.messages).toEqual([
      { role: 'assistant', parts: [text('Summary'), text('New')] },
      { role: 'user', parts: [text('hi')] },
    ])
  })
})
