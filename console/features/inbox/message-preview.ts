import type { InboxMessage } from '#read-api/contract/messages.ts'

/**
 * The maximum number of characters that are read from the beginning of a message to make its
 * preview. Removing the markup of a longer text would be slow.
 */
const READ_CHARACTERS_MAX = 2_000
const SHOWN_MAX = 100
const CUT = '...'
/**
 * Splits a text into visible characters. A visible character, such as an emoji, can have several
 * code points.
 */
const CHARACTERS = new Intl.Segmenter()

/**
 * Returns the beginning of a message in one line of at most 100 characters. The line ends with
 * `...` if the message is longer.
 */
export function previewOf({ content, format }: Pick<InboxMessage, 'content' | 'format'>): string {
  const beginning =
    format === 'plain' ? content.slice(0, READ_CHARACTERS_MAX) : beginningOf(content)
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

/**
 * Matches a long URL in a link or in an HTML attribute. Long URLs are removed first, because a
 * single long URL could use up all `READ_CHARACTERS_MAX` characters.
 */
const LONG_ADDRESS = /(\]\(|\b(?:src|href)\s*=\s*["']?)[^()<>\s"']{200,}/gi
const CUT_MARK = /(?:<\/?[a-z][^<>]*|!?\[[^[\]]*\]\([^\s()]*)$/i

/**
 * Returns at most the first `READ_CHARACTERS_MAX` characters of a message, without its long URLs.
 * An incomplete tag or link at the end is left out.
 */
function beginningOf(content: string): string {
  const short = content.replace(LONG_ADDRESS, '$1-')
  if (short.length <= READ_CHARACTERS_MAX) return short
  return short.slice(0, READ_CHARACTERS_MAX).replace(CUT_MARK, '')
}

const ENTITIES: Readonly<Record<string, string>> = {
  nbsp: ' ',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  amp: '&',
}

/**
 * Returns HTML without its tags, comments, styles and scripts, and with decoded character
 * references (only those in `ENTITIES`). The result must be displayed as plain text and never as
 * HTML.
 */
const withoutTags = (html: string): string =>
  html
    .replace(/<(style|script)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ')
    .replace(/<\/?[a-z][^<>]*>/gi, ' ')
    .replace(/&(nbsp|lt|gt|quot|#39|amp);/g, (_, name: string) => ENTITIES[name] ?? '')

/** Matches Markdown links. The URL and the title of a link may contain parentheses. */
const LINK = /!?\[([^[\]]*)\]\((?:[^()\\]|\\.|\([^()]*\))*\)/gs
const AUTO_LINK = /<((?:https?:\/\/|mailto:)[^<>\s]*)>/gi

const isTableRule = (line = ''): boolean =>
  line.includes('|') && line.includes('-') && /^[\s|:-]+$/.test(line)

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
    // A link may contain an image. The first replacement removes the image, and this replacement
    // removes the link.
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
