import { createInstance } from 'i18next'
import { describe, expect, it } from 'vitest'
import { en } from '#console/i18n/en/translations-after-login.ts'
import { zh } from '#console/i18n/zh/translations-after-login.ts'
import { reasonText } from '#console/ui/messages/reason-text.ts'
import { TEXTS } from '#test/support/console-texts.ts'

const words = async (lng: 'zh' | 'en') => {
  const i18n = createInstance()
  const resources = { zh: { translation: zh }, en: { translation: en } }
  return i18n.init({ lng, resources })
}

describe('the reason why a channel is disabled', () => {
  it.each([
    ['expired', TEXTS.zh('health.reason.expired'), TEXTS.en('health.reason.expired')],
    ['status-401', '401', '401'],
    ['keyword:no money', 'no money', 'no money'],
    ['slow', '', ''],
  ])('%s has a text in both languages, which is never its code', async (code, inZh, inEn) => {
    const [chinese, english] = [
      reasonText(await words('zh'), code),
      reasonText(await words('en'), code),
    ]
    expect(chinese).toContain(inZh)
    expect(english).toContain(inEn)
    expect(chinese).toMatch(/[\u4e00-\u9fff]/)
    for (const text of [chinese, english]) expect(text).not.toBe(code)
  })
})
