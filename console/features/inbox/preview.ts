import type { InboxMessage } from '#read-api/contract/messages.ts'

/** The part of a text that is processed, because removing markup from a long text may take long. */
const READ_MAX = 2_000
const SHOWN_MAX = 100
const CUT = '...'
/** Counts characters as displayed: an emoji of several code points is one. */
const CHARACTERS = new Intl.Segmenter()

/** The beginning of a message as one line of text, cut at 100 characters: 97 and an ellipsis. */
export function previewOf({ content, format }: Pick<InboxMessage, 'content' | 'format'>): string {
  const beginning = format === 'plain' ? content.slice(0, READ_MAX) : beginningOf(content)
  const text = WITHOUT_MARKS[format](beginning).replace(/\s+/g, ' ').trim()
  const characters = [...CHARACTERS.segment(text)].map(({ segment }) => segment)
  if (characters.length <= SHOWN_MAX) return text
  return (
    characters
      .slice(0, SHOWN_MAX - CUT.length)
      .join('')
      .trimEnd() + CUT
  )
}

/** An address in a preview is useless, and an embedded image would leave no space for the text. */
const LONG_ADDRESS = /(\]\(|\b(?:src|href)\s*=\s*["']?)[^()<>\s"']{200,}/gi
const CUT_MARK = /(?:<\/?[a-z][^<>]*|!?\[[^[\]]*\]\([^\s()]*)$/i

/** The processed part, without a markup character that is cut in two. */
function beginningOf(content: string): string {
  const short = content.replace(LONG_ADDRESS, '$1-')
  if (short.length <= READ_MAX) return short
  return short.slice(0, READ_MAX).replace(CUT_MARK, '')
}

const ENTITIES: Readonly<Record<string, string>> = {
  nbsp: ' ',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  amp: '&',
}

/** For display only: the result is shown as text, never as markup. */
const withoutTags = (html: string): string =>
  html
    .replace(/<(style|script)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ')
    .replace(/<\/?[a-z][^<>]*>/gi, ' ')
    .replace(/&(nbsp|lt|gt|quot|#39|amp);/g, (_, name: string) => ENTITIES[name] ?? '')

/** An address may contain parentheses, and so may its title. */
const LINK = /!?\[([^[\]]*)\]\((?:[^()\\]|\\.|\([^()]*\))*\)/gs
const AUTO_LINK = /<((?:https?:\/\/|mailto:)[^<>\s]*)>/gi

/** Matches the rule below a table's header. */
const isTableRule = (line = ''): boolean =>
  line.includes('|') && line.includes('-') && /^[\s|:-]+$/.test(line)

/** The cells of a table in sequence, from its header to the next empty line. */
function withoutTables(text: string): string {
  let isInTable = false
  const lines = text.split('\n')
  return lines
    .map((line, at) => {
      isInTable = isInTable ? line.trim() !== '' : line.includes('|') && isTableRule(lines[at + 1])
      if (!isInTable) return line
      return isTableRule(line) ? '' : line.replace(/(?<!\\)\|/g, ' ')
    })
    .join('\n')
}

const withoutMarkdown = (text: string): string =>
  withoutTags(withoutTables(text).replace(AUTO_LINK, '$1'))
    .replace(LINK, '$1')
    // An image that is a link.
    .replace(LINK, '$1')
    .replace(/^[ \t]*(?:#{1,6}|>|[-*+]|\d{1,9}[.)])[ \t]+/gm, '')
    .replace(/^[ \t]*(?:```.*|-{3,}|\*{3,})$/gm, '')
    .replace(/(\*\*|__|~~|`)(?=\S)(.+?)\1/g, '$2')
    .replace(/(?<![\p{L}\p{N}])([*_])(?=\S)(.+?)\1(?![\p{L}\p{N}])/gu, '$2')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')

const WITHOUT_MARKS: Record<InboxMessage['format'], (text: string) => string> = {
  plain: (text) => text,
  html: withoutTags,
  markdown: withoutMarkdown,
}
