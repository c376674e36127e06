import { useTranslation } from 'react-i18next'
import { currentLanguage } from '#console/i18n/i18n.ts'
import type { Words } from '#read-api/contract/options.ts'

/**
 * Returns a function that selects the text in the current language. For null, the function returns
 * an empty text.
 */
export function useWords(): (words: Words | null | undefined) => string {
  useTranslation()
  const language = currentLanguage()
  return (words) => words?.[language] ?? ''
}
