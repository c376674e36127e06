import { describe, expect, it } from 'vitest'
import { readMessageTexts } from '#relay/dialects/anthropic-messages/read-message-texts.ts'

function textsIn(value: object): string[] {
  const texts: string[] = []
  readMessageTexts(JSON.stringify(value), {
    text: (_choice, _place, text) => texts.push(text),
    data: () => undefined,
  })
  return texts
}

describe('texts of a message', () => {
  it('include the summary of a compaction, in a message and in a stream', () => {
    const block = { type: 'compaction', content: 'A summary.', encrypted_content: 'e' }
    expect(textsIn({ content: [block, { type: 'text', text: 'An answer.' }] })).toEqual([
      ...['A summary.', 'An answer.'],
    ])
    expect(textsIn({ content: [{ ...block, content: null }] })).toEqual([])
    const delta = { type: 'compaction_delta', content: 'A summary.' }
    expect(textsIn({ type: 'content_block_delta', index: 0, delta })).toEqual(['A summary.'])
  })

  it('exclude the content of other blocks, such as results of a search', () => {
    expect(textsIn({ content: [{ type: 'web_search_tool_result', content: 'x' }] })).toEqual([])
  })
})
