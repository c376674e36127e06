import { useTranslation } from 'react-i18next'
import { quotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { OptionSchema } from '#read-api/contract/options.ts'
import { useOptionTexts } from './use-option-texts.ts'
import type { SettingsForm } from './use-settings-form.ts'

const NUMBERS = ['integer', 'decimal']

export function useSettingHint(form: SettingsForm): (option: OptionSchema) => string | undefined {
  const { t } = useTranslation()
  const texts = useOptionTexts()
  const rule = useMoneyRule()
  return (option) => {
    const value = form.value(option.key).trim()
    const isNumber = NUMBERS.includes(option.type.kind)
    const parts = [
      option.unit === 'quota' && /^[1-9]\d{0,15}$/.test(value)
        ? t('settings.worth', {
            amount: quotaText(BigInt(value), { ...rule, isCurrency: true }, 4),
          })
        : '',
      texts.help(option.key),
      isNumber && option.default !== '' && option.default !== value
        ? t('settings.isDefault', { value: option.default })
        : '',
      form.mayChange(option.key) || isRootOnly(form, option.section) ? '' : t('settings.rootOnly'),
    ]
    const text = parts.filter((part) => part !== '').join(' ')
    return text === '' ? undefined : text
  }
}

export const isRootOnly = (form: SettingsForm, section: string): boolean =>
  form.optionsOf(section).every(({ key }) => !form.mayChange(key))
