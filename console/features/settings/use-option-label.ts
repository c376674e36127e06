import { useQuery } from '@tanstack/react-query'
import { optionSchemaQuery } from '#console/api/options.ts'
import { useWords } from './use-localized-text.ts'

/** Returns an option's label, or the option's key until the labels have loaded. */
export function useOptionLabel(): (key: string) => string {
  const words = useWords()
  const options = useQuery(optionSchemaQuery).data?.options ?? []
  return (key) => words(options.find((option) => option.key === key)?.label) || key
}
