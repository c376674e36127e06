import { describe, expect, it } from 'vitest'
import { GROUP_COLORS } from '#console/features/settings/group-rows.ts'
import { pageTranslations as enPages } from '#console/i18n/en/page-translations.ts'
import { pageTranslations as zhPages } from '#console/i18n/zh/page-translations.ts'
import { checkText } from '#domain/options/check-option.ts'
import { OPTIONS, SECTIONS } from '#domain/options/option-registry.ts'

type Texts = Readonly<Record<string, string>>
type TextsByValue = Readonly<Record<string, Texts>>

const LANGUAGES = { zh: zhPages.options, en: enPages.options }

const shown = [...OPTIONS.values()].filter(({ hasNoEffect }) => hasNoEffect !== true)
const shownKeys = shown.map(({ key }) => key)
const shownSections = SECTIONS.filter(({ id }) => shown.some(({ section }) => section === id)).map(
  ({ id }) => id,
)
const unexpected = (texts: object, keys: readonly string[]) =>
  Object.keys(texts).filter((key) => !keys.includes(key))

describe.each(Object.entries(LANGUAGES))('the texts of options in %s', (language, options) => {
  it('have a label for every option that is shown, and for no other', () => {
    expect(Object.keys(options.label).sort()).toEqual([...shownKeys].sort())
    expect(new Set(Object.values(options.label)).size).toBe(shown.length)
  })

  it('have a title for every section that is shown, and for no other', () => {
    expect(Object.keys(options.sectionTitle).sort()).toEqual([...shownSections].sort())
    expect(unexpected(options.sectionLead, shownSections)).toEqual([])
  })

  it('have no other text of an option that is not shown', () => {
    const { help, choice, bounds, confirm } = options
    for (const texts of [help, choice, bounds, confirm]) {
      expect(unexpected(texts, shownKeys)).toEqual([])
    }
  })

  it('name and ask about values that the option can have', () => {
    const [choices, questions]: readonly TextsByValue[] = [options.choice, options.confirm]
    for (const { key, type } of shown) {
      for (const value of Object.keys({ ...choices?.[key], ...questions?.[key] })) {
        expect(checkText(type, value), key).toEqual({ value })
      }
    }
  })

  it('are long enough, and in the right language', () => {
    const { sectionTitle, sectionLead, label, help, bounds, choice, confirm } = options
    const parts: Texts[] = [sectionTitle, sectionLead, label, help, bounds]
    const long = [...parts, ...Object.values(confirm)].flatMap((part) => Object.values(part))
    const short = Object.values(choice).flatMap((part: Texts) => Object.values(part))
    expect(long.filter((text) => text.length < 2)).toEqual([])
    expect(short.filter((text) => text === '')).toEqual([])
    const han = [...long, ...short].filter((text) => /\p{Script=Han}/u.test(text))
    expect(language === 'en' ? han : []).toEqual([])
  })

  it('list the colours of groups that the console offers and the server accepts', () => {
    const type = OPTIONS.get('GroupColors')?.type
    const accepted = type !== undefined && 'choices' in type ? type.choices : []
    expect(accepted).toEqual(GROUP_COLORS)
    expect(options.help.GroupColors).toContain(accepted.join(language === 'zh' ? '、' : ', '))
  })
})
