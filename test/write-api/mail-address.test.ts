import { describe, expect, it } from 'vitest'
import { normalizeMailAddress } from '#write-api/mail/mail-address.ts'

describe('a mail address', () => {
  it.each([
    ['Ann@Example.COM ', 'ann@example.com'],
    ['ａnn@ｅxample.com', 'ann@example.com'],
    ['ann+tag@bücher.example', 'ann+tag@xn--bcher-kva.example'],
    ['ann@例え.テスト', 'ann@xn--r8jz45g.xn--zckzah'],
    ['ann@उदाहरण.परीक्षा', 'ann@xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g'],
  ])('%s is normalised to %s', (text, address) => {
    expect(normalizeMailAddress(text)).toBe(address)
  })

  it.each([
    'ann@example.com/1',
    'ann@example.com?x9',
    'ann@example.com#x',
    'ann@example.com:25',
    'ann@example.com\\x',
    'ann@ex%61mple.com',
    'ann@ex\u00adample.com',
    'ann@ex\u200bample.com',
    'ann@exam\tple.com',
    'ann@[127.0.0.1]',
    'ann@127.0.0.1',
    'ann@example',
    'ann',
  ])('%j is refused', (text) => {
    expect(normalizeMailAddress(text)).toBeNull()
  })
})
