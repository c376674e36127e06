import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { currentLanguage, localeOf } from './i18n.ts'

export function useLocale(): string {
  useTranslation()
  return localeOf(currentLanguage())
}

export function useNumberFormat(options?: Intl.NumberFormatOptions): Intl.NumberFormat {
  const locale = useLocale()
  const key = JSON.stringify(options ?? {})
  return useMemo(() => new Intl.NumberFormat(locale, JSON.parse(key)), [locale, key])
}
