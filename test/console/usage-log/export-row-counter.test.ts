import { describe, expect, it } from 'vitest'
import { ExportRowCounter } from '#console/features/usage-log/use-export.ts'

const count = (kind: 'csv' | 'ndjson', text: string): number => {
  const counter = new ExportRowCounter(kind)
  // Reads byte by byte, because a chunk may end anywhere.
  for (const byte of new TextEncoder().encode(text)) counter.add(Uint8Array.of(byte))
  return counter.rows
}

describe('the counter of rows in a file that is being downloaded', () => {
  it('counts the lines of a CSV after the header, also with line breaks in cells', () => {
    expect(count('csv', 'id,name\r\n1,"two\r\nlines"\r\n2,"say ""a""\n"\r\n')).toBe(2)
    expect(count('csv', 'id\r\n')).toBe(0)
  })

  it('counts the lines of NDJSON, also with quotes', () => {
    expect(count('ndjson', '{"a":"say \\"x"}\n{"a":1}\n')).toBe(2)
  })
})
