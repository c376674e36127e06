import type { ReactElement, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { quotaText } from '#console/ui/money.ts'
import { useMoneyRule } from '#console/ui/quota.tsx'
import type { OptionSchema } from '#read-api/contract/options.ts'
import type { SettingsForm } from './use-settings-form.ts'
import { useWords } from './use-words.ts'

const NUMBERS = ['integer', 'decimal']

/** What stands under a field: what quota is worth, what to know, the default, what is to come. */
export function useHint(form: SettingsForm): (option: OptionSchema) => ReactNode {
  const { t } = useTranslation()
  const words = useWords()
  const rule = useMoneyRule()
  const sharedNote = useSharedNote(form)
  return (option) => {
    const value = form.value(option.key).trim()
    const isNumber = NUMBERS.includes(option.type.kind)
    const parts = [
      option.unit === 'quota' && /^[1-9]\d{0,15}$/.test(value)
        ? t('settings.worth', {
            amount: quotaText(BigInt(value), { ...rule, isCurrency: true }, 4),
          })
        : '',
      words(option.help),
      isNumber && option.default !== '' && option.default !== value
        ? t('settings.isDefault', { value: option.default })
        : '',
      form.mayChange(option.key) || isRootOnly(form, option.section) ? '' : t('settings.rootOnly'),
    ]
    const text = parts.filter((part) => part !== '').join(' ')
    const note = sharedNote(option.section) === null ? words(option.note) : ''
    if (note === '') return text === '' ? undefined : text
    return (
      <>
        {text} <Note text={note} />
      </>
    )
  }
}

const Note = ({ text }: { text: string }): ReactElement => (
  <span className="tg-setting-note">{text}</span>
)

/** The note that every option of a section has; null when they differ. */
export function useSharedNote(form: SettingsForm): (section: string) => string | null {
  const words = useWords()
  return (section) => {
    const notes = new Set(form.optionsOf(section).map(({ note }) => words(note)))
    const [only = ''] = notes
    return notes.size === 1 && only !== '' ? only : null
  }
}

/** Whether whoever is logged in may set nothing of a section. */
export const isRootOnly = (form: SettingsForm, section: string): boolean =>
  form.optionsOf(section).every(({ key }) => !form.mayChange(key))
