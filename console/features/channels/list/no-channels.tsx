import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'

/** Nothing there yet, or nothing that the filters let through. */
export function NoChannels(props: {
  isFiltered: boolean
  onClear: () => void
  onCreate: () => void
}): ReactElement {
  const { t } = useTranslation()
  const clear = <Button onClick={props.onClear}>{t('channels.clear')}</Button>
  const create = (
    <Button tone="primary" icon="add" onClick={props.onCreate}>
      {t('channels.create')}
    </Button>
  )
  return props.isFiltered ? (
    <EmptyState
      icon="search"
      title={t('channels.notFoundTitle')}
      body={t('channels.notFoundBody')}
      action={clear}
    />
  ) : (
    <EmptyState
      icon="channels"
      title={t('channels.noneTitle')}
      body={t('channels.noneBody')}
      action={create}
    />
  )
}
