import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { optionsQuery } from '#console/api/options.ts'
import { useStatus } from '#console/api/status.ts'
import { createUnpricedFilter } from '#console/api/unpriced-models.ts'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'

type Served = { readonly models: readonly string[]; readonly prefix: string }

/** Callers add the channel's prefix to the names of its models. */
export const callableModelNames = ({ models, prefix }: Served): string[] =>
  models.map((model) => `${prefix.trim()}${model}`)

const NONE: readonly string[] = []

/** The returned function finds no models until the prices have loaded. */
export function useUnpricedModels(): (served: Served) => readonly string[] {
  const isSelfUse = useStatus()?.self_use_mode_enabled === true
  const options = useQuery({ ...optionsQuery, retry: false }).data
  return useMemo(() => {
    if (isSelfUse || options === undefined) return () => NONE
    const among = createUnpricedFilter(options)
    return (served: Served) => among(callableModelNames(served))
  }, [isSelfUse, options])
}

export function UnpricedTag(props: {
  count: number
  onOpen: () => void
  /** In a list row, the button is no tab stop, because the channel's form also shows the tag. */
  isInRow?: boolean
}) {
  const { t } = useTranslation()
  const words = t('channels.unpriced', { count: props.count })
  return (
    <button
      type="button"
      className="tg-bare tg-unpriced-tag"
      title={words}
      tabIndex={props.isInRow === true ? -1 : 0}
      onClick={props.onOpen}
    >
      <StatusTag tone="warn">
        <span className="tg-unpriced-words">{words}</span>
      </StatusTag>
    </button>
  )
}
