import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { optionsQuery } from '#console/api/options.ts'
import { useStatus } from '#console/api/status.ts'
import { createUnpricedFilter } from '#console/api/unpriced-models-and-preset-prices.ts'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'

type ServedModels = { readonly models: readonly string[]; readonly prefix: string }

/**
 * Returns the names by which API clients call a channel's models: the channel's prefix followed by
 * the name of the model.
 */
export const callableModelNames = ({ models, prefix }: ServedModels): string[] =>
  models.map((model) => `${prefix.trim()}${model}`)

const NONE: readonly string[] = []

/**
 * Returns a function that finds the models of a channel that have no price. The function returns an
 * empty list until the prices have loaded, and also if the site permits calls of models without a
 * price.
 */
export function useUnpricedModels(): (served: ServedModels) => readonly string[] {
  const isSelfUse = useStatus()?.self_use_mode_enabled === true
  const options = useQuery({ ...optionsQuery, retry: false }).data
  return useMemo(() => {
    if (isSelfUse || options === undefined) return () => NONE
    const keepUnpriced = createUnpricedFilter(options)
    return (served: ServedModels) => keepUnpriced(callableModelNames(served))
  }, [isSelfUse, options])
}

export function UnpricedModelsTag(props: {
  count: number
  onOpen: () => void
  /**
   * True in a row of a list. The Tab key then skips the button, because the channel form contains
   * the same button.
   */
  isInRow?: boolean
}) {
  const { t } = useTranslation()
  const label = t('channels.unpriced', { count: props.count })
  return (
    <button
      type="button"
      className="tg-bare tg-unpriced-tag"
      title={label}
      tabIndex={props.isInRow === true ? -1 : 0}
      onClick={props.onOpen}
    >
      <StatusTag tone="warn">
        <span className="tg-unpriced-label">{label}</span>
      </StatusTag>
    </button>
  )
}
