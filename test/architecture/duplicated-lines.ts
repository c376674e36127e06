import type { SourceFile } from './source-tree.ts'

const BLOCK_LINES = 6

/** Lines that are left out: blank lines, comments, and imports, which repeat by their nature. */
const IGNORED = /^(?:$|\/\/|\/\*|\*|import\b|\} from ')/

/**
 * Measures literal duplication: the number of lines that lie in a block of at least six lines which
 * occurs a second time in the files, character for character except for indentation. Blank lines,
 * comments and imports are not counted. `total` is the number of all counted lines.
 */
export function duplicatedLines(files: readonly SourceFile[]): {
  readonly duplicated: number
  readonly total: number
} {
  const perFile = files.map(({ text }) => codeLinesOf(text))
  const counts = new Map<string, number>()
  for (const lines of perFile) {
    for (const block of blocksOf(lines)) counts.set(block, (counts.get(block) ?? 0) + 1)
  }
  let duplicated = 0
  for (const lines of perFile) {
    const marked = new Set<number>()
    for (const [start, block] of blocksOf(lines).entries()) {
      if ((counts.get(block) ?? 0) < 2) continue
      for (let i = 0; i < BLOCK_LINES; i += 1) marked.add(start + i)
    }
    duplicated += marked.size
  }
  return { duplicated, total: perFile.reduce((sum, lines) => sum + lines.length, 0) }
}

/** Returns the counted lines without indentation. An import of several lines is left out, too. */
function codeLinesOf(text: string): string[] {
  const withoutImports = text.replace(/^import [^;']*?from '[^']+'$/gm, '')
  return withoutImports
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !IGNORED.test(line))
}

const blocksOf = (lines: readonly string[]): string[] =>
  lines
    .slice(0, Math.max(0, lines.length - BLOCK_LINES + 1))
    .map((_line, start) => lines.slice(start, start + BLOCK_LINES).join('\n'))
