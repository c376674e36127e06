import { useQuery } from '@tanstack/react-query'
import { optionSchemaQuery } from '#console/api/options.ts'
import { useWords } from './use-localized-text.ts'

/**
 * Returns a function that gives an option's label. Until the labels have loaded, the function
 * returns the option's key.
 */
export function useOptionLabel(): (key: string) => string {
  const words = useWords()
  const options = useQuery(optionSchemaQuery).data?.options ?? []
  return (key) => words(options.find((option) => option.key === key)?.label) || key
}
