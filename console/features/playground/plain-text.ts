const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
}

/** Markdown's text with its few usual entities read; others stay as they were typed. */
export const plainText = (text: string): string =>
  text.replace(/&(?:#(\d{1,6})|(\w{2,5}));/g, (all, code: string | undefined, name = '') =>
    code === undefined ? (NAMED[name] ?? all) : characterOf(Number(code), all),
  )

const characterOf = (code: number, otherwise: string): string =>
  code >= 32 && code <= 0xffff && !(code >= 0xd800 && code <= 0xdfff)
    ? String.fromCharCode(code)
    : otherwise
