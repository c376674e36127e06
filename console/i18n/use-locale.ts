import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { currentLanguage, localeOf } from './i18n.ts'

/** The locale of `Intl` for the chosen language; renders again when it changes. */
export function useLocale(): string {
  useTranslation()
  return localeOf(currentLanguage())
}

/** Whole and decimal numbers in the chosen language: `12,345`. */
export function useNumberFormat(options?: Intl.NumberFormatOptions): Intl.NumberFormat {
  const locale = useLocale()
  const key = JSON.stringify(options ?? {})
  return useMemo(() => new Intl.NumberFormat(locale, JSON.parse(key)), [locale, key])
}
