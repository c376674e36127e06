import type { SourceFile } from './source-tree.ts'

export type FoundFunction = {
  readonly path: string
  readonly name: string
  readonly line: number
  readonly lines: number
}

const START =
  /^(\s*)(?:export\s+)?(?:async\s+)?(?:function\s*\*?\s*(\w+)|(?:const|let)\s+(\w+)[^=]*=\s*(?:memo\(|forwardRef\()?\s*(?:async\s*)?(?:\([^)]*\)|\w+|\($)[^=]*(?:=>.*)?$)/
const METHOD = /^(\s+)(?:async\s+|static\s+|override\s+)*(#?\w+)(?:<[^>]*>)?\([^)]*\)?[^;]*\{$/
const KEYWORD = /^(?:if|for|while|switch|catch|return|else|function)$/

/**
 * Functions and methods with their lengths. The formatter fixes the layout, so a function ends at
 * the first line of its own indentation that closes a bracket.
 */
export function functionsOf({ path, text }: SourceFile): FoundFunction[] {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    const match = START.exec(line) ?? METHOD.exec(line)
    const name = match?.[2] ?? match?.[3]
    if (match === null || name === undefined || KEYWORD.test(name)) return []
    const end = closingLine(lines, index, match[1] ?? '')
    if (end === null || !isFunction(lines, index, end)) return []
    return [{ path, name, line: index + 1, lines: end - index + 1 }]
  })
}

function closingLine(lines: readonly string[], start: number, indent: string): number | null {
  for (let index = start + 1; index < lines.length; index += 1) {
    const line = lines[index] ?? ''
    if (line.startsWith(`${indent}}`)) return index
    if (line.trim() !== '' && !line.startsWith(`${indent} `) && !line.startsWith(`${indent})`)) {
      return null
    }
  }
  return null
}

function isFunction(lines: readonly string[], start: number, end: number): boolean {
  const head = lines.slice(start, Math.min(start + 12, end)).join('\n')
  return /function|=>/.test(head) || METHOD.test(lines[start] ?? '')
}
