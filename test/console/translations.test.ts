import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { auditTranslations as enAudit } from '#console/i18n/en/audit-translations.ts'
import { logDetails as enDetails } from '#console/i18n/en/log-details.ts'
import { pageTranslations as enPages } from '#console/i18n/en/page-translations.ts'
import { en } from '#console/i18n/en/translations-after-login.ts'
import type { translate } from '#console/i18n/i18n.ts'
import type { ChineseTranslations } from '#console/i18n/translation-types.ts'
import { auditTranslations as zhAudit } from '#console/i18n/zh/audit-translations.ts'
import { logDetails as zhDetails } from '#console/i18n/zh/log-details.ts'
import { pageTranslations as zhPages } from '#console/i18n/zh/page-translations.ts'
import { zh } from '#console/i18n/zh/translations-after-login.ts'

const CONSOLE = resolve(import.meta.dirname, '../../console')
const PLURAL = /_(one|other)$/
const ZH = flatten({ ...zh, ...zhPages, logDetails: zhDetails, ...zhAudit })
const EN = flatten({ ...en, ...enPages, logDetails: enDetails, ...enAudit })

describe('the translations in both languages', () => {
  it('have the same keys', () => {
    expect([...EN.keys()].sort()).toEqual([...ZH.keys()].sort())
  })

  it('have the same placeholders', () => {
    for (const [key, text] of ZH) {
      expect(placeholders(EN.get(key) ?? ''), key).toEqual(placeholders(text))
    }
  })

  it('are typed, so that the type check compares the placeholders with what callers pass', () => {
    // These texts are concatenated, so their types are not literals. They have no placeholders.
    const concatenated = zh.channelForm.settingHint + zhPages.options.help.StripeWebhookSecret
    expect(placeholders(concatenated)).toEqual([])
    type Concatenated = 'settingHint' | 'StripeWebhookSecret'
    expectTypeOf<KeysOfUntypedTexts<ChineseTranslations>>().toEqualTypeOf<Concatenated>()
    const calls = (t: typeof translate) => [
      t('tokens.copyKey', { name: 'a' }),
      // @ts-expect-error: the placeholder has another name.
      t('tokens.copyKey', { token: 'a' }),
      // @ts-expect-error: the call lacks the placeholder.
      t('tokens.copyKey'),
    ]
    expectTypeOf(calls).toBeFunction()
  })

  it('have a singular and a plural for each count in English', () => {
    const counted = /\{\{(?:count|number|rows|used)\}\} (?:[a-z]+ )?[a-z]+s\b/
    const lacking = [...EN].filter(([key, text]) => counted.test(text) && !PLURAL.test(key))
    expect(lacking.map(([key]) => key)).toEqual([])
  })

  it('are all used, by a literal key or a composed key', () => {
    const source = globSync('{app,api,features,theme,ui}/**/*.{ts,tsx}', { cwd: CONSOLE })
      .map((path) => readFileSync(resolve(CONSOLE, path), 'utf8'))
      .join('\n')
    const composed = composedKeys(source)
    const unused = [...ZH.keys()].filter(
      (key) =>
        !source.includes(`'${key.replace(PLURAL, '')}'`) &&
        !composed.some((keys) => keys.test(key)),
    )
    expect(unused).toEqual([])
  })
})

/** The keys of texts whose type is `string`, for example without `as const` in their file. */
type KeysOfUntypedTexts<Texts> = {
  [Key in keyof Texts]: Texts[Key] extends string
    ? string extends Texts[Key]
      ? Key
      : never
    : KeysOfUntypedTexts<Texts[Key]>
}[keyof Texts]

/** Returns patterns of the keys that composed names, such as `shell.${label}`, can produce. */
function composedKeys(source: string): RegExp[] {
  const templates = source.matchAll(/`([a-zA-Z]+\.(?:\$\{[^}]*\}|[^`\s$])+)`/g)
  return [...templates].map((match) => {
    const parts = (match[1] ?? '').split(/\$\{[^}]*\}/)
    return new RegExp(`^${parts.map((part) => part.replaceAll('.', '\\.')).join('[\\w.-]+')}$`)
  })
}

function placeholders(text: string): string[] {
  return [...text.matchAll(/\{\{\s*(\w+)/g)].map((match) => match[1] ?? '').sort()
}

function flatten(words: object, prefix = ''): Map<string, string> {
  const flat = new Map<string, string>()
  for (const [key, value] of Object.entries(words)) {
    if (typeof value === 'string') flat.set(prefix + key, value)
    else for (const [inner, text] of flatten(value, `${prefix}${key}.`)) flat.set(inner, text)
  }
  return flat
}
