import { type ReactElement, type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { MenuButton, type MenuEntry } from '#console/ui/menu.tsx'
import { Toolbar } from '#console/ui/toolbar.tsx'
import { useIsNarrow } from '#console/ui/use-media.ts'
import { ChannelFilterFields, type FieldsProps, foldedCount } from './channel-filters.tsx'

export type ListModes = {
  isTagMode: boolean
  setTagMode: (isOn: boolean) => void
  isIdSort: boolean
  setIdSort: (isOn: boolean) => void
  isBatch: boolean
  setBatch: (isOn: boolean) => void
}

/** Filters at the start; at the end how the list is shown, and what can be done with all of it. */
export function ChannelToolbar(props: {
  filters: FieldsProps
  modes: ListModes
  columns: ReactNode
  /** What is done to all channels. */
  acts: readonly MenuEntry[]
  onRefresh: () => void
}): ReactElement {
  const { filters, modes } = props
  const { t } = useTranslation()
  const isNarrow = useIsNarrow()
  const [isOpen, setOpen] = useState(false)
  const count = foldedCount(filters.filters)
  const end = (
    <>
      {isNarrow && (
        <Button icon="filter" isExpanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {count === 0 ? t('channels.moreFilters') : t('channels.filtersOn', { count })}
        </Button>
      )}
      <Button
        icon="tag"
        isPressed={modes.isTagMode}
        onClick={() => modes.setTagMode(!modes.isTagMode)}
      >
        {t('channels.tagMode')}
      </Button>
      <Button icon="check" isPressed={modes.isBatch} onClick={() => modes.setBatch(!modes.isBatch)}>
        {t('channels.batchMode')}
      </Button>
      <Button
        icon="arrowDown"
        isPressed={modes.isIdSort}
        onClick={() => modes.setIdSort(!modes.isIdSort)}
      >
        {t('channels.idSort')}
      </Button>
      <Button icon="refresh" label={t('channels.refresh')} onClick={props.onRefresh} />
      {props.columns}
      <MenuButton items={props.acts}>
        <Button icon="more" label={t('channels.moreActions')} />
      </MenuButton>
    </>
  )
  return (
    <Toolbar label={t('channels.filters')} end={end}>
      <ChannelFilterFields {...filters} isFolded={isNarrow && !isOpen} />
    </Toolbar>
  )
}
