import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { optionSchemaQuery } from '#console/api/options.ts'
import { currentLanguage } from '#console/i18n/i18n.ts'
import type { Words } from '#read-api/contract/options.ts'

export function useLocalizedText(): (words: Words | null | undefined) => string {
  useTranslation()
  const language = currentLanguage()
  return (words) => words?.[language] ?? ''
}

export function useOptionLabel(): (key: string) => string {
  const words = useLocalizedText()
  const options = useQuery(optionSchemaQuery).data?.options ?? []
  return (key) => words(options.find((option) => option.key === key)?.label) || key
}
