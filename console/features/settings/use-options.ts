import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
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

/** Reads the options and polls them for changes. Polling pauses while this user edits an option. */
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

/**
 * The type of the translation keys of all options. The compiler can't check these keys, because the
 * options come from the server. One existing key therefore stands for all of them.
 * `option-translations.test.ts` checks that no text is missing.
 */
type TextKey = 'options.label.RetryTimes'

/** The texts of options and sections in the current language. A missing text is empty. */
export type OptionTexts = {
  readonly sectionTitle: (id: string) => string
  readonly sectionLead: (id: string) => string
  /** Returns the option's label, or `key` if the option has no label. */
  readonly label: (key: string) => string
  readonly help: (key: string) => string
  /** Returns the label of a value, or the value if it has no label. */
  readonly choice: (key: string, value: string) => string
  /**
   * Returns the option's own error message for a value that is out of bounds. It is an empty text
   * if the option has none. The general message with the bounds is then shown.
   */
  readonly bounds: (key: string) => string
  /** Returns the question that the user must confirm before selecting a value. */
  readonly confirm: (key: string, value: string) => string
}

export function useOptionTexts(): OptionTexts {
  const { t, i18n } = useTranslation()
  const text = (key: string): string => (i18n.exists(key) ? t(key as TextKey) : '')
  return {
    sectionTitle: (id) => text(`options.sectionTitle.${id}`),
    sectionLead: (id) => text(`options.sectionLead.${id}`),
    label: (key) => text(`options.label.${key}`) || key,
    help: (key) => text(`options.help.${key}`),
    choice: (key, value) => text(`options.choice.${key}.${value}`) || value,
    bounds: (key) => text(`options.bounds.${key}`),
    confirm: (key, value) => text(`options.confirm.${key}.${value}`),
  }
}
