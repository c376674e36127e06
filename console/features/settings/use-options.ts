import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { optionSchemaQuery, optionsQuery } from '#console/api/options.ts'
import { useUser } from '#console/api/session.ts'
import { translate } from '#console/i18n/i18n.ts'
import { showError } from '#console/ui/messages/toast.ts'
import type { OptionSchema, OptionSection } from '#read-api/contract/options.ts'

type Baseline = ReadonlyMap<string, string>

export type Options = {
  isLoading: boolean
  error: Error | null
  reload: () => Promise<void>
  sections: readonly OptionSection[]
  baseline: Baseline
  schema: ReadonlyMap<string, OptionSchema>
  mayChange: (key: string) => boolean
}

const NOTHING: Baseline = new Map()

const POLL_INTERVAL_MS = 10_000

/**
 * Reads the options and polls them for changes. Polling pauses while `isEdited` returns true for
 * the options that were last read.
 */
export function useOptions(isEdited: (baseline: Baseline) => boolean): Options {
  const isHeld = ({ state }: { state: { data?: Baseline | undefined } }) =>
    isEdited(state.data ?? NOTHING)
  const values = useQuery({
    ...optionsQuery,
    refetchOnWindowFocus: (query) => (isHeld(query) ? false : 'always'),
    refetchInterval: (query) => (isHeld(query) ? false : POLL_INTERVAL_MS),
  })
  const described = useQuery(optionSchemaQuery)
  const role = useUser()?.role ?? 0
  const schema = useMemo(
    () => new Map((described.data?.options ?? []).map((option) => [option.key, option])),
    [described.data],
  )
  const failure = values.data === undefined ? values.error : null
  return {
    isLoading: values.isPending || described.isPending,
    error: failure ?? (described.data === undefined ? described.error : null),
    reload: async () => {
      const answers = await Promise.all([
        values.refetch(),
        ...(described.data === undefined ? [described.refetch()] : []),
      ])
      if (answers.some(({ isError }) => isError)) showError(translate('shared.refreshFailed'))
    },
    sections: described.data?.sections ?? [],
    baseline: values.data ?? NOTHING,
    schema,
    mayChange: (key) => role >= (schema.get(key)?.minimum_role ?? Number.POSITIVE_INFINITY),
  }
}
