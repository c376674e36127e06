import { describe, expect, it } from 'vitest'
import { applyEdits } from '#relay/dialects/byte-edits.ts'
import { largestUses, readUsesLimit, totalUses } from '#relay/dialects/provider-tool-limits.ts'
import { isMembers } from '#relay/dialects/read-common-request-members.ts'
import { scanObject } from '#relay/dialects/scan-request-object.ts'

function limited(text: string) {
  const body = Buffer.from(text)
  const members = scanObject(body)
  if (!isMembers(members)) throw new Error('no object')
  const { uses, edits } = readUsesLimit(body, { members, end: body.length }, 'max_tool_calls')
  return [uses, applyEdits(body, edits).toString()]
}

describe('the limit of the uses of tools', () => {
  it.each([
    ['{}', 10, '{"max_tool_calls":10}'],
    ['{"a":1}', 10, '{"a":1,"max_tool_calls":10}'],
    ['{"a":[{}] }', 10, '{"a":[{}] ,"max_tool_calls":10}'],
    ['{"max_tool_calls":0}', 0, '{"max_tool_calls":0}'],
    ['{"max_tool_calls":100}', 100, '{"max_tool_calls":100}'],
    ['{"max_tool_calls":101,"a":1}', 100, '{"max_tool_calls":100,"a":1}'],
    ['{"max_tool_calls":-1}', 10, '{"max_tool_calls":10}'],
    ['{"max_tool_calls":1.5}', 10, '{"max_tool_calls":10}'],
    ['{"max_tool_calls":null}', 10, '{"max_tool_calls":10}'],
    ['{"max_tool_calls":"7"}', 10, '{"max_tool_calls":10}'],
    ['{"max_tool_calls":[1]}', 10, '{"max_tool_calls":10}'],
  ])('of %s is %d, and %s is sent', (text, uses, sent) => {
    expect(limited(text)).toEqual([uses, sent])
  })
})

it('the largest uses of several requests are those of each tool', () => {
  expect(largestUses([])).toBeUndefined()
  expect(largestUses([undefined, {}])).toBeUndefined()
  const uses = largestUses([{ web_search: 3 }, undefined, { web_search: 2, file_search: 1 }])
  expect(uses).toEqual({ web_search: 3, file_search: 1 })
  expect(totalUses(uses)).toBe(4)
  expect(totalUses(undefined)).toBe(0)
})
