import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const CONSOLE = resolve(import.meta.dirname, '../../console')
/** Markup of users is shown in a document without the console's styles. */
const FRAME = 'public/frame.css'
const TOKENS = 'theme/design-tokens.css'

const sources = readdirSync(CONSOLE, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(css|tsx?)$/.test(path) && !path.startsWith('dist'))
  .map((path) => ({ path, text: readFileSync(join(CONSOLE, path), 'utf8') }))

const stackIn = (path: string): string => {
  const text = sources.find((source) => source.path === path)?.text ?? ''
  return /(?:--tg-mono|font-family): ([^;]*monospace[^;]*);/.exec(text)?.[1] ?? ''
}

describe('the font of ids, keys and code', () => {
  it('is one font stack, which every style uses through a token', () => {
    const named = sources.filter(({ text }) => text.includes('monospace')).map(({ path }) => path)
    expect(named.sort()).toEqual([FRAME, TOKENS])
    expect(stackIn(FRAME)).toBe(stackIn(TOKENS))
  })

  it('has a fixed width on every system: no proportional font comes first', () => {
    const fonts = stackIn(TOKENS).split(', ')
    expect(fonts).toContain('monospace')
    for (const font of ["'Inter Variable'", "'Noto Sans SC'"]) {
      const isBefore = fonts.includes(font) && fonts.indexOf(font) < fonts.indexOf('monospace')
      expect(isBefore, font).toBe(false)
    }
  })
})
