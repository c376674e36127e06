import { describe, expect, it } from 'vitest'
import { isMasked, maskedSetting, unmaskedSetting } from '#domain/shared/masked-proxy.ts'

const settingOf = (proxy: unknown): string => JSON.stringify({ a: 1, proxy })

describe('the password of a proxy', () => {
  it.each([
    ['http://u:p@h:1', 'http://u:***@h:1'],
    ['https://:p@h', 'https://:***@h'],
    ['http://u@x:p:q@r@h:1', 'http://u@x:***@h:1'],
    ['http:u:p@h', 'http:u:***@h'],
    ['http:///u:p@h', 'http:///u:***@h'],
    ['socks5://u:p/w#?@h', 'socks5://u:***@h'],
    ['u:p@h:1', 'u:***@h:1'],
  ])('of %s is not shown: %s', (proxy, shown) => {
    const [stored, masked] = [settingOf(proxy), settingOf(shown)]
    expect(maskedSetting(stored)).toBe(masked)
    expect(isMasked(shown)).toBe(true)
    expect(unmaskedSetting(masked, stored)).toBe(stored)
    expect(unmaskedSetting(` ${masked} `, stored)).toBe(` ${stored} `)
    const elsewhere = settingOf(shown.replace('@h', '@thief'))
    expect(unmaskedSetting(elsewhere, stored)).toBe(elsewhere)
  })

  it.each(['http://h:1', 'http://u@h:1', 'http://[::1]:3128', '', 7, null])(
    'is not seen in %j, which has none',
    (proxy) => {
      expect(maskedSetting(settingOf(proxy))).toBe(settingOf(proxy))
      expect(unmaskedSetting(settingOf(proxy), settingOf('http://u:p@h:1'))).toBe(settingOf(proxy))
    },
  )

  it.each(['', '{', '[]', '{"proxy":"http://u:p@h","proxy":"x"}'])('%j stays as it is', (text) => {
    expect(maskedSetting(text)).toBe(text)
    expect(unmaskedSetting(text, settingOf('http://u:p@h:1'))).toBe(text)
  })
})
