import { describe, expect, it } from 'vitest'
import {
  isMasked,
  maskProxyPassword,
  restoreMaskedProxy,
} from '#domain/shared/mask-proxy-credentials.ts'

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
    ['http://token@h:1', 'http://***@h:1'],
    ['http://token:@h:1', 'http://***@h:1'],
    ['http:token@h', 'http:***@h'],
    ['token@h', '***@h'],
  ])('is hidden in %s, which is shown as %s', (proxy, shown) => {
    const [stored, masked] = [settingOf(proxy), settingOf(shown)]
    expect(maskProxyPassword(stored)).toBe(masked)
    expect(isMasked(shown)).toBe(true)
    expect(restoreMaskedProxy(masked, stored)).toBe(stored)
    expect(restoreMaskedProxy(` ${masked} `, stored)).toBe(` ${stored} `)
    const elsewhere = settingOf(shown.replace('@h', '@thief'))
    expect(restoreMaskedProxy(elsewhere, stored)).toBe(elsewhere)
  })

  it.each(['http://h:1', 'http://[::1]:3128', '', 7, null])(
    'is absent in %j, which stays unchanged',
    (proxy) => {
      expect(maskProxyPassword(settingOf(proxy))).toBe(settingOf(proxy))
      expect(restoreMaskedProxy(settingOf(proxy), settingOf('http://u:p@h:1'))).toBe(
        settingOf(proxy),
      )
    },
  )

  const STORED = settingOf('http://u:p@h:1')
  const SHOWN = 'http://u:***@h:1'

  it.each([
    { n: SHOWN },
    { proxy: 'http://other:1', n: SHOWN },
    { proxy: 'http://other:1', [SHOWN]: 1 },
    { proxy: [SHOWN], n: { proxy: SHOWN } },
    { n: [{ proxy: SHOWN }, 'proxy', SHOWN] },
    { proxy: 'http://v:***@h:1' },
    { proxy: 'http://u:***@h:2' },
    { proxy: 'https://u:***@h:1' },
    [{ proxy: SHOWN }],
  ])('is not inserted into %j', (setting) => {
    const text = JSON.stringify(setting)
    expect(restoreMaskedProxy(text, STORED)).toBe(text)
  })

  it('is inserted only into the proxy field, even among similar fields', () => {
    const others = `"n":[1,"proxy"], "a":{"proxy":"${SHOWN}"}, "${SHOWN}":"${SHOWN}"`
    const text = (proxy: string) => `{ ${others}, "pr\\u006fxy" : "${proxy}" ,"z":"${SHOWN}"}`
    expect(restoreMaskedProxy(text(SHOWN), STORED)).toBe(text('http://u:p@h:1'))
    expect(maskProxyPassword(text('http://u:p@h:1'))).toBe(text(SHOWN))
  })

  it.each(['', '{', '[]', '{"proxy":"http://u:p@h","proxy":"x"}'])('%j stays unchanged', (text) => {
    expect(maskProxyPassword(text)).toBe(text)
    expect(restoreMaskedProxy(text, settingOf('http://u:p@h:1'))).toBe(text)
  })
})
