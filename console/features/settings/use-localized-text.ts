import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { optionSchemaQuery } from '#console/api/options.ts'
import { currentLanguage } from '#console/i18n/i18n.ts'
import type { Words } from '#read-api/contract/options.ts'

/** Selects the current language. Returns an empty text for null. */
export function useLocalizedText(): (words: Words | null | undefined) => string {
  useTranslation()
  const language = currentLanguage()
  return (words) => words?.[language] ?? ''
}

/** Returns an option's label, or the option's key until the labels have loaded. */
export function useOptionLabel(): (key: string) => string {
  const words = useLocalizedText()
  const options = useQuery(optionSchemaQuery).data?.options ?? []
  return (key) => words(options.find((option) => option.key === key)?.label) || key
}
