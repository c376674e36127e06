import type { InboxMessage } from '#read-api/contract/messages.ts'

/** So much of a text is looked at: what takes away its marks may take long for a long one. */
const READ_MAX = 2_000
const SHOWN_MAX = 100
const CUT = '...'
/** As they are seen: a family or a flag is one, however many code points it has. */
const CHARACTERS = new Intl.Segmenter()

/** The beginning of a message as a line of text, cut at 100 characters: 97 and an ellipsis. */
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

/** Nobody reads an address, and a picture in one leaves no room for the text after it. */
const LONG_ADDRESS = /(\]\(|\b(?:src|href)\s*=\s*["']?)[^()<>\s"']{200,}/gi
const CUT_MARK = /(?:<\/?[a-z][^<>]*|!?\[[^[\]]*\]\([^\s()]*)$/i

/** As far as it is read, without a mark that is cut in two. */
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

/** For reading alone: what comes of it is shown as text, never as markup. */
const withoutTags = (html: string): string =>
  html
    .replace(/<(style|script)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ')
    .replace(/<\/?[a-z][^<>]*>/gi, ' ')
    .replace(/&(nbsp|lt|gt|quot|#39|amp);/g, (_, name: string) => ENTITIES[name] ?? '')

/** An address may have parentheses of its own, in its title too. */
const LINK = /!?\[([^[\]]*)\]\((?:[^()\\]|\\.|\([^()]*\))*\)/gs
const AUTO_LINK = /<((?:https?:\/\/|mailto:)[^<>\s]*)>/gi

/** Of a line: the one under a table's head. */
const isTableRule = (line = ''): boolean =>
  line.includes('|') && line.includes('-') && /^[\s|:-]+$/.test(line)

/** A table's cells one after the other, from its head to the next empty line. */
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
    // A picture that is a link.
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
